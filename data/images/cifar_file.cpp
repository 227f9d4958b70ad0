#include "data/images/cifar_file.h"

#include "data/images/byte_source.h"

namespace weft::data {
namespace {

constexpr Index side = 32, plane = side * side, record = 1 + 3 * plane, classes = 10;

}  // namespace

PictureSet read_cifar(const std::string& path) {
  ByteSource source(path);
  PictureSet set{.form = {.rows = side, .columns = side, .channels = 3}};
  std::vector<std::uint8_t> bytes;
  for (Index got; (bytes.clear(), got = source.append(record, bytes)) > 0; ++set.count) {
    if (got < record)
      refuse_image(path, "ends inside record ", set.count, " (counted from 0): ", got, " of ",
                   record, " bytes; it is cut off, or no CIFAR-10 binary file: fetch it again");
    if (bytes[0] >= classes)
      refuse_image(path, "record ", set.count, " (counted from 0) has the class ", bytes[0],
                   ", but CIFAR-10 has 0 .. 9: name a file of the binary version of CIFAR-10");
    set.labels.push_back(bytes[0]);
    for (Index i = 0; i < plane; ++i)
      for (Index channel = 0; channel < 3; ++channel)
        set.pixels.push_back(bytes[std::size_t(1 + channel * plane + i)]);
  }
  if (set.count == 0) refuse_image(path, "is empty: name a CIFAR-10 binary file");
  return set;
}

}  // namespace weft::data
