#include "data/text/text.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "data/choice_names.h"
#include "data/files/text_paths.h"
#include "data/fingerprint.h"
#include "data/text/document_text.h"
#include "data/text/prepared_text.h"
#include "data/windows.h"

namespace weft::data {

namespace {

/// Adds to `remarks` how many files a folder or a pattern stands for.
TextDivision division_of(const TextSettings& settings, std::vector<std::string>& remarks) {
  settings.files.require_one_way();
  auto given = settings.files.split_paths();
  if (settings.files.divided()) given[0] = settings.files.path;
  TextDivision division{.paths = {}, .units = settings.units, .known = settings.known};
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i].empty()) continue;
    TextPaths found = text_paths(given[i]);
    if (found.left_out > 0 || found.files.size() > 1)
      remarks.push_back(core::message_of("'", given[i], "': ", found.files.size(), " files, and ",
                                         found.left_out,
                                         " that are empty or no text and were left out"));
    division.paths[i] = std::move(found.files);
  }
  if (settings.files.divided()) division.fractions = settings.files.fractions;
  return division;
}

DocumentRule::Form form_of(TextSettings::Documents documents) {
  using Documents = TextSettings::Documents;
  return documents == Documents::lines   ? DocumentRule::Form::lines
         : documents == Documents::blank ? DocumentRule::Form::blank
                                         : DocumentRule::Form::files;
}

}  // namespace

std::string_view name_of(TextSettings::Documents documents) {
  using Documents = TextSettings::Documents;
  return documents == Documents::none    ? "none"
         : documents == Documents::files ? "files"
         : documents == Documents::lines ? "lines"
                                         : "blank";
}

std::string_view name_of(TextSettings::Sampling sampling) {
  return sampling == TextSettings::Sampling::crops ? "crops" : "streams";
}

void TextSettings::fields(core::Fields& fields) {
  files.list_paths(
      fields,
      "a file, a folder, a pattern or several of these with commas, also compressed, "
      "divided into splits by fractions; or FILE.h5 of weft data prepare, which has its "
      "own units and splits");
  units.text_fields(fields, prepared());
  list_documents(fields);
  fields.choice("sampling", sampling,
                "crops: every sequence starts at a random position; streams: the rows of a batch "
                "continue those of the batch before",
                named({Sampling::crops, Sampling::streams}));
  hidden.fields(fields);
  if (hidden.chosen() && sampling != Sampling::crops)
    fields.problem("sampling",
                   "hidden tokens are those of crops: \"crops\", or data.masking = \"none\"");
  for (const auto& [key, own] : {std::pair{"train_path", &files.train_path},
                                 {"validation_path", &files.validation_path},
                                 {"test_path", &files.test_path}})
    if (own->ends_with(".h5"))
      fields.problem(key, "is a prepared text, which has its own splits: name it in data.path");
  files.check_paths(fields, "a text file");
  fields.when(files.divided() && !prepared(), "one text file in data.path, not prepared (.h5)",
              [&] {
                files.list_fractions(fields,
                                     "in file order, or with data.documents document by document "
                                     "in a random order");
              });
  if (has_documents() && files.divided() &&
      std::abs(std::reduce(files.fractions.begin(), files.fractions.end()) - 1) > 1e-9)
    fields.problem("fractions", "must add up to 1 where documents are drawn into splits");
}

void TextSettings::list_documents(core::Fields& fields) {
  fields.when(!prepared(), "a data.path that is not a prepared text (.h5)", [&] {
    fields.added("documents");
    fields.choice("documents", documents,
                  "documents, each in one split, with a boundary token between them: whole files, "
                  "lines, or blank (empty lines divide them); none: the text is one",
                  named({Documents::none, Documents::files, Documents::lines, Documents::blank}));
  });
  fields.when(!prepared() && documents == Documents::lines, "data.documents = \"lines\"", [&] {
    fields.added("field");
    fields.text("field", field, "each line is a JSON object, and this field is the document");
  });
}

Text::Text(const TextSettings& settings, Index length, Index batch, std::uint64_t seed)
    : length_(length),
      batch_(batch),
      crops_(settings.sampling == TextSettings::Sampling::crops),
      places_(core::Rng(seed).fold("text crops")) {
  load(settings);
  check_training_length(settings);
}

DividedText Text::read(const TextSettings& settings) {
  const TextDivision division = division_of(settings, remarks_);
  if (!settings.has_documents()) return read_divided_text(division);
  const DocumentRule rule{form_of(settings.documents), settings.field};
  DocumentText found = read_document_text(division, {.rule = rule, .boundaries = true});
  const auto& counts = found.facts.documents;
  remarks_.push_back(core::message_of(counts[0] + counts[1] + counts[2], " documents, each ",
                                      rule.words(), ": training ", counts[0], ", validation ",
                                      counts[1], ", test ", counts[2]));
  return {std::move(found.facts.text), std::move(found.tokens)};
}

std::optional<Index> Text::text_bytes(Token token) const {
  return token == facts_.boundary() ? 0 : bytes_[std::size_t(token)];
}

/// A prepared file, one text by fractions, or a file for each split.
void Text::load(const TextSettings& settings) {
  std::string identity =
      core::message_of(" sampling=", name_of(settings.sampling), " length=", length_);
  if (settings.prepared()) {
    PreparedText prepared = open_prepared_text(settings.files.path);
    require_same_tokenizer(prepared.facts.spelling, settings.files.path, settings.units.tokenizer);
    facts_ = std::move(prepared.facts);
    tokens_ = std::move(prepared.tokens);
    identity = "prepared " + prepared.fingerprint + identity;
  } else {
    DividedText text = read(settings);
    facts_ = std::move(text.facts);
    tokens_ = std::make_unique<PackedTokens>(std::move(text.tokens));
    identity = core::message_of("text units=", name_of(settings.units.kind), identity);
    if (const auto& tokenizer = facts_.spelling.tokenizer())
      identity += " tokenizer=" + fingerprint_of(tokenizer->file());
    if (settings.has_documents())
      identity +=
          core::message_of(" documents=", name_of(settings.documents), " field=", settings.field);
    for (const TextOrigin& origin : facts_.origins) identity += " file=" + origin.fingerprint;
  }
  for (const TokenRange& part : facts_.parts)
    identity += core::message_of(" part=", part.begin, "+", part.size);
  fingerprint_ = fingerprint_of(identity);
  for (Token token = 0; token < facts_.spelling.vocabulary(); ++token)
    bytes_.push_back(facts_.spelling.bytes_of(token));
}

void Text::check_training_length(const TextSettings& settings) const {
  const Index size = part(Split::training).size;
  const SplitFiles& files = settings.files;
  const std::string& path = files.divided() ? files.path : files.train_path;
  const std::string origin = core::message_of("the training split of '", path, "' holds ", size,
                                              " ", token_name(), size == 1 ? "" : "s");
  if (size < length_ + 1) {
    throw core::Error(core::Fault::data,
                      core::message_of(origin, ", but a sequence needs data.length + 1 = ",
                                       length_ + 1, ": lower data.length, or use a longer text"));
  }
  if (!crops_ && stream_length() < length_) {
    throw core::Error(
        core::Fault::data,
        core::message_of(origin, ", but ", batch_, " streams of one sequence each need ",
                         batch_ * length_ + 1,
                         ": lower train.batch or data.length, or set data.sampling=crops"));
  }
}

/// Copies the predictions begin .. end - 1 of a part into a row, scored from `scored_from` on.
void Text::fill(BatchRows& rows, Index row, const TokenRange& part, Index begin, Index end,
                Index scored_from) const {
  const auto count = std::size_t(end - begin), unscored = std::size_t(scored_from - begin);
  tokens_->read(part.begin + begin, rows.inputs(row).first(count));
  tokens_->read(part.begin + scored_from + 1,
                rows.targets(row).subspan(unscored, count - unscored));
}

/// Where row `row` of batch `number` reads: the rows are streams of equal length, and each pass
/// over them cuts segments of T from another place on, so that no token always begins a segment and
/// none is always left over.
Index Text::streams_begin(Index number, Index row) const {
  const Index segments = stream_segments(), pass = number / segments;
  const Index places = stream_length() - segments * length_ + 1;
  const Index first = places_.fold("streams").below(std::uint64_t(pass), places);
  return row * stream_length() + first + number % segments * length_;
}

Index Text::stream_length() const { return (part(Split::training).size - 1) / batch_; }

/// One fewer than would fit, which leaves the passes room to begin at different places.
Index Text::stream_segments() const { return std::max<Index>(1, stream_length() / length_ - 1); }

Batch Text::read_training(Index number, core::Stretch asked) const {
  const TokenRange& text = part(Split::training);
  BatchRows rows(asked.size(), length_);
  for (Index row = asked.begin; row < asked.end; ++row) {
    const Index sequence = number * batch_ + row;
    const Index begin = crops_ ? places_.below(std::uint64_t(sequence), text.size - length_)
                               : streams_begin(number, row);
    fill(rows, row - asked.begin, text, begin, begin + length_, begin);
  }
  Batch batch = std::move(rows).finish();
  batch.continues = !crops_ && number % stream_segments() > 0;
  return batch;
}

const TokenRange& Text::part_to_score(Split split) const {
  const TokenRange& found = part(split);
  if (found.size >= 2) return found;
  throw core::Error(core::Fault::data,
                    core::message_of("the ", name_of(split), " split holds ", found.size, " ",
                                     token_name(), found.size == 1 ? "" : "s",
                                     ", too little to score: give it a larger share in "
                                     "data.fractions, or a separate file in data.",
                                     name_of(split),
                                     "_path; a prepared text gets its splits "
                                     "from weft data prepare"));
}

Index Text::evaluation_batches(Split split, Index stride) const {
  const Windows windows(part_to_score(split).size - 1, length_, stride);
  return (windows.count() + batch_ - 1) / batch_;
}

Batch Text::evaluation(Split split, Index number, Index stride) const {
  core::require(number >= 0 && number < evaluation_batches(split, stride), "data: ", name_of(split),
                " batch ", number, " does not exist");
  const TokenRange& text = part_to_score(split);
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

}  // namespace weft::data
