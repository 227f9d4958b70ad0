#include "experiments/run/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/error.h"
#include "core/files/durable_file.h"

namespace weft::experiments {

std::optional<DirectoryLock> DirectoryLock::take(const std::filesystem::path& directory,
                                                 std::string& holder) {
  const std::filesystem::path path = directory / file_name;
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  core::require(file >= 0, core::explain_errno(errno));
  if (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(file);
    holder = core::read_text_file(path);
    return std::nullopt;
  }
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  const std::string own = core::message_of("process ", ::getpid(), " on ", host);
  if (::ftruncate(file, 0) == 0) core::write_fully(file, std::as_bytes(std::span(own)));
  return DirectoryLock(file);
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept
    : file_(std::exchange(other.file_, -1)) {}

DirectoryLock::~DirectoryLock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace weft::experiments
