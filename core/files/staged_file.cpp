#include "core/files/staged_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>

#include "core/files/durable_file.h"

namespace weft::core {
namespace {

/// 0, or the errno of a call that returned -1; a call that a signal interrupted is made again.
template <class Call>
int outcome(const Call& call) {
  while (call() < 0)
    if (errno != EINTR) return errno;
  return 0;
}

/// A new file next to `path` with a name that no other writer has, now or ever: 0 or an errno.
int open_temporary(const std::filesystem::path& path, std::filesystem::path& temporary, int& file) {
  static std::atomic<unsigned> count = 0;
  int error = EEXIST;  // from a file that an earlier process of the same number left
  for (int tries = 0; error == EEXIST && tries < 1000; ++tries) {
    temporary = path;
    temporary += message_of('.', ::getpid(), '-', count++, temporary_ending);
    error = outcome([&] {
      return file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    });
  }
  return error;
}

int sync_directory(const std::filesystem::path& directory) {
  int opened = -1;
  const int missing = outcome(
      [&] { return opened = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (missing) return missing;
  const int error = outcome([&] { return ::fsync(opened); });
  ::close(opened);
  return error == EINVAL ? 0 : error;  // some file systems cannot sync a directory
}

}  // namespace

StagedFile::StagedFile(const std::filesystem::path& path, Fault fault)
    : path_(path), fault_(fault) {
  check(open_temporary(path, temporary_, file_));
}

StagedFile::~StagedFile() {
  if (file_ >= 0) ::close(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void StagedFile::check(int error) {
  if (error) throw Error(fault_, "cannot write " + path_.string() + ": " + explain_errno(error));
}

void StagedFile::append(std::span<const std::byte> bytes) { check(write_fully(file_, bytes)); }

void StagedFile::check_length(Index size) {
  check(outcome([&] { return ::ftruncate(file_, off_t(size)); }));
  check(outcome([&] { return ::ftruncate(file_, 0); }));
}

void StagedFile::sync() {
  if (file_ < 0) return;
  const int error = outcome([&] { return ::fsync(file_); });
  const int closing = ::close(std::exchange(file_, -1)) == 0 || errno == EINTR ? 0 : errno;
  check(error ? error : closing);
}

void StagedFile::commit() {
  sync();
  check(outcome([&] { return ::rename(temporary_.c_str(), path_.c_str()); }));
  temporary_.clear();
  check(sync_directory(path_.has_parent_path() ? path_.parent_path() : "."));
}

void write_durably(const std::filesystem::path& path,
                   std::initializer_list<std::span<const std::byte>> parts, Fault fault) {
  StagedFile staged(path, fault);
  for (const auto part : parts) staged.append(part);
  staged.commit();
}

void write_durably(const std::filesystem::path& path, std::string_view text, Fault fault) {
  write_durably(path, {std::as_bytes(std::span(text))}, fault);
}

}  // namespace weft::core
