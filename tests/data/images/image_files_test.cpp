#include "data/images/image_files.h"

#include <zlib.h>

#include "data/images/idx_file.h"
#include "data/images/png_file.h"
#include "tests/data/images/image_bytes.h"
#include "tests/data/refusal.h"

namespace weft::data::image_files_test {
namespace {

const auto counting = [](std::uint32_t i) { return i % 251; };

/// Writes a file compressed with gzip.
std::string write_gz(const ScratchFolder& folder, const std::string& name,
                     const std::string& bytes) {
  const std::string path = folder.path() + "/" + name;
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), unsigned(bytes.size()));
  gzclose(file);
  return path;
}

void expect_refused(const std::string& path, const std::vector<std::string>& parts) {
  const core::Error error = refusal_of([&] { read_images(path); });
  for (const std::string& part : parts) expect_says(error, core::Fault::data, part);
}

TEST(ImageFiles, read_idx_plain_and_compressed_alike) {
  const ScratchFolder folder;
  const std::string bytes = idx_images(5, 2, 3, counting);
  for (const std::string& path :
       {folder.write("images-idx3-ubyte", bytes), write_gz(folder, "images.gz", bytes)}) {
    const PictureSet set = read_images(path);
    EXPECT_EQ(set.count, 5);
    EXPECT_EQ(set.form, (core::ImageForm{.rows = 2, .columns = 3}));
    ASSERT_EQ(set.pixels.size(), 30u);
    EXPECT_EQ(set.pixels[29], 29);
    EXPECT_TRUE(set.labels.empty());
  }
}

TEST(ImageFiles, say_where_an_idx_file_is_cut_off) {
  const ScratchFolder folder;
  const std::string bytes = idx_images(5, 2, 3, counting);
  expect_refused(folder.write("cut", bytes.substr(0, 16 + 3 * 6 + 2)),
                 {"inside image 3 (counted from 0) of the 5", "fetch it again"});
  expect_refused(folder.write("head", bytes.substr(0, 10)),
                 {"inside its header", "number of rows"});
  expect_refused(write_gz(folder, "cut.gz", bytes.substr(0, 20)), {"inside image 0"});
  const std::string whole = write_gz(folder, "whole.gz", idx_images(4000, 2, 3, counting));
  std::filesystem::resize_file(whole, std::filesystem::file_size(whole) / 2);
  expect_refused(whole, {"whole.gz", "fetch it again"});
  expect_refused(folder.write("long", bytes + "x"), {"goes on after the 5 images"});
}

TEST(ImageFiles, name_the_magic_number_that_is_wrong) {
  const ScratchFolder folder;
  std::string bytes = idx_images(1, 2, 2, counting);
  bytes[3] = 4;
  expect_refused(folder.write("wrong", bytes), {"0x00000804", "0x00000803"});
  expect_refused(folder.write("labels", idx_labels({1, 2, 3})),
                 {"is an IDX file of labels", "exchange"});
  const std::string images = folder.write("images", idx_images(1, 2, 2, counting));
  expect_says(refusal_of([&] { read_idx_labels(images); }), core::Fault::data,
              "is an IDX file of images");
  expect_refused(folder.write("notes.md", "# just some text"), {"is no image file", "IDX"});
  expect_refused(folder.write("empty", ""), {"is no image file"});
}

TEST(ImageFiles, hold_no_more_than_a_file_whatever_its_header_claims) {
  const ScratchFolder folder;
  const std::string huge = big_endian(0x803) + big_endian(0xffffffff) + big_endian(0x7fff) +
                           big_endian(0xffff) + std::string(100, 'x');
  expect_refused(folder.write("huge", huge), {"inside image 0 (counted from 0)"});
  const std::string overflow =
      big_endian(0x803) + big_endian(0xffffffff) + big_endian(0xffffffff) + big_endian(0xffffffff);
  expect_refused(folder.write("overflow", overflow), {"more than any file holds"});
  expect_refused(folder.write("none", idx_images(0, 2, 3, counting)), {"announces 0 images"});
  expect_refused(folder.write("a.pgm", "P5 1000000 1000000 255\nxyz"), {"announces 1000000000000"});
  expect_refused(folder.write("b.pgm", "P5 99999999999999999999 1 255\n"), {"the width"});
  expect_refused(folder.write("c.pgm", "P5 0 4 255\n"), {"0"});
  std::string png = encode_png({.rows = 2, .columns = 2, .pixels = {1, 2, 3, 4}});
  png.replace(16, 8, big_endian(900000) + big_endian(900000));  // width and height of the header
  expect_refused(folder.write("d.png", png), {"d.png"});
}

TEST(ImageFiles, that_unpack_to_far_more_than_their_size_are_refused) {
  const ScratchFolder folder;
  const std::string zeros(std::size_t(1) << 26, '\0');
  const std::string idx = big_endian(0x803) + big_endian(1 << 16) + big_endian(32) + big_endian(32);
  expect_refused(write_gz(folder, "images.gz", idx + zeros), {"images.gz", "unpacks to more than"});
  const std::string head = encode_png({.rows = 1, .columns = 8000, .pixels = Pixels(8000)});
  std::string png = head;
  png.replace(20, 4, big_endian(8000));  // the height
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(png.data()) + 12, 17);
  png.replace(29, 4, big_endian(std::uint32_t(sum)));
  expect_refused(folder.write("tall.png", png), {"tall.png", "8000 x 8000 pixels, more than"});
}

TEST(ImageFiles, read_cifar_with_its_classes_and_the_values_of_a_pixel_together) {
  const ScratchFolder folder;
  folder.write("data_batch_2.bin", cifar_record(9));
  folder.write("data_batch_1.bin", cifar_record(3) + cifar_record(0));
  const PictureSet set = read_images(folder.path() + "/data_batch_*.bin");
  EXPECT_EQ(set.count, 3);
  EXPECT_EQ(set.form, (core::ImageForm{.rows = 32, .columns = 32, .channels = 3}));
  EXPECT_EQ(set.labels, (std::vector<std::uint8_t>{3, 0, 9}));
  EXPECT_EQ(Pixels(set.pixels.begin() + 6, set.pixels.begin() + 12),
            (Pixels{2, 12, 22, 3, 13, 23}));
  expect_refused(folder.write("cut.bin", cifar_record(1) + cifar_record(2).substr(0, 99)),
                 {"inside record 1 (counted from 0)", "99 of 3073"});
  expect_refused(folder.write("class.bin", cifar_record(10)), {"record 0", "class"});
  expect_refused(folder.write("empty.bin", ""), {"is empty"});
  expect_refused(folder.path() + "/nothing_*.bin", {"matches no file"});
}

TEST(ImageFiles, read_pgm_and_ppm_in_bytes_and_in_digits) {
  const ScratchFolder folder;
  const PictureSet grey = read_images(folder.write("grey.pgm", pgm(2, 3, 77)));
  EXPECT_EQ(grey.form, (core::ImageForm{.rows = 2, .columns = 3}));
  EXPECT_EQ(grey.pixels, Pixels(6, 77));
  const PictureSet digits =
      read_images(folder.write("d.ppm", "P3\n2 1 # wide\n15\n0 15 5\n1 2 3\n"));
  EXPECT_EQ(digits.form, (core::ImageForm{.rows = 1, .columns = 2, .channels = 3}));
  EXPECT_EQ(digits.pixels, (Pixels{0, 255, 85, 17, 34, 51}));
  EXPECT_EQ(read_images(folder.write("c.ppm", "P6 1 1 255\nabc")).pixels, (Pixels{'a', 'b', 'c'}));
  expect_refused(folder.write("cut.pgm", pgm(2, 3, 7).substr(0, 27)), {"announces 6 values"});
  expect_refused(folder.write("deep.pgm", "P5 1 1 65535\n12"), {"the largest value"});
  expect_refused(folder.write("high.pgm", "P2 3 1 9\n1 2 10"), {"a value", "9"});
  expect_refused(folder.write("bits.pbm", "P4 8 1\nx"), {"P2, P3, P5 or P6"});
}

TEST(ImageFiles, read_the_png_that_they_write) {
  const ScratchFolder folder;
  const Picture grey{.rows = 2, .columns = 3, .pixels = {0, 1, 127, 128, 254, 255}};
  const Picture colour{.rows = 1, .columns = 2, .channels = 3, .pixels = {0, 10, 20, 250, 128, 3}};
  for (const Picture& picture : {grey, colour}) {
    const Picture back = read_png(folder.write("a.png", encode_png(picture)));
    EXPECT_EQ(back.rows, picture.rows);
    EXPECT_EQ(back.columns, picture.columns);
    EXPECT_EQ(back.channels, picture.channels);
    EXPECT_EQ(back.pixels, picture.pixels);
  }
  const std::string whole = encode_png(colour);
  expect_refused(folder.write("cut.png", whole.substr(0, whole.size() - 20)),
                 {"cut.png", "no readable PNG"});
}

TEST(ImageFiles, take_the_images_of_a_folder_in_the_order_of_their_names) {
  const ScratchFolder folder;
  folder.write("b.pgm", pgm(2, 2, 20));
  folder.write("a.png", encode_png({.rows = 2, .columns = 2, .pixels = Pixels(4, 10)}));
  folder.write("readme.txt", "left out");
  const PictureSet set = read_images(folder.path());
  EXPECT_EQ(set.count, 2);
  EXPECT_EQ(set.pixels, (Pixels{10, 10, 10, 10, 20, 20, 20, 20}));
  folder.write("c.pgm", pgm(2, 3, 30));
  expect_refused(folder.path(), {"c.pgm", "2 x 3", "2 x 2", "one size"});
}

TEST(ImageFiles, take_folders_of_folders_as_classes) {
  const ScratchFolder folder;
  folder.write("set/dog/1.pgm", pgm(1, 1, 5));
  folder.write("set/cat/1.pgm", pgm(1, 1, 6));
  folder.write("set/cat/2.pgm", pgm(1, 1, 7));
  const std::string path = folder.path() + "/set";
  const PictureSet set = read_images(path);
  EXPECT_EQ(set.class_names, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(set.labels, (std::vector<std::uint8_t>{0, 0, 1}));
  EXPECT_EQ(set.pixels, (Pixels{6, 7, 5}));
  folder.write("set/loose.pgm", pgm(1, 1, 8));
  expect_refused(path, {"both images and folders"});
  folder.write("none/a/readme.txt", "x");
  expect_refused(folder.path() + "/none", {"holds no PNG"});
}

TEST(ImageFiles, name_the_command_that_installs_a_missing_dataset) {
  expect_refused("/usr/share/datasets/not-there/train.gz",
                 {"sudo apt-get install dataset-not-there"});
  expect_refused("not-there.png", {"does not exist", "correct the path"});
}

}  // namespace
}  // namespace weft::data::image_files_test
