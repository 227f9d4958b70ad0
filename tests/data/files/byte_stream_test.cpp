#include "data/files/byte_stream.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "data/files/text_file.h"
#include "tests/data/refusal.h"
#include "tests/data/scratch_file.h"

namespace weft::data::byte_stream_test {
namespace {

std::string gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = unsigned(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = unsigned(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string xz(const std::string& text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(3, LZMA_CHECK_CRC64, nullptr,
                                    reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                                    reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()),
            LZMA_OK);
  out.resize(size);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

using Compress = std::string (*)(const std::string&);
constexpr std::array all = {gzip, xz, zstd};

std::string long_text() {
  std::string text;
  for (int i = 0; i < 40000; ++i) text += "line " + std::to_string(i * 7919 % 10007) + "\n";
  return text;
}

std::string read(const std::string& bytes) {
  const ScratchFile file(bytes);
  return read_text_file(file.path()).bytes;
}

TEST(ByteStream, reads_plain_and_compressed_files_alike) {
  const std::string text = long_text();
  EXPECT_EQ(read(text), text);
  for (const Compress compress : all) {
    EXPECT_EQ(read(compress(text)), text);
    EXPECT_EQ(read(compress("a") + compress(text) + compress("b")), "a" + text + "b");
  }
}

TEST(ByteStream, reads_what_dictd_writes) {
  const std::string packed = gzip("entry\n");
  const std::string extra("\x06\0RA\x02\0\1\0", 8);
  EXPECT_EQ(read(packed.substr(0, 3) + '\x04' + packed.substr(4, 6) + extra + packed.substr(10)),
            "entry\n");
}

TEST(ByteStream, refuses_a_broken_member_and_names_the_file) {
  for (const Compress compress : all) {
    const std::string packed = compress(long_text());
    for (const std::string& broken :
         {packed.substr(0, packed.size() / 2), packed.substr(0, packed.size() - 3),
          packed + packed.substr(0, 40), packed.substr(0, 20) + "xxxx" + packed.substr(24)})
      expect_says(refusal_of([&] { read(broken); }), core::Fault::data, "text.txt",
                  "cannot be unpacked", "fetch it again");
  }
  expect_says(refusal_of([] { read("BZh91AY&SY"); }), core::Fault::data, "bzip2",
              "gzip, xz or zstd");
}

TEST(ByteStream, refuses_other_compressed_formats_by_name_and_says_what_to_do) {
  for (const auto& [start, name] : {std::pair{std::string("7z\xbc\xaf\x27\x1c"), "7-Zip"},
                                    {"\x04\x22\x4d\x18", "lz4"},
                                    {"Rar!\x1a\x07\x01", "RAR"},
                                    {"\x1f\x9d", "compress (.Z)"},
                                    {"PK\x03\x04", "zip"},
                                    {"LZIP\x01", "lzip"},
                                    {"BZh9", "bzip2"}})
    expect_says(refusal_of([&] { read(start + " and more"); }), core::Fault::data, "text.txt", name,
                "unpack it, or compress it with gzip, xz or zstd");
  EXPECT_EQ(read("7z is a format"), "7z is a format");
  EXPECT_EQ(read("Rar! said the dog"), "Rar! said the dog");
}

TEST(ByteStream, refuses_what_only_its_name_says_to_be_compressed) {
  const ScratchFile file("");
  const auto write = [&](const std::string& name, const std::string& bytes) {
    std::ofstream(file.folder() + "/" + name, std::ios::binary) << bytes;
    return file.folder() + "/" + name;
  };
  for (const std::string name : {"page.gz", "page.dict.dz", "page.xz", "page.zst"}) {
    const std::string path = write(name, "<html>no such page</html>");
    expect_says(refusal_of([&] { read_text_file(path); }), core::Fault::data, name,
                "fetch it again, or give it another name");
  }
  EXPECT_EQ(read_text_file(write("text.gz", gzip("packed"))).bytes, "packed");
}

TEST(ByteStream, refuses_files_that_unpack_to_more_than_texts_do) {
  const std::string packed = xz(std::string(std::size_t(most_unpacked_text(0)) + 1, ' '));
  ASSERT_LT(packed.size(), 100000u);
  expect_says(refusal_of([&] { read(packed); }), core::Fault::data, "unpacks to more than");
}

TEST(ByteStream, says_what_to_do_about_missing_files) {
  const auto says = [](const char* path, const char* advice) {
    expect_says(refusal_of([&] { read_text_file(path); }), core::Fault::data, path, advice);
  };
  says("/usr/share/dictd/nosuch.dict.dz", "sudo apt-get install dict-nosuch");
  says("/usr/share/datasets/none/a.gz", "sudo apt-get install dataset-none");
  says("none.txt", "correct the path");
}

}  // namespace
}  // namespace weft::data::byte_stream_test
