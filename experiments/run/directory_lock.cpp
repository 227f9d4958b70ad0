#include "experiments/run/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "core/error.h"
#include "core/files/durable_file.h"

namespace weft::experiments {
namespace {

constexpr const char* without_locks = "WEFT_WITHOUT_LOCKS";

/// 0, or an errno: EWOULDBLOCK when another process holds the lock.
int try_to_lock(int file, int kind) {
  while (::flock(file, kind | LOCK_NB) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

/// The same; one that only looks whether the lock is held is over in a moment.
int lock_file(int file) {
  int refused = try_to_lock(file, LOCK_EX);
  for (int tries = 0; tries < 5 && refused == EWOULDBLOCK; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    refused = try_to_lock(file, LOCK_EX);
  }
  return refused;
}

}  // namespace

std::optional<DirectoryLock> DirectoryLock::take(const std::filesystem::path& directory,
                                                 std::string& holder) {
  const std::filesystem::path path = directory / file_name;
  int file = -1;
  while ((file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) < 0 && errno == EINTR)
    continue;
  core::require(file >= 0, core::explain_errno(errno));
  DirectoryLock lock(file);
  const int refused = lock_file(file);
  if (refused == EWOULDBLOCK) {
    holder = core::read_text_file(path);
    return std::nullopt;
  }
  core::require(refused == 0 || std::getenv(without_locks), "it cannot be locked (",
                std::strerror(refused), "): use a file system that has locks, or set ",
                without_locks, "=1 and see to it that no other process works there");
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  const std::string own = core::message_of("process ", ::getpid(), " on ", host);
  if (::ftruncate(file, 0) == 0) core::write_fully(file, std::as_bytes(std::span(own)));
  return lock;
}

bool DirectoryLock::is_held(const std::filesystem::path& directory) {
  const int file = ::open((directory / file_name).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool held = try_to_lock(file, LOCK_SH) == EWOULDBLOCK;
  ::close(file);
  return held;
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept
    : file_(std::exchange(other.file_, -1)) {}

DirectoryLock::~DirectoryLock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace weft::experiments
