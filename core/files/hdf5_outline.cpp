#include "core/files/hdf5_outline.h"

#include <hdf5.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "core/files/hdf5_handle.h"

namespace weft::core {

namespace {

/// A file in memory, of which only what is written takes room. HDF5 does not survive a disk that is
/// full when it closes a file, so it gets none.
int open_memory(const std::string& label) {
  const int file = ::memfd_create("weft", MFD_CLOEXEC);
  if (file < 0)
    throw Error(Fault::output, message_of(label, ": cannot be made: ", explain_errno(errno)));
  return file;
}

}  // namespace

Hdf5Outline::Hdf5Outline(const std::string& label)
    : memory_(open_memory(label)),
      file_(Hdf5File::create("/proc/self/fd/" + std::to_string(memory_), label)) {}

Hdf5Outline::~Hdf5Outline() { ::close(memory_); }

template <class T>
void Hdf5Outline::leave_out(const std::string& dataset, Index count) {
  require(end_ == 0, "an HDF5 outline leaves out one dataset");
  begin_ = file_.leave_room<T>(dataset, count);
  end_ = begin_ + count * Index(sizeof(T));
}

std::vector<std::byte> Hdf5Outline::read(Index begin, Index end) const {
  std::vector<std::byte> bytes(std::size_t(end - begin));
  for (std::size_t got = 0; got < bytes.size();) {
    const ssize_t count =
        ::pread(memory_, bytes.data() + got, bytes.size() - got, off_t(begin) + off_t(got));
    if (count < 0 && errno == EINTR) continue;
    require(count > 0, "an HDF5 file in memory cannot be read");
    got += std::size_t(count);
  }
  return bytes;
}

Hdf5Outline::Bytes Hdf5Outline::finish() {
  file_.flush();
  struct stat facts {};
  require(::fstat(memory_, &facts) == 0, "an HDF5 file in memory cannot be measured");
  return {read(0, begin_), read(end_, Index(facts.st_size))};
}

template void Hdf5Outline::leave_out<std::int32_t>(const std::string&, Index);
template void Hdf5Outline::leave_out<std::uint8_t>(const std::string&, Index);
template void Hdf5Outline::leave_out<std::uint16_t>(const std::string&, Index);

}  // namespace weft::core
