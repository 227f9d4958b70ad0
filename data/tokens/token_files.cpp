#include "data/tokens/token_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "core/error.h"
#include "core/files/durable_file.h"

namespace weft::data {
namespace {

constexpr std::size_t piece_bytes = std::size_t(1) << 20;

/// A new file in the folder of `path` that has lost its name already; -1 when that fails.
int open_nameless(const std::filesystem::path& path) {
  std::string name = core::message_of(path.string(), ".XXXXXX", core::temporary_ending);
  const int file = ::mkostemps(name.data(), int(core::temporary_ending.size()), O_CLOEXEC);
  if (file >= 0) ::unlink(name.c_str());
  return file;
}

}  // namespace

TokenFiles::~TokenFiles() {
  for (const Run& run : runs_)
    if (run.file >= 0) ::close(run.file);
}

void TokenFiles::refuse(int error) const {
  throw core::Error(core::Fault::output, "cannot write tokens beside " + path_.string() + ": " +
                                             core::explain_errno(error));
}

void TokenFiles::begin(Index vocabulary, Index) {
  width_ = token_width(vocabulary);
  seen_.assign(std::size_t(vocabulary), false);
  for (int i = 0; i < 3; ++i) {
    runs_.push_back({.file = open_nameless(path_), .last = PackedTokens(vocabulary)});
    if (runs_.back().file < 0) refuse(errno);
  }
}

void TokenFiles::store(Split split, std::span<const Token> tokens) {
  Run& run = runs_[std::size_t(split)];
  for (const Token token : tokens) seen_[std::size_t(token)] = true;
  run.last.append(tokens);
  if (run.last.bytes().size() >= piece_bytes) write(run);
}

void TokenFiles::write(Run& run) {
  if (const int error = core::write_fully(run.file, run.last.bytes())) refuse(error);
  run.last.clear();
}

Index TokenFiles::different() const { return Index(std::ranges::count(seen_, true)); }

void TokenFiles::read(const std::function<void(std::span<const std::byte>)>& take) {
  std::vector<std::byte> piece(piece_bytes);
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    write(runs_[i]);
    const off_t size = off_t(TokenRuns::size(Split(i)) * width_);
    for (off_t at = 0; at < size;) {
      const ssize_t got = ::pread(runs_[i].file, piece.data(), piece.size(), at);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) refuse(got < 0 ? errno : EIO);
      take(std::span(piece).first(std::size_t(got)));
      at += got;
    }
  }
}

}  // namespace weft::data
