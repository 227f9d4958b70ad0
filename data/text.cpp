#include "data/text.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "data/fingerprint.h"
#include "data/text_file.h"
#include "data/windows.h"

namespace weft::data {

Text::Text(const TextSettings& settings, Index length, Index batch, std::uint64_t seed)
    : length_(length),
      batch_(batch),
      crops_(settings.sampling == "crops"),
      places_(core::Rng(seed).fold("text crops")) {
  core::require(crops_ || settings.sampling == "streams",
                "data.sampling must be crops or streams, got '", settings.sampling, "'");
  load(settings);
  check_training_length(settings);
}

/// Reads the files and makes the splits: one file by fractions, or a file for each split.
void Text::load(const TextSettings& settings) {
  core::require(settings.units == "bytes" || settings.units == "characters",
                "data.units must be bytes or characters, got '", settings.units, "'");
  const std::array paths{settings.train_path, settings.validation_path, settings.test_path};
  const bool by_fractions = std::ranges::all_of(paths, &std::string::empty);
  core::require(by_fractions != settings.path.empty(),
                "data: give either data.path or data.train_path and its siblings");
  std::vector<TextFile> contents;
  if (by_fractions) contents.push_back(read_text_file(settings.path));
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (paths[i].empty()) continue;
    parts_[i].file = Index(contents.size());
    contents.push_back(read_text_file(paths[i]));
  }

  if (settings.units == "characters") alphabet_ = alphabet_of(contents);
  std::string identity = core::message_of("text units=", settings.units,
                                          " sampling=", settings.sampling, " length=", length_);
  for (TextFile& file : contents) {
    files_.push_back(alphabet_ ? characters_of(file, *alphabet_) : bytes_of(file));
    identity += " file=" + fingerprint_of(file.bytes);
    file.bytes = {};
  }
  if (by_fractions) {
    divide(settings.fractions);
  } else {
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (!paths[i].empty()) parts_[i].size = files_[std::size_t(parts_[i].file)].size();
    }
  }
  for (const Part& part : parts_)
    identity += core::message_of(" part=", part.begin, "+", part.size);
  fingerprint_ = fingerprint_of(identity);
}

/// Gives the splits their shares of the one file, in order; a boundary rounds down.
void Text::divide(const std::vector<double>& fractions) {
  core::require(fractions.size() == 3,
                "data.fractions needs three numbers: training, validation, test");
  const Index whole = files_[0].size();
  double share = 0;
  Index begin = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    core::require(fractions[i] >= 0, "data.fractions must not be negative, got ", fractions[i]);
    share += fractions[i];
    const Index end = Index(std::floor(share * double(whole) * (1 + 1e-12)));
    core::require(end <= whole, "data.fractions must not add up to more than 1");
    parts_[i] = {.file = 0, .begin = begin, .size = end - begin};
    begin = end;
  }
}

void Text::check_training_length(const TextSettings& settings) const {
  const Index size = part(Split::training).size;
  const std::string& path = settings.train_path.empty() ? settings.path : settings.train_path;
  const std::string origin = core::message_of("the training split of '", path, "' holds ", size,
                                              " ", unit(), size == 1 ? "" : "s");
  if (size < length_ + 1) {
    throw core::Error(core::Fault::data,
                      core::message_of(origin, ", but a sequence needs data.length + 1 = ",
                                       length_ + 1, ": lower data.length, or use a longer text"));
  }
  if (!crops_ && (size - 1) / batch_ < length_) {
    throw core::Error(
        core::Fault::data,
        core::message_of(origin, ", but ", batch_, " streams of one sequence each need ",
                         batch_ * length_ + 1,
                         ": lower train.batch or data.length, or set data.sampling=crops"));
  }
}

Index Text::vocabulary() const { return alphabet_ ? alphabet_->size() : 256; }

/// Copies the predictions begin .. end - 1 of a part into a row, scored from `scored_from` on.
void Text::fill(BatchRows& rows, Index row, const Part& part, Index begin, Index end,
                Index scored_from) const {
  const PackedTokens& tokens = files_[std::size_t(part.file)];
  const auto count = std::size_t(end - begin), unscored = std::size_t(scored_from - begin);
  tokens.read(part.begin + begin, rows.inputs(row).first(count));
  tokens.read(part.begin + scored_from + 1, rows.targets(row).subspan(unscored, count - unscored));
}

/// Where row `row` of batch `number` reads: the rows are streams of equal length, cut into segments
/// of T; what is left over at a stream's end is not read, and the next batch begins again.
Index Text::streams_begin(Index number, Index row) const {
  const Index stream = (part(Split::training).size - 1) / batch_;
  return row * stream + number % stream_segments() * length_;
}

Index Text::stream_segments() const { return (part(Split::training).size - 1) / batch_ / length_; }

Batch Text::training(Index number) const {
  core::require(number >= 0, "data: training batch ", number, " does not exist");
  const Part& text = part(Split::training);
  BatchRows rows(batch_, length_);
  for (Index row = 0; row < batch_; ++row) {
    const Index sequence = number * batch_ + row;
    const Index begin = crops_ ? places_.below(std::uint64_t(sequence), text.size - length_)
                               : streams_begin(number, row);
    fill(rows, row, text, begin, begin + length_, begin);
  }
  Batch batch = std::move(rows).finish();
  batch.continues = !crops_ && number % stream_segments() > 0;
  return batch;
}

const Text::Part& Text::part_to_score(Split split) const {
  const Part& found = part(split);
  if (found.size >= 2) return found;
  throw core::Error(core::Fault::data,
                    core::message_of("the ", name_of(split), " split holds ", found.size, " ",
                                     unit(), found.size == 1 ? "" : "s",
                                     ", too little to score: give it a larger share in "
                                     "data.fractions, or a file of its own in data.",
                                     name_of(split), "_path"));
}

Index Text::evaluation_batches(Split split, Index stride) const {
  const Windows windows(part_to_score(split).size - 1, length_, stride);
  return (windows.count() + batch_ - 1) / batch_;
}

Batch Text::evaluation(Split split, Index number, Index stride) const {
  core::require(number >= 0 && number < evaluation_batches(split, stride), "data: ", name_of(split),
                " batch ", number, " does not exist");
  const Part& text = part_to_score(split);
  const Windows windows(text.size - 1, length_, stride);
  // Windows that touch are streams, one in each row, where training reads streams.
  const bool streams = !crops_ && stride == length_;
  const Index in_row = streams ? evaluation_batches(split, stride) : 1;
  BatchRows rows(batch_, length_);
  for (Index row = 0; row < batch_; ++row) {
    const Index i = streams ? row * in_row + number : number * batch_ + row;
    if (i >= windows.count()) break;
    fill(rows, row, text, windows[i].begin, windows[i].end, windows[i].scored_from);
  }
  Batch batch = std::move(rows).finish();
  batch.continues = streams && number > 0;
  return batch;
}

std::vector<Token> Text::encode(std::string_view text) const {
  if (alphabet_) return alphabet_->encode(text);
  std::vector<Token> tokens;
  for (const char byte : text) tokens.push_back(std::uint8_t(byte));
  return tokens;
}

std::string Text::decode(std::span<const Token> tokens) const {
  if (alphabet_) return alphabet_->decode(tokens);
  std::string text;
  for (const Token token : tokens) {
    core::require(token >= 0 && token < 256, "token ", token, " is not a byte");
    text += char(token);
  }
  return text;
}

}  // namespace weft::data
