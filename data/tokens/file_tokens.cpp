#include "data/tokens/file_tokens.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/error.h"
#include "core/files/durable_file.h"

namespace weft::data {

using core::Index;
using core::Token;

namespace {

template <class Stored>
void unpack(const std::byte* bytes, std::span<Token> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes + i * sizeof(Stored), sizeof(Stored));
    out[i] = Token(stored);
  }
}

void unpack(const std::byte* bytes, Index width, std::span<Token> out) {
  if (width == 1) return unpack<std::uint8_t>(bytes, out);
  if (width == 2) return unpack<std::uint16_t>(bytes, out);
  unpack<std::int32_t>(bytes, out);
}

}  // namespace

FileTokens::FileTokens(const std::string& path, Index begin, Index size, Index width,
                       Index vocabulary)
    : path_(path),
      file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)),
      begin_(begin),
      size_(size),
      width_(width),
      vocabulary_(vocabulary) {
  if (file_ < 0)
    throw core::Error(core::Fault::data,
                      "cannot read '" + path + "': " + core::explain_errno(errno));
}

FileTokens::~FileTokens() { ::close(file_); }

void FileTokens::fetch(Index from, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(file_, bytes.data(), bytes.size(), off_t(begin_ + from));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      throw core::Error(
          core::Fault::data,
          core::message_of("'", path_, "' cannot be read at byte ", begin_ + from, ": ",
                           got < 0 ? core::explain_errno(errno) : std::string("it ends there"),
                           "; was it changed while in use?"));
    from += got;
    bytes = bytes.subspan(std::size_t(got));
  }
}

void FileTokens::read(Index begin, std::span<Token> out) const {
  core::require(begin >= 0 && begin + Index(out.size()) <= size_, "file tokens: ", out.size(),
                " tokens from ", begin, " on are not among ", size_);
  std::array<std::byte, 4096> buffer;
  const auto at_once = buffer.size() / std::size_t(width_);
  while (!out.empty()) {
    const std::size_t count = std::min(out.size(), at_once);
    fetch(begin * width_, std::span(buffer).first(count * std::size_t(width_)));
    unpack(buffer.data(), width_, out.first(count));
    for (const Token token : out.first(count))
      if (token < 0 || token >= vocabulary_)
        throw core::Error(core::Fault::data, core::message_of("'", path_, "' holds token ", token,
                                                              " outside its ", vocabulary_));
    begin += Index(count);
    out = out.subspan(count);
  }
}

}  // namespace weft::data
