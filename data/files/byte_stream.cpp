#include "data/files/byte_stream.h"

#include <fcntl.h>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "data/files/debian_package.h"
#include "data/files/refuse_file.h"

namespace weft::data {

using core::Index;

namespace {

/// The bytes as they are on the disk.
class File {
 public:
  explicit File(const std::string& path)
      : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0)
      refuse_file(path, "cannot be opened: ", core::explain_errno(errno),
                  "; check that you may read it");
  }
  ~File() { ::close(file_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::size_t read(char* to, std::size_t count) {
    while (true) {
      const ssize_t got = ::read(file_, to, count);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) refuse_file(path_, "cannot be read: ", core::explain_errno(errno));
      position_ += got;
      return std::size_t(got);
    }
  }
  /// The next part, read when the one before is used up; empty at the end.
  std::span<const char> refill() {
    buffer_.resize(std::size_t(1) << 16);
    return {buffer_.data(), read(buffer_.data(), buffer_.size())};
  }
  void rewind() {
    if (::lseek(file_, 0, SEEK_SET) != 0) refuse_file(path_, "cannot be read from its beginning");
    position_ = 0;
  }
  Index position() const { return position_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int file_;
  Index position_ = 0;
  std::vector<char> buffer_;
};

}  // namespace

class ByteStream::Format {
 public:
  explicit Format(std::unique_ptr<File> raw) : file(std::move(raw)) {}
  virtual ~Format() = default;

  /// Some bytes, at least one unless at the end.
  virtual std::size_t read(std::span<char> out) { return file->read(out.data(), out.size()); }

  virtual bool compressed() const { return false; }

  std::unique_ptr<File> file;

 protected:
  [[noreturn]] void refuse_damage(const std::string& why) const {
    refuse_file(file->path(), "cannot be unpacked: ", why,
                "; it is cut off or damaged: fetch it again, or leave it out");
  }
};

namespace {

/// gzip, member after member; what follows the last one must be nothing or zeros.
class Gzip final : public ByteStream::Format {
 public:
  explicit Gzip(std::unique_ptr<File> raw) : Format(std::move(raw)) {
    if (::inflateInit2(&stream_, 15 + 16) != Z_OK) refuse_damage("zlib has no memory");
  }
  ~Gzip() override { ::inflateEnd(&stream_); }
  bool compressed() const override { return true; }

  std::size_t read(std::span<char> out) override {
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = unsigned(std::min<std::size_t>(out.size(), 1 << 30));
    const auto wanted = stream_.avail_out;
    while (stream_.avail_out == wanted) {
      if (stream_.avail_in == 0) {
        input_ = file->refill();
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input_.data()));
        stream_.avail_in = unsigned(input_.size());
      }
      if (between_) {
        while (stream_.avail_in > 0 && *stream_.next_in == 0) ++stream_.next_in, --stream_.avail_in;
        if (stream_.avail_in == 0 && input_.empty()) return 0;
        if (stream_.avail_in == 0) continue;
        between_ = false;
        if (::inflateReset(&stream_) != Z_OK) refuse_damage("zlib failed");
      }
      if (input_.empty()) refuse_damage("it ends in the middle");
      const int result = ::inflate(&stream_, Z_NO_FLUSH);
      if (result == Z_STREAM_END)
        between_ = true;
      else if (result != Z_OK && result != Z_BUF_ERROR)
        refuse_damage(stream_.msg ? stream_.msg : "no gzip");
    }
    return wanted - stream_.avail_out;
  }

 private:
  z_stream stream_{};
  std::span<const char> input_;
  bool between_ = false;  ///< two members
};

class Xz final : public ByteStream::Format {
 public:
  explicit Xz(std::unique_ptr<File> raw) : Format(std::move(raw)) {
    constexpr std::uint64_t most_memory = 100 << 20;  // xz -9 takes 65
    if (::lzma_stream_decoder(&stream_, most_memory, LZMA_CONCATENATED) != LZMA_OK)
      refuse_damage("liblzma has no memory");
  }
  ~Xz() override { ::lzma_end(&stream_); }
  bool compressed() const override { return true; }

  std::size_t read(std::span<char> out) override {
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    stream_.avail_out = out.size();
    while (stream_.avail_out == out.size() && !ended_) {
      if (stream_.avail_in == 0) {
        const auto input = file->refill();
        stream_.next_in = reinterpret_cast<const std::uint8_t*>(input.data());
        stream_.avail_in = input.size();
      }
      const lzma_ret result = ::lzma_code(&stream_, stream_.avail_in == 0 ? LZMA_FINISH : LZMA_RUN);
      if (result == LZMA_STREAM_END)
        ended_ = true;
      else if (result == LZMA_MEMLIMIT_ERROR)
        refuse_damage("it needs more than 100 MiB of memory");
      else if (result == LZMA_BUF_ERROR)
        refuse_damage("it ends in the middle");
      else if (result != LZMA_OK)
        refuse_damage("its check does not hold");
    }
    return out.size() - stream_.avail_out;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool ended_ = false;
};

class Zstd final : public ByteStream::Format {
 public:
  explicit Zstd(std::unique_ptr<File> raw)
      : Format(std::move(raw)), stream_(::ZSTD_createDStream()) {
    if (!stream_) refuse_damage("zstd has no memory");
    ::ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, 26);  // zstd -19 takes 23
  }
  ~Zstd() override { ::ZSTD_freeDStream(stream_); }
  bool compressed() const override { return true; }

  std::size_t read(std::span<char> out) override {
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    while (to.pos == 0) {
      if (from_.pos == from_.size && !full_) {
        const auto input = file->refill();
        from_ = {input.data(), input.size(), 0};
        if (input.empty()) {
          if (inside_) refuse_damage("it ends in the middle");
          return 0;
        }
      }
      const std::size_t left = ::ZSTD_decompressStream(stream_, &to, &from_);
      if (::ZSTD_isError(left)) refuse_damage(::ZSTD_getErrorName(left));
      inside_ = left != 0;
      full_ = to.pos == to.size;  // more may wait inside
    }
    return to.pos;
  }

 private:
  ZSTD_DStream* stream_;
  ZSTD_inBuffer from_{nullptr, 0, 0};
  bool inside_ = false, full_ = false;
};

/// What else files are compressed with would be read as text; four bytes or so are no text by
/// chance.
void refuse_other_formats(const std::string& path, std::string_view start) {
  using namespace std::string_view_literals;
  for (const auto& [magic, name] : {std::pair{"BZh"sv, "bzip2"},
                                    {"PK\x03\x04"sv, "zip"},
                                    {"7z\xbc\xaf\x27\x1c"sv, "7-Zip"},
                                    {"\x04\x22\x4d\x18"sv, "lz4"},
                                    {"Rar!\x1a\x07"sv, "RAR"},
                                    {"\x1f\x9d"sv, "compress (.Z)"},
                                    {"LZIP\x01"sv, "lzip"}})
    if (start.starts_with(magic))
      refuse_file(path, "is compressed with ", name,
                  ", which weft does not read: unpack it, or compress it with gzip, xz or zstd");
  for (const std::string_view ending : {".gz", ".dz", ".xz", ".zst"})
    if (path.ends_with(ending) && !start.empty())
      refuse_file(path,
                  "is named as a compressed file, but is none: fetch it again, or give it "
                  "another name if it is plain text");
}

std::unique_ptr<ByteStream::Format> format_of(const std::string& path) {
  auto file = std::make_unique<File>(path);
  std::array<char, 8> first{};
  const std::string_view start(first.data(), file->read(first.data(), first.size()));
  file->rewind();
  using namespace std::string_view_literals;
  if (start.starts_with("\x1f\x8b"sv)) return std::make_unique<Gzip>(std::move(file));
  if (start.starts_with("\xfd"
                        "7zXZ\0"sv))
    return std::make_unique<Xz>(std::move(file));
  if (start.starts_with("\x28\xb5\x2f\xfd"sv)) return std::make_unique<Zstd>(std::move(file));
  refuse_other_formats(path, start);
  return std::make_unique<ByteStream::Format>(std::move(file));
}

}  // namespace

ByteStream::ByteStream(const std::string& path) : path_(path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) refuse_file(path, "does not exist: ", advice_on_missing(path));
  if (!fs::is_regular_file(path, ignored))
    refuse_file(path, "is not a file but a directory or device: name one file");
  size_ = Index(fs::file_size(path, ignored));
  format_ = format_of(path);
}

ByteStream::~ByteStream() = default;

bool ByteStream::compressed() const { return format_->compressed(); }

Index ByteStream::position() const { return format_->file->position(); }

void ByteStream::check_expansion() const {
  if (unpacked_ > std::max(most_unpacked_text(size_), position()))
    refuse_file(
        path_, "unpacks to more than ", most_unpacked_text(size_),
        " bytes, which no text of this size does: unpack it yourself if it is to be trusted");
}

std::size_t ByteStream::read(std::span<char> out) {
  std::size_t count = 0;
  while (count < out.size()) {
    const std::size_t got = format_->read(out.subspan(count));
    if (got == 0) break;
    count += got;
    unpacked_ += Index(got);
    check_expansion();
  }
  return count;
}

Index most_unpacked_text(Index file_bytes) {
  constexpr Index always = Index(1) << 26, each = 256;
  return std::max(always, each * file_bytes);
}

}  // namespace weft::data
