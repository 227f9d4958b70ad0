#include "core/files/durable_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>

namespace weft::core {

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
