#include "data/files/piece_reader.h"

#include <filesystem>
#include <span>

#include "core/files/digest.h"
#include "data/files/byte_stream.h"
#include "data/files/refuse_file.h"

namespace weft::data {

PieceReader::PieceReader(const std::vector<std::string>& paths, int passes, Progress progress)
    : progress_(std::move(progress)) {
  for (const std::string& path : paths) {
    const ByteStream stream(path);
    all_ += double(stream.size()) * passes;
    if (!stream.compressed()) plain_ += stream.size();
  }
}

void PieceReader::check_unchanged(const std::string& path, const TextOrigin& origin) {
  const auto [known, is_new] = fingerprints_.emplace(path, origin.fingerprint);
  if (!is_new && known->second != origin.fingerprint)
    refuse_file(path, "changed while it was read: try again when nothing writes to it");
}

TextOrigin PieceReader::read(const std::string& path, const Take& take) {
  ByteStream stream(path);
  TextOrigin origin{.name = std::filesystem::path(path).filename().string(), .fingerprint = {}};
  core::Digest digest;
  std::vector<char> piece(std::size_t(1) << 20);
  while (const std::size_t got = stream.read(piece)) {
    digest.add(std::as_bytes(std::span(piece).first(got)));
    take({piece.data(), got}, origin.bytes);
    origin.bytes += Index(got);
    if (progress_) progress_((before_ + double(stream.position())) / all_);
  }
  if (origin.bytes == 0) refuse_file(path, "is empty: name a file that holds text");
  before_ += double(stream.size());
  origin.fingerprint = digest.text();
  check_unchanged(path, origin);
  return origin;
}

}  // namespace weft::data
