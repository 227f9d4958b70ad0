#include "data/images/byte_source.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/files/durable_file.h"
#include "data/files/debian_package.h"

namespace weft::data {
namespace {

namespace fs = std::filesystem;

}  // namespace

void refuse_missing(const std::string& path) {
  const std::string package = debian_package_of(path);
  if (!package.empty())
    refuse_image(path, "does not exist; install it with: sudo apt-get install ", package);
  std::error_code ignored;
  refuse_image(path, "does not exist (looked for from ", fs::current_path(ignored).string(),
               "): correct the path, or fetch the file");
}

ByteSource::ByteSource(const std::string& path) : path_(path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) refuse_missing(path);
  if (!fs::is_regular_file(path, ignored)) refuse_image(path, "is not a file: give one");
  most_ = most_unpacked(Index(fs::file_size(path, ignored)));
  stream_ = ::gzopen(path.c_str(), "rb");
  if (!stream_)
    refuse_image(path, "cannot be opened: ", core::explain_errno(errno),
                 "; check that you may read it");
}

ByteSource::~ByteSource() { ::gzclose(stream_); }

void ByteSource::refuse_damage() {
  int fault = Z_OK;
  const char* const why = ::gzerror(stream_, &fault);
  refuse_image(path_, "cannot be read further: ",
               fault == Z_ERRNO ? core::explain_errno(errno) : std::string(why),
               "; the file is cut off or damaged: fetch it again");
}

void ByteSource::check_expansion() {
  if (unpacked_ > most_)
    refuse_image(path_, "unpacks to more than ", most_,
                 " bytes, which no images of this file's size do: unpack it with gunzip if it is "
                 "to be trusted");
}

Index most_unpacked(Index file_bytes) {
  constexpr Index always = Index(1) << 25, each = 64;
  return std::max(always, each * file_bytes);
}

Index ByteSource::append(Index count, std::vector<std::uint8_t>& to) {
  std::array<std::uint8_t, 1 << 16> piece;
  Index read = 0;
  while (read < count) {
    const auto wanted = unsigned(std::min<Index>(count - read, Index(piece.size())));
    const int got = ::gzread(stream_, piece.data(), wanted);
    if (got < 0) refuse_damage();
    if (got == 0) break;
    unpacked_ += got;
    check_expansion();
    to.insert(to.end(), piece.begin(), piece.begin() + got);
    read += got;
  }
  return read;
}

bool ByteSource::at_end() {
  const int next = gzgetc(stream_);
  if (next < 0) return true;
  ::gzungetc(next, stream_);
  return false;
}

std::vector<std::uint8_t> read_image_bytes(const std::string& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) refuse_missing(path);
  if (!fs::is_regular_file(path, ignored)) refuse_image(path, "is not a file: give one");
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) refuse_image(path, "cannot be opened: check that you may read it");
  std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file),
                                  std::istreambuf_iterator<char>()};
  if (file.bad()) refuse_image(path, "could not be read to its end: check the disk");
  return bytes;
}

}  // namespace weft::data
