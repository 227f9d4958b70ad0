#include "data/images/image_files.h"

#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "data/images/byte_source.h"
#include "data/images/cifar_file.h"
#include "data/images/idx_file.h"
#include "data/images/netpbm_file.h"
#include "data/images/png_file.h"

namespace weft::data {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_classes = 256;  // a label is a byte

enum class Format { idx, cifar, netpbm, png };

std::vector<std::uint8_t> first_bytes(const std::string& path) {
  std::vector<std::uint8_t> bytes;
  ByteSource(path).append(4, bytes);
  return bytes;
}

/// Nothing for a file of another format.
std::optional<Format> format_of(const std::string& path) {
  if (path.ends_with(".bin") || path.ends_with(".bin.gz")) return Format::cifar;
  const std::vector<std::uint8_t> first = first_bytes(path);
  if (first.size() < 4) return {};
  if (first[0] == 0 && first[1] == 0) return Format::idx;
  if (first[0] == 'P' && first[1] >= '1' && first[1] <= '7') return Format::netpbm;
  if (first[0] == 0x89 && first[1] == 'P' && first[2] == 'N' && first[3] == 'G') return Format::png;
  return {};
}

PictureSet as_set(Picture picture) {
  return {.form = {picture.rows, picture.columns, picture.channels},
          .count = 1,
          .pixels = std::move(picture.pixels)};
}

PictureSet read_file(const std::string& path) {
  const auto format = format_of(path);
  if (!format)
    refuse_image(path,
                 "is no image file that weft reads: name IDX (also .gz), CIFAR-10 (.bin), "
                 "PNG, PGM or PPM");
  switch (*format) {
    case Format::idx:
      return read_idx_images(path);
    case Format::cifar:
      return read_cifar(path);
    case Format::netpbm:
      return as_set(read_netpbm(path));
    case Format::png:
      break;
  }
  return as_set(read_png(path));
}

std::string size_of(const core::ImageForm& form) {
  return core::message_of(form.rows, " x ", form.columns,
                          form.channels == 1 ? " grey" : " red-green-blue");
}

/// Adds the images of one more file. `first` is the file that the images so far came from.
void append(PictureSet& all, PictureSet more, const std::string& path, const std::string& first) {
  if (all.count == 0) {
    all = std::move(more);
    return;
  }
  if (!(all.form == more.form))
    refuse_image(path, "holds ", size_of(more.form), " values, but '", first, "' ",
                 size_of(all.form), ": bring all images to one size, or remove it");
  if (all.labels.empty() != more.labels.empty())
    refuse_image(path, "and '", first,
                 "': one has classes and the other has none: name one kind "
                 "of file");
  all.count += more.count;
  all.pixels.insert(all.pixels.end(), more.pixels.begin(), more.pixels.end());
  all.labels.insert(all.labels.end(), more.labels.begin(), more.labels.end());
}

/// The entries of a folder by name: files or folders.
std::vector<std::string> entries_of(const std::string& folder, bool folders) {
  std::vector<std::string> found;
  std::error_code fault;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, fault))
    if (entry.is_directory() == folders && !entry.path().filename().string().starts_with('.'))
      found.push_back(entry.path().string());
  if (fault) refuse_image(folder, "cannot be listed: ", fault.message());
  std::ranges::sort(found);
  return found;
}

/// The single images of a folder; other files, such as a readme, are left out.
PictureSet read_folder(const std::string& folder, std::string& first) {
  PictureSet all;
  for (const std::string& path : entries_of(folder, false)) {
    const auto format = format_of(path);
    if (format != Format::png && format != Format::netpbm) continue;
    if (first.empty()) first = path;
    append(all, read_file(path), path, first);
  }
  return all;
}

PictureSet read_folders(const std::string& folder, const std::vector<std::string>& classes) {
  if (classes.size() > most_classes)
    refuse_image(folder, "holds ", classes.size(), " folders, but at most ", most_classes,
                 " classes can be told apart");
  PictureSet all;
  std::string first;
  std::vector<std::string> names;
  for (const std::string& path : classes) {
    PictureSet own = read_folder(path, first);
    if (own.count == 0)
      refuse_image(path, "holds no PNG, PGM or PPM file: remove it, or add images of its class");
    own.labels.assign(std::size_t(own.count), std::uint8_t(names.size()));
    names.push_back(fs::path(path).filename().string());
    append(all, std::move(own), path, first);
  }
  all.class_names = std::move(names);
  return all;
}

std::vector<std::string> matches_of(const std::string& pattern) {
  ::glob_t found{};
  const int fault = ::glob(pattern.c_str(), 0, nullptr, &found);
  const std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (fault != 0 || paths.empty())
    refuse_image(pattern, "matches no file: correct the pattern, or fetch the files");
  return paths;
}

}  // namespace

PictureSet read_images(const std::string& path) {
  std::error_code ignored;
  if (path.find_first_of("*?") != std::string::npos) {
    PictureSet all;
    const std::vector<std::string> paths = matches_of(path);
    for (const std::string& file : paths) append(all, read_file(file), file, paths.front());
    return all;
  }
  if (!fs::exists(path, ignored)) refuse_missing(path);
  if (!fs::is_directory(path, ignored)) return read_file(path);
  std::string first;
  PictureSet single = read_folder(path, first);
  const std::vector<std::string> folders = entries_of(path, true);
  if (single.count > 0 && !folders.empty())
    refuse_image(path,
                 "holds both images and folders: keep either images, or a folder for each "
                 "class");
  if (single.count > 0) return single;
  if (folders.empty())
    refuse_image(path, "is a folder without a PNG, PGM or PPM file: name one that holds images");
  return read_folders(path, folders);
}

}  // namespace weft::data
