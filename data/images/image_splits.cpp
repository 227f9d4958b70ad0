#include "data/images/image_splits.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "data/fingerprint.h"
#include "data/images/byte_source.h"
#include "data/images/idx_file.h"
#include "data/images/image_files.h"
#include "data/shuffle.h"

namespace weft::data {
namespace {

/// The usual number of images held out of training: 2,000 images of CIFAR-10, 5,000 of MNIST and
/// its like; of few images a tenth.
Index default_held_out(const PictureSet& training) {
  const Index usual = training.form.channels == 3 ? 2000 : 5000;
  return std::clamp<Index>(training.count / 10, 1, usual);
}

/// Gives the images of `path` the labels of a file of their own, if there is one.
void add_labels(PictureSet& images, const std::string& path, const std::string& labels_path) {
  if (labels_path.empty()) return;
  if (!images.labels.empty())
    refuse_image(path, "has its own classes: leave out the path of labels, '", labels_path, "'");
  images.labels = read_idx_labels(labels_path);
  if (Index(images.labels.size()) != images.count)
    refuse_image(labels_path, "holds ", images.labels.size(), " labels, but '", path, "' ",
                 images.count, " images: name the labels of these images");
}

PictureSet load(const std::string& path, const std::string& labels_path,
                const ImagesSettings& settings) {
  PictureSet images = read_images(path);
  if (settings.classifies()) {
    add_labels(images, path, labels_path);
    if (images.labels.empty())
      refuse_image(path,
                   "holds no classes: name an IDX file of labels beside it in "
                   "data.labels_path (data.validation_labels_path, data.test_labels_path), "
                   "or sort images into a folder for each class");
  }
  return reduce(std::move(images), settings.reduction, path);
}

std::string_view bytes_of(const Pixels& pixels, std::size_t begin, std::size_t size) {
  return {reinterpret_cast<const char*>(pixels.data()) + begin, size};
}

/// Appends image `number` of one set to another.
void copy_image(const PictureSet& from, Index number, PictureSet& to) {
  const Index size = from.form.values();
  const auto begin = from.pixels.begin() + number * size;
  to.form = from.form;
  to.class_names = from.class_names;
  to.pixels.insert(to.pixels.end(), begin, begin + size);
  if (!from.labels.empty()) to.labels.push_back(from.labels[std::size_t(number)]);
  ++to.count;
}

}  // namespace

void ImagesSettings::fields(core::Fields& fields) {
  fields.choice("form", form,
                "language: an image is a sequence of values, each predicted from those before it; "
                "classify: an image has a class",
                {{"language", ImagesForm::language}, {"classify", ImagesForm::classify}});
  files.list_paths(fields,
                   "images to be divided into splits by fractions: an IDX file (also .gz), a "
                   "CIFAR-10 .bin, a PNG, PGM or PPM, a folder of those or of a folder for each "
                   "class, or a pattern with * that names several files");
  fields.when("form", {"classify"}, [&] {
    fields.text("labels_path", labels_path, "an IDX file with the classes of path or train_path");
    fields.text("validation_labels_path", validation_labels_path, "the classes of validation_path");
    fields.text("test_labels_path", test_labels_path, "the classes of test_path");
  });
  fields.choice("colour", reduction.colour, "as_is, or grey: one value for each pixel",
                {{"as_is", Colour::as_is}, {"grey", Colour::grey}});
  fields.integer("shrink", reduction.shrink, "s: every s x s block of pixels becomes its mean",
                 core::between(1, 1024));
  fields.integer("levels", reduction.levels, "levels of a value", core::between(2, 256));
  files.check_paths(fields, "a file or folder of images");
  fields.when(files.divided(), "one data.path for all splits",
              [&] { files.list_fractions(fields, "in random order"); });
  fields.when(!files.divided() && files.validation_path.empty(),
              "data.train_path without data.validation_path", [&] {
                fields.integer("held_out", held_out,
                               "how many of the last training images to validate on; 0: 5,000 grey "
                               "or 2,000 coloured ones, at most a tenth",
                               core::at_least(0));
              });
}

ImageSplits::ImageSplits(const ImagesSettings& settings) {
  const SplitFiles& files = settings.files;
  files.require_one_way();
  if (files.divided()) {
    divide(load(files.path, settings.labels_path, settings), files.fractions);
  } else {
    const auto paths = files.split_paths();
    const std::array labels = {settings.labels_path, settings.validation_labels_path,
                               settings.test_labels_path};
    for (std::size_t i = 0; i < paths.size(); ++i)
      if (!paths[i].empty()) sets_[i] = load(paths[i], labels[i], settings);
    if (files.validation_path.empty()) hold_out(settings.held_out, files.train_path);
  }
  const ImageReduction& reduction = settings.reduction;
  finish(core::message_of("images shrink=", reduction.shrink, " levels=", reduction.levels,
                          reduction.colour == Colour::grey ? " grey" : "",
                          settings.classifies() ? " classify" : ""));
}

ImageSplits::ImageSplits(std::array<PictureSet, 3> splits, const std::string& identity)
    : sets_(std::move(splits)) {
  finish(identity);
}

void ImageSplits::divide(const PictureSet& all, const std::vector<double>& fractions) {
  core::require(fractions.size() == 3,
                "data.fractions needs three numbers: training, validation, test");
  const auto size = std::size_t(all.form.values());
  std::map<std::string_view, Index> place;  // of an image among the different ones
  for (std::size_t i = 0; i < std::size_t(all.count); ++i)
    place.try_emplace(bytes_of(all.pixels, i * size, size), Index(place.size()));
  const auto different = Index(place.size());
  const Shuffle order(different, core::Rng(0).fold("image splits"));
  for (Index i = 0; i < all.count; ++i) {
    const Index own = place.at(bytes_of(all.pixels, std::size_t(i) * size, size));
    const double share = (double(order[own]) + 0.5) / double(different);
    double end = 0;
    for (std::size_t split = 0; split < sets_.size(); ++split) {
      end += fractions[split];
      if (share >= end) continue;
      copy_image(all, i, sets_[split]);
      break;
    }
  }
}

void ImageSplits::hold_out(Index held_out, const std::string& path) {
  PictureSet& training = sets_[std::size_t(Split::training)];
  if (held_out == 0) held_out = default_held_out(training);
  if (held_out >= training.count)
    refuse_image(path, "holds ", training.count, " images, but data.held_out takes ", held_out,
                 " of them to validate on: lower it, or name data.validation_path");
  const Index left = training.count - held_out;
  for (Index i = left; i < training.count; ++i)
    copy_image(training, i, sets_[std::size_t(Split::validation)]);
  training.count = left;
  training.pixels.resize(std::size_t(left * training.form.values()));
  if (!training.labels.empty()) training.labels.resize(std::size_t(left));
}

void ImageSplits::finish(const std::string& identity) {
  const PictureSet& training = set(Split::training);
  if (training.count == 0)
    throw core::Error(core::Fault::data,
                      "the training split holds no image: give it a larger share in "
                      "data.fractions, or more images");
  form_ = training.form;
  class_names_ = training.class_names;
  Index classes = Index(class_names_.size());
  if (class_names_.empty() && !training.labels.empty()) {
    classes = 1 + *std::ranges::max_element(training.labels);
    for (Index i = 0; i < classes; ++i) class_names_.push_back(std::to_string(i));
  }
  std::string all = identity;
  for (const Split split : {Split::training, Split::validation, Split::test}) {
    const PictureSet& own = set(split);
    if (own.count > 0 && !(own.form == form_))
      throw core::Error(
          core::Fault::data,
          core::message_of("the ", name_of(split), " split has images of ", own.form.rows, " x ",
                           own.form.columns, " x ", own.form.channels, ", training of ", form_.rows,
                           " x ", form_.columns, " x ", form_.channels,
                           ": bring them to one size"));
    for (std::size_t i = 0; i < own.labels.size(); ++i)
      if (own.labels[i] >= classes || own.class_names != training.class_names)
        throw core::Error(core::Fault::data,
                          core::message_of("image ", i, " of the ", name_of(split),
                                           " split has a class that no image of training has: "
                                           "correct its label, or remove it"));
    all += core::message_of("\n", name_of(split), " ", own.count, " ",
                            fingerprint_of(bytes_of(own.pixels, 0, own.pixels.size())), " ",
                            fingerprint_of(bytes_of(own.labels, 0, own.labels.size())));
  }
  fingerprint_ = fingerprint_of(
      core::message_of(all, "\n", form_.rows, " ", form_.columns, " ", form_.channels));
}

void ImageSplits::require_length(Index length) const {
  core::require(length == form_.values(), "data.length is ", length, ", but images of ", form_.rows,
                " x ", form_.columns, " x ", form_.channels, " have ", form_.values(),
                " values: set data.length = ", form_.values());
}

Index ImageSplits::scored(Split split) const {
  if (count(split) == 0)
    throw core::Error(core::Fault::data,
                      core::message_of("the ", name_of(split),
                                       " split holds no image: give it a larger share in "
                                       "data.fractions, or separate files in data.",
                                       name_of(split), "_path"));
  return count(split);
}

std::span<const std::uint8_t> ImageSplits::image(Split split, Index number) const {
  const auto size = std::size_t(form_.values());
  return std::span(set(split).pixels).subspan(std::size_t(number) * size, size);
}

Index ImageSplits::shuffled(Index place, std::uint64_t seed) const {
  const Index images = count(Split::training);
  const core::Rng orders = core::Rng(seed).fold("image order");
  return Shuffle(images, orders.fold(std::uint64_t(place / images)))[place % images];
}

}  // namespace weft::data
