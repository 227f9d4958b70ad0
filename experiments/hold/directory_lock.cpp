#include "experiments/hold/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "core/error.h"
#include "core/files/durable_file.h"

namespace weft::experiments {
namespace {

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
  DirectoryLock lock(directory, file);
  const int refused = lock_file(file);
  if (refused == EWOULDBLOCK) {
    holder = core::read_text_file(path);
    return std::nullopt;
  }
  Holder own = Holder::own(), other;
  own.locked = refused == 0;
  const Claim::Outcome outcome = Claim::take(directory, own, lock.claim_, other);
  if (outcome == Claim::Outcome::held) {
    holder = other.text();
    return std::nullopt;
  }
  core::require(outcome == Claim::Outcome::taken || own.locked,
                "it can be held neither by a lock (", std::strerror(refused),
                ") nor by a hard link: use a file system that has one of them");
  const std::string text = own.text();
  if (::ftruncate(file, 0) == 0) core::write_fully(file, std::as_bytes(std::span(text)));
  return lock;
}

bool DirectoryLock::is_held(const std::filesystem::path& directory) {
  const int file = ::open((directory / file_name).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return Claim::find(directory, false).has_value();
  const int refused = try_to_lock(file, LOCK_SH);
  ::close(file);
  return refused == EWOULDBLOCK || Claim::find(directory, refused == 0).has_value();
}

bool DirectoryLock::is_own_file(const std::string& name) {
  return name == file_name || Claim::is_claim_file(name);
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept
    : directory_(std::move(other.directory_)),
      file_(std::exchange(other.file_, -1)),
      claim_(std::move(other.claim_)) {}

DirectoryLock::~DirectoryLock() {
  claim_.reset();  // before the lock: who gets that finds the directory free
  if (file_ >= 0) ::close(file_);
}

void DirectoryLock::require_held() const {
  std::string to;
  if (!claim_ || !claim_->is_lost(to)) return;
  throw core::Error(
      core::Fault::checkpoint,
      directory_.string() + " was taken over by " + to + ": another process trains there now",
      "Nothing is lost: the run goes on there");
}

}  // namespace weft::experiments
