#include "core/files/durable_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>

namespace weft::core {
namespace {

/// 0, or the errno of a call that returned -1.
int outcome(int result) { return result == 0 ? 0 : errno; }

int write_and_sync(const char* path, std::initializer_list<std::span<const std::byte>> parts) {
  const int file = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  int error = 0;
  for (const auto part : parts)
    if (!error) error = write_fully(file, part);
  if (!error) error = outcome(::fsync(file));
  const int closing = outcome(::close(file));
  return error ? error : closing;
}

int sync_directory(const std::filesystem::path& directory) {
  const int opened = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return errno;
  const int error = outcome(::fsync(opened));
  ::close(opened);
  return error == EINVAL ? 0 : error;  // some file systems cannot sync a directory
}

}  // namespace

void write_durably(const std::filesystem::path& path,
                   std::initializer_list<std::span<const std::byte>> parts, Fault fault) {
  std::filesystem::path temporary = path;
  temporary += temporary_ending;
  int error = write_and_sync(temporary.c_str(), parts);
  if (!error) error = outcome(::rename(temporary.c_str(), path.c_str()));
  if (error) ::unlink(temporary.c_str());
  if (!error) error = sync_directory(path.has_parent_path() ? path.parent_path() : ".");
  if (error) throw Error(fault, "cannot write " + path.string() + ": " + explain_errno(error));
}

void write_durably(const std::filesystem::path& path, std::string_view text, Fault fault) {
  write_durably(path, {std::as_bytes(std::span(text))}, fault);
}

std::string read_text_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (!file.is_open() || file.bad())
    throw Error(Fault::data, "cannot read " + path.string() + ": " + std::strerror(errno));
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
    case EACCES:
    case EPERM:
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
