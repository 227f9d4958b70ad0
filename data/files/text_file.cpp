#include "data/files/text_file.h"

#include <algorithm>

#include "core/error.h"
#include "data/files/byte_stream.h"

namespace weft::data {

TextFile read_text_file(const std::string& path) {
  ByteStream stream(path);
  TextFile file{path, {}};
  constexpr std::size_t piece = std::size_t(1) << 20;
  std::size_t size = 0;
  while (true) {
    const std::size_t room =
        size == 0 ? std::max(std::size_t(stream.size()) + 1, piece) : std::max(piece, size / 2);
    file.bytes.resize(size + room);
    const std::size_t got = stream.read({file.bytes.data() + size, room});
    size += got;
    if (got < room) break;
  }
  file.bytes.resize(size);
  if (size == 0)
    throw core::Error(core::Fault::data, "'" + path + "' is empty: name a file that holds text");
  return file;
}

}  // namespace weft::data
