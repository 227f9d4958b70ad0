#include "data/images/idx_file.h"

#include <array>
#include <iomanip>
#include <limits>
#include <sstream>

#include "data/images/byte_source.h"

namespace weft::data {
namespace {

constexpr std::uint32_t images_magic = 0x803, labels_magic = 0x801;

std::string in_hex(std::uint32_t number) {
  std::ostringstream text;
  text << "0x" << std::hex << std::setfill('0') << std::setw(8) << number;
  return text.str();
}

/// The next number of a header: 4 bytes, the highest first.
std::uint32_t take_number(ByteSource& source, const std::string& path, const char* what) {
  std::vector<std::uint8_t> bytes;
  if (source.append(4, bytes) < 4)
    refuse_image(path, "ends inside its header, before the ", what,
                 ": it is cut off, fetch it again");
  return std::uint32_t(bytes[0]) << 24 | std::uint32_t(bytes[1]) << 16 |
         std::uint32_t(bytes[2]) << 8 | bytes[3];
}

void check_magic(std::uint32_t found, std::uint32_t wanted, const std::string& path) {
  if (found == wanted) return;
  if (found == images_magic || found == labels_magic)
    refuse_image(path, "is an IDX file of ", found == images_magic ? "images" : "labels",
                 " where one of ", wanted == images_magic ? "images" : "labels",
                 " is needed: exchange the paths of images and labels");
  refuse_image(path, "begins with the number ", in_hex(found), ", but an IDX file of ",
               wanted == images_magic ? "images" : "labels", " begins with ", in_hex(wanted),
               ": name a file of that format");
}

/// `records` of `size` bytes each, and nothing after them.
std::vector<std::uint8_t> take_records(ByteSource& source, const std::string& path, Index records,
                                       Index size, const char* record) {
  std::vector<std::uint8_t> bytes;
  const Index wanted = records * size, got = source.append(wanted, bytes);
  if (got < wanted)
    refuse_image(path, "ends inside ", record, " ", got / size, " (counted from 0) of the ",
                 records, " that its header announces: it is cut off, fetch it again");
  if (!source.at_end())
    refuse_image(path, "goes on after the ", records, " ", record,
                 "s that its header announces: the header or the file is damaged, fetch it again");
  return bytes;
}

}  // namespace

PictureSet read_idx_images(const std::string& path) {
  ByteSource source(path);
  check_magic(take_number(source, path, "magic number"), images_magic, path);
  const Index count = take_number(source, path, "number of images");
  const Index rows = take_number(source, path, "number of rows");
  const Index columns = take_number(source, path, "number of columns");
  if (count == 0 || rows == 0 || columns == 0)
    refuse_image(path, "its header announces ", count, " images of ", rows, " x ", columns,
                 ": name a file that holds images");
  // The product of three numbers of 32 bits may not fit into 64.
  if (rows > std::numeric_limits<Index>::max() / columns / count)
    refuse_image(path, "its header announces ", count, " images of ", rows, " x ", columns,
                 ", more than any file holds: the header is damaged, fetch the file again");
  PictureSet set{.form = {.rows = rows, .columns = columns}, .count = count};
  set.pixels = take_records(source, path, count, rows * columns, "image");
  return set;
}

std::vector<std::uint8_t> read_idx_labels(const std::string& path) {
  ByteSource source(path);
  check_magic(take_number(source, path, "magic number"), labels_magic, path);
  const Index count = take_number(source, path, "number of labels");
  return take_records(source, path, count, 1, "label");
}

}  // namespace weft::data
