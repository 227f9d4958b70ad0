#include "core/files/durable_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>

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

int write_and_sync(int file, std::initializer_list<std::span<const std::byte>> parts) {
  int error = 0;
  for (const auto part : parts)
    if (!error) error = write_fully(file, part);
  if (!error) error = outcome([&] { return ::fsync(file); });
  const int closing = ::close(file) == 0 || errno == EINTR ? 0 : errno;
  return error ? error : closing;
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

void write_durably(const std::filesystem::path& path,
                   std::initializer_list<std::span<const std::byte>> parts, Fault fault) {
  std::filesystem::path temporary;
  int file = -1;
  int error = open_temporary(path, temporary, file);
  if (file >= 0) {
    error = write_and_sync(file, parts);
    if (!error) error = outcome([&] { return ::rename(temporary.c_str(), path.c_str()); });
    if (error) ::unlink(temporary.c_str());
  }
  if (!error) error = sync_directory(path.has_parent_path() ? path.parent_path() : ".");
  if (error) throw Error(fault, "cannot write " + path.string() + ": " + explain_errno(error));
}

void write_durably(const std::filesystem::path& path, std::string_view text, Fault fault) {
  write_durably(path, {std::as_bytes(std::span(text))}, fault);
}

std::string read_text_file(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto kind = std::filesystem::status(path, ignored).type();
  using Type = std::filesystem::file_type;
  if (kind == Type::fifo || kind == Type::character || kind == Type::socket || kind == Type::block)
    throw Error(Fault::data, "cannot read " + path.string() + ": it is no file");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (!file.is_open() || file.bad())
    throw Error(Fault::data, "cannot read " + path.string() + ": " + explain_errno(errno));
  return text.str();
}

std::string explain_errno(int error) {
  const std::string text = std::strerror(error);
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return text + "; free some space on that disk";
    case EFBIG:
      return text + "; raise the file-size limit (ulimit -f)";
    case EMFILE:
      return text + "; raise the limit on open files (ulimit -n)";
    case EAGAIN:
      return text + "; raise the limit on processes (ulimit -u) or run fewer";
    case ENAMETOOLONG:
      return text + "; choose a shorter one";
    case ELOOP:
      return text + "; correct the link";
    case EACCES:
    case EPERM:
      return text + "; change its permissions or choose another place";
    case EROFS:
      return text + "; make it writable or choose another directory";
    default:
      return text;
  }
}

int write_fully(int descriptor, std::span<const std::byte> bytes) {
  constexpr std::size_t most_at_once = std::size_t(1) << 30;
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), std::min(bytes.size(), most_at_once));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes = bytes.subspan(std::size_t(written));
  }
  return 0;
}

void ignore_file_size_signal() { std::signal(SIGXFSZ, SIG_IGN); }

}  // namespace weft::core
