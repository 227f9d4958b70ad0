#include "core/files/file_seal.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <vector>

#include "core/error.h"
#include "core/files/durable_file.h"

namespace weft::core {
namespace {

constexpr std::string_view seal_start = "weft-seal xxh3_128 ";
constexpr std::size_t digest_digits = 32;
constexpr std::size_t seal_length = seal_start.size() + digest_digits + 1;

std::string seal_with(const std::string& digest) { return std::string(seal_start) + digest + '\n'; }

/// Adds the next `count` bytes of the file; false when they cannot be read.
bool add_bytes(std::ifstream& file, std::size_t count, Digest& digest) {
  std::vector<char> piece(std::min<std::size_t>(count, 1 << 20));
  while (count > 0) {
    const std::size_t size = std::min(count, piece.size());
    if (!file.read(piece.data(), std::streamsize(size))) return false;
    digest.add(std::as_bytes(std::span(piece).first(size)));
    count -= size;
  }
  return true;
}

}  // namespace

std::string xxh3_128(std::string_view text) {
  Digest digest;
  digest.add(std::as_bytes(std::span(text)));
  return digest.text();
}

std::string seal_of(std::span<const std::byte> image) {
  Digest digest;
  digest.add(image);
  return seal_of(digest);
}

std::string seal_of(const Digest& image) { return seal_with(image.text()); }

SealCheck check_seal(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return {.problem = "the file is missing"};
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  errno = 0;
  std::ifstream file;
  if (!error) file.open(path, std::ios::binary);  // a pipe, which has no size, would be waited for
  if (error || !file)
    throw Unreadable(Fault::checkpoint, message_of("cannot read ", path.string(), ": ",
                                                   explain_errno(error ? error.value() : errno)));
  SealCheck check{.bytes = Index(bytes)};
  if (bytes < seal_length) {
    check.problem = message_of("the file is cut off after ", bytes, " bytes");
    return check;
  }
  Digest digest;
  if (!add_bytes(file, bytes - seal_length, digest)) return {.problem = "the file cannot be read"};
  const std::string expected = seal_with(digest.text());
  std::string found(seal_length, '\0');
  if (!file.read(found.data(), std::streamsize(seal_length)))
    return {.problem = "the file cannot be read"};
  digest.add(std::as_bytes(std::span(found)));
  check.xxh3_128 = digest.text();
  if (!found.starts_with(seal_start))
    check.problem = "the file does not end with its seal: it is cut off, or weft did not write it";
  else if (found != expected)
    check.problem = "its contents do not match its checksum";
  return check;
}

}  // namespace weft::core
