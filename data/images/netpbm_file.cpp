#include "data/images/netpbm_file.h"

#include <algorithm>
#include <cctype>

#include "data/images/byte_source.h"

namespace weft::data {
namespace {

constexpr Index most_side = 1 << 20;

/// The numbers of a file, between white space and comments.
class Numbers {
 public:
  Numbers(const std::string& path, const std::vector<std::uint8_t>& bytes)
      : path_(path), bytes_(bytes) {}

  Index next(const char* what, Index most) {
    skip_space();
    if (at_ == bytes_.size()) refuse_image(path_, "ends before ", what, ": fetch it again");
    Index number = 0;
    const std::size_t begin = at_;
    while (at_ < bytes_.size() && std::isdigit(bytes_[at_])) {
      number = number * 10 + (bytes_[at_++] - '0');
      if (number > most)
        refuse_image(path_, what, " is larger than ", most, ": name a PGM or PPM of 8 bits");
    }
    if (at_ == begin)
      refuse_image(path_, "byte ", begin, " should begin ", what,
                   ", a number: it is no PGM or PPM");
    return number;
  }
  /// Where binary values begin: one white space after the last number.
  std::size_t after() const { return at_ + 1; }

 private:
  void skip_space() {
    for (bool comment = false; at_ < bytes_.size(); ++at_) {
      if (bytes_[at_] == '#') comment = true;
      if (bytes_[at_] == '\n') comment = false;
      if (!comment && !std::isspace(bytes_[at_])) return;
    }
  }

  const std::string& path_;
  const std::vector<std::uint8_t>& bytes_;
  std::size_t at_ = 2;
};

}  // namespace

Picture read_netpbm(const std::string& path) {
  const std::vector<std::uint8_t> bytes = read_image_bytes(path);
  if (bytes.size() < 2 || bytes[0] != 'P' || std::string("2356").find(char(bytes[1])) > 3)
    refuse_image(path, "does not begin with P2, P3, P5 or P6: name a PGM or PPM file");
  const bool digits = bytes[1] == '2' || bytes[1] == '3';
  Picture picture{.channels = bytes[1] == '3' || bytes[1] == '6' ? 3 : 1};
  Numbers numbers(path, bytes);
  picture.columns = numbers.next("the width", most_side);
  picture.rows = numbers.next("the height", most_side);
  const Index most = numbers.next("the largest value", 255);
  if (picture.rows < 1 || picture.columns < 1 || most < 1)
    refuse_image(path, "is an image of ", picture.rows, " x ", picture.columns,
                 " with values up to ", most, ": fetch it again");
  const Index values = picture.rows * picture.row();
  // A value takes a byte at least, so the header cannot ask for more memory than the file's size.
  if (const Index left = Index(bytes.size()) - Index(numbers.after()); left < values)
    refuse_image(path, "its header announces ", values, " values, but at most ",
                 std::max<Index>(left, 0), " follow: it is cut off, fetch it again");
  for (Index i = 0; i < values; ++i) {
    const Index value =
        digits ? numbers.next("a value", most) : Index(bytes[numbers.after() + std::size_t(i)]);
    if (value > most)
      refuse_image(path, "value ", i, " is ", value, ", above the largest that its header allows, ",
                   most, ": fetch it again");
    picture.pixels.push_back(std::uint8_t((value * 255 + most / 2) / most));
  }
  return picture;
}

}  // namespace weft::data
