#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace weft::data {

/// A fresh folder for files of images, which goes with it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = testing::TempDir() + "weft-images-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~ScratchFolder() { std::filesystem::remove_all(folder_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  /// Writes a file, in folders that it makes, and gives its path.
  std::string write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }
  std::string path() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

/// Four bytes, the highest first.
inline std::string big_endian(std::uint32_t number) {
  return {char(number >> 24), char(number >> 16), char(number >> 8), char(number)};
}

/// An IDX file of images; value i of all of them is value(i).
template <class Value>
std::string idx_images(std::uint32_t count, std::uint32_t rows, std::uint32_t columns,
                       Value value) {
  std::string bytes =
      big_endian(0x803) + big_endian(count) + big_endian(rows) + big_endian(columns);
  for (std::uint32_t i = 0; i < count * rows * columns; ++i) bytes += char(value(i));
  return bytes;
}

inline std::string idx_labels(const std::vector<int>& labels) {
  std::string bytes = big_endian(0x801) + big_endian(std::uint32_t(labels.size()));
  for (const int label : labels) bytes += char(label);
  return bytes;
}

/// A record of a CIFAR-10 file: plane c has value 10 c + i % 7 at place i.
inline std::string cifar_record(int label) {
  std::string bytes(1, char(label));
  for (int c = 0; c < 3; ++c)
    for (int i = 0; i < 1024; ++i) bytes += char(10 * c + i % 7);
  return bytes;
}

inline std::string pgm(int rows, int columns, int value) {
  return "P5\n# a comment\n" + std::to_string(columns) + " " + std::to_string(rows) + "\n255\n" +
         std::string(std::size_t(rows * columns), char(value));
}

}  // namespace weft::data
