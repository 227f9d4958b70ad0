#include "data/settings.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "data/tasks/duplicate.h"
#include "data/tasks/duplicate_pairs.h"
#include "data/tasks/labelled.h"
#include "data/tasks/listops.h"
#include "data/tasks/noise.h"
#include "data/tasks/recall.h"
#include "data/text/masked_text.h"
#include "data/text/text.h"

namespace weft::data {

namespace {

void list_stream(core::Fields& fields, Index& stream) {
  fields.integer("stream", stream,
                 "tokens of a sequence that batches read on in, data.length at a time; 0: every "
                 "batch begins new sequences of data.length",
                 core::at_least(0));
}

void check_stream(core::Fields& fields, Index stream, Index length) {
  if (stream % std::max<Index>(length, 1) != 0)
    fields.problem("stream", core::message_of("must be a multiple of data.length, ", length));
}

/// What kinds of data that read files have in common: one file, or one for each split.
template <class Settings>
void list_files(core::Fields& fields, Settings& settings, const char* path) {
  fields.text("path", settings.path, path);
  fields.text("train_path", settings.train_path, "in place of path: the training split's own file");
  fields.text("validation_path", settings.validation_path, "the validation split's own file");
  fields.text("test_path", settings.test_path, "the test split's own file");
}

template <class Settings>
bool by_fractions(const Settings& settings) {
  return settings.train_path.empty() && settings.validation_path.empty() &&
         settings.test_path.empty();
}

template <class Settings>
void check_files(core::Fields& fields, const Settings& settings, const char* wanted) {
  if (by_fractions(settings)) {
    if (settings.path.empty())
      fields.problem("path", core::message_of("is missing: name ", wanted));
    return;
  }
  if (!settings.path.empty())
    fields.problem("path", "stands beside paths of single splits: remove one");
  if (settings.train_path.empty())
    fields.problem("train_path", "is missing beside the other paths");
}

void list_fractions(core::Fields& fields, std::vector<double>& fractions, const char* order) {
  fields.numbers("fractions", fractions,
                 core::message_of("shares of training, validation and test, ", order),
                 core::between(0, 1));
  if (fractions.size() != 3) {
    fields.problem("fractions", "needs three numbers: training, validation, test");
  } else if (std::reduce(fractions.begin(), fractions.end()) > 1 + 1e-9) {
    fields.problem("fractions", "must not add up to more than 1");
  }
}

}  // namespace

void RecallSettings::fields(core::Fields& fields) {
  fields.integer("symbols", symbols, "ordinary symbols", core::between(2, 10000));
  fields.integer("keys", keys, "symbols that announce a payload", core::between(1, 10000));
  fields.integer("payload", payload, "symbols that follow a key and return with it",
                 core::at_least(1));
  fields.number("gap", gap, "mean number of ordinary symbols between recall events",
                core::at_least(0));
  fields.integer("successors", successors, "symbols that may follow an ordinary symbol",
                 core::at_least(1));
  fields.integer("source", source, "which of the languages with these settings", core::at_least(0));
  list_stream(fields, stream);
  fields.integer("held_out", held_out, "sequences to validate on, and as many to test on",
                 core::at_least(1));
  if (successors > symbols) {
    fields.problem("successors", core::message_of("must be at most symbols, which is ", symbols));
  }
}

void MaskingSettings::fields(core::Fields& fields) {
  fields.choice("masking", masking,
                "hide tokens that the model fills in, reading both ways: bert, single tokens, or "
                "spans, neighbouring ones; none: predict the next token",
                {"none", "bert", "spans"});
  if (!chosen()) return;
  fields.number("mask_share", mask_share, "share of the tokens that is hidden",
                core::between(0.001, 0.9));
  if (masking == "spans")
    fields.number("mask_span", mask_span, "tokens of a hidden span, on average",
                  core::between(1, 1000));
}

void TextSettings::fields(core::Fields& fields) {
  list_files(
      fields, *this,
      "one file, divided into splits by fractions; or FILE.h5 of weft data prepare, which has "
      "its own units and splits");
  if (!prepared()) fields.choice("units", units, "what a token is", {"bytes", "characters"});
  fields.choice("sampling", sampling,
                "crops: every sequence begins at a random place; streams: the rows of a batch "
                "continue those of the batch before",
                {"crops", "streams"});
  hidden.fields(fields);
  if (hidden.chosen() && sampling != "crops")
    fields.problem("sampling",
                   "hidden tokens are those of crops: \"crops\", or data.masking = \"none\"");
  for (const auto& [key, own] : {std::pair{"train_path", &train_path},
                                 {"validation_path", &validation_path},
                                 {"test_path", &test_path}})
    if (own->ends_with(".h5"))
      fields.problem(key, "is a prepared text, which has its own splits: name it in data.path");
  check_files(fields, *this, "a text file");
  if (by_fractions(*this) && !prepared()) list_fractions(fields, fractions, "in file order");
}

void NoiseSettings::fields(core::Fields& fields) {
  fields.integer("symbols", symbols, "how many symbols there are", core::between(2, 50000));
  list_stream(fields, stream);
  fields.integer("held_out", held_out, "sequences to validate on, and as many to test on",
                 core::at_least(1));
}

void DuplicateSettings::fields(core::Fields& fields) {
  fields.choice("form", form,
                "language: 0 w 0 w in one sequence; seq2seq: w as a source, w 0 as its target",
                {"language", "seq2seq"});
  fields.integer("word", word,
                 pairs() ? "symbols in the longest word; 0: as many as data.length holds"
                         : "symbols in a word; 0: as many as data.length holds twice",
                 core::at_least(0));
  if (pairs())
    fields.integer("shortest", shortest, "symbols in the shortest word", core::at_least(1));
  fields.integer("symbols", symbols, "different symbols in words; 0 stands before each word",
                 core::between(1, 50000));
  fields.integer("held_out", held_out, "sequences to validate on, and as many to test on",
                 core::at_least(1));
}

void DuplicateSettings::check_length(core::Fields& fields, Index length) const {
  const Index needed = pairs() ? std::max(word, shortest) + 1 : 2 * (std::max<Index>(word, 1) + 1);
  if (length < needed)
    fields.problem("length", core::message_of("must be at least ", needed,
                                              pairs() ? ", so that a word and its end fit in"
                                                      : ", so that 0 and a word fit in twice"));
  if (pairs() && word > 0 && shortest > word)
    fields.problem("shortest", core::message_of("must be at most data.word, ", word));
}

void ListopsSettings::fields(core::Fields& fields, Index length) {
  fields.integer(
      "shortest", shortest,
      "the fewest tokens of an expression, the most being data.length; Long Range Arena: "
      "501, with data.length = 1999",
      core::at_least(1));
  fields.integer("depth", depth, "at this depth there are only digits, the root being at 1",
                 core::between(2, 100));
  fields.integer("arguments", arguments, "an operator has 2 up to so many arguments",
                 core::between(2, 100));
  fields.number("nesting", nesting, "how probable it is that an argument is an operation",
                core::between(0.01, 0.99));
  fields.integer("examples", examples,
                 "expressions to train on, over and over in new orders; 0: always new ones",
                 core::at_least(0));
  fields.integer("held_out", held_out, "expressions to validate on, and as many to test on",
                 core::at_least(1));
  if (shortest > length)
    fields.problem("shortest", core::message_of("must be at most data.length, ", length));
}

void LabelledSettings::fields(core::Fields& fields, Index length) {
  list_files(fields, *this, "one file, divided into splits by fractions");
  fields.text("label_column", label_column,
              "the column of labels: its number, from 1, or its name in the header");
  fields.text("text_column", text_column, "the column of texts, in the same way");
  fields.flag("header", header, "the first line of each file names the columns");
  fields.integer("shortest", shortest,
                 "bytes of a text at least, or it is left out; data.length: nothing is padded",
                 core::at_least(1));
  check_files(fields, *this, "a file of columns divided by tabs, label and text");
  if (by_fractions(*this)) list_fractions(fields, fractions, "in random order");
  if (label_column == text_column)
    fields.problem("text_column", "is the column of labels: name another");
  if (shortest > length)
    fields.problem("shortest", core::message_of("must be at most data.length, ", length));
}

void DataSettings::fields(core::Fields& fields) {
  fields.choice("kind", kind, "where the data comes from", data_kinds);
  fields.integer("length", length, "tokens in a sequence", core::at_least(1));
  if (kind == "recall") {
    recall.fields(fields);
    check_stream(fields, recall.stream, length);
    if (length < 2 * (recall.payload + 1)) {
      fields.problem("length",
                     core::message_of("must be at least ", 2 * (recall.payload + 1),
                                      ", so that a payload of ", recall.payload, " can return"));
    }
  }
  if (kind == "text") text.fields(fields);
  if (kind == "noise") {
    noise.fields(fields);
    check_stream(fields, noise.stream, length);
  }
  if (kind == "duplicate") {
    duplicate.fields(fields);
    duplicate.check_length(fields, length);
  }
  if (kind == "listops") listops.fields(fields, length);
  if (kind == "labelled") labelled.fields(fields, length);
}

std::unique_ptr<Dataset> make_dataset(const DataSettings& settings, Index batch,
                                      std::uint64_t seed) {
  core::require(batch >= 1, "data: a batch needs at least one sequence, got ", batch);
  core::require(settings.length >= 1, "data.length must be at least 1, got ", settings.length);
  if (settings.kind == "recall") {
    return std::make_unique<Recall>(settings.recall, settings.length, batch, seed);
  }
  if (settings.kind == "noise") {
    return std::make_unique<Noise>(settings.noise, settings.length, batch, seed);
  }
  if (settings.sources()) {
    return std::make_unique<DuplicatePairs>(settings.duplicate, settings.length, batch, seed);
  }
  if (settings.kind == "duplicate") {
    return std::make_unique<Duplicate>(settings.duplicate, settings.length, batch, seed);
  }
  if (settings.kind == "listops")
    return std::make_unique<Listops>(settings.listops, settings.length, batch, seed);
  if (settings.kind == "labelled")
    return std::make_unique<Labelled>(settings.labelled, settings.length, batch, seed);
  core::require(settings.kind == "text",
                "data.kind must be recall, text, noise, duplicate, listops or labelled, got '",
                settings.kind, "'");
  if (settings.text.hidden.chosen())
    return std::make_unique<MaskedText>(settings.text, settings.length, batch, seed);
  return std::make_unique<Text>(settings.text, settings.length, batch, seed);
}

}  // namespace weft::data
