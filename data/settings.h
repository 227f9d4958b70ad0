#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields.h"
#include "data/dataset.h"

namespace weft::data {

/// The recall language: see data/tasks/recall_source.h.
struct RecallSettings {
  Index symbols = 26;    ///< ordinary symbols, drawn by the Markov source and as payload
  Index keys = 8;        ///< symbols that announce a payload
  Index payload = 3;     ///< symbols that follow a key
  double gap = 2;        ///< mean number of ordinary symbols between recall events
  Index successors = 4;  ///< symbols that may follow an ordinary symbol
  Index source = 1;      ///< which of the languages with these settings
  Index stream = 0;      ///< tokens of a sequence that is read in segments; 0: data.length
  Index held_out = 256;  ///< sequences in the validation split, and as many in the test split

  void fields(core::Fields& fields);
};

/// Which tokens of a text are hidden and have to be filled in: see data/text/masking.h.
struct MaskingSettings {
  std::string masking = "none";  ///< none | bert | spans
  double mask_share = 0.15;      ///< of all tokens
  double mask_span = 3;          ///< tokens of a span, on average

  void fields(core::Fields& fields);
  bool chosen() const { return masking != "none"; }
};

/// A text file, or one file for each split.
struct TextSettings {
  std::string path;  ///< one file, divided by `fractions`, or one that was prepared (.h5)
  std::string train_path, validation_path, test_path;  ///< or files that are the splits
  std::string units = "bytes";                         ///< bytes | characters
  std::vector<double> fractions = {0.9, 0.1, 0.0};  ///< training, validation, test, in file order
  std::string sampling = "crops";                   ///< crops | streams
  MaskingSettings hidden;

  /// Whether `path` is a file of weft data prepare, which brings its own units and splits.
  bool prepared() const { return path.ends_with(".h5"); }
  void fields(core::Fields& fields);
};

/// Uniform symbols: see data/tasks/noise.h.
struct NoiseSettings {
  Index symbols = 256;
  Index stream = 0;     ///< tokens of a sequence that is read in segments; 0: data.length
  Index held_out = 16;  ///< sequences in the validation split, and as many in the test split

  void fields(core::Fields& fields);
};

/// Words told twice: see data/tasks/duplicate.h and, as pairs of source and target,
/// data/tasks/duplicate_pairs.h.
struct DuplicateSettings {
  std::string form = "language";  ///< language | seq2seq
  Index shortest = 1;             ///< symbols in the shortest word of a pair
  Index word = 0;        ///< symbols in a word, in pairs at most; 0: as many as the sequence holds
  Index symbols = 127;   ///< a word's symbols are 1 .. symbols
  Index held_out = 256;  ///< sequences in the validation split, and as many in the test split

  void fields(core::Fields& fields);
  Index word_in(Index length) const { return word > 0 ? word : length / 2 - 1; }
  Index longest_in(Index length) const { return word > 0 ? word : length - 1; }
  bool pairs() const { return form == "seq2seq"; }
  /// Reports words that do not fit sequences of `length`.
  void check_length(core::Fields& fields, Index length) const;
};

/// Nested operations on digits, to be evaluated: see data/tasks/listops.h. The defaults are those
/// of the Long Range Arena, whose longest expressions have data.length = 1999 tokens.
struct ListopsSettings {
  Index shortest = 501;   ///< tokens of an expression, up to data.length
  Index depth = 10;       ///< at this depth there are only digits
  Index arguments = 10;   ///< an operator has 2 .. arguments of them
  double nesting = 0.25;  ///< how probable it is that an argument is an operation itself
  Index examples = 0;     ///< expressions to train on, over and over; 0: always new ones
  Index held_out = 2000;  ///< expressions in the validation split, and as many in the test split

  void fields(core::Fields& fields, Index length);
};

/// Texts with a label each, in columns: see data/tasks/labelled.h.
struct LabelledSettings {
  std::string path;                                    ///< one file, divided by `fractions`
  std::string train_path, validation_path, test_path;  ///< or files that are the splits
  std::vector<double> fractions = {0.8, 0.1, 0.1};     ///< training, validation, test
  std::string label_column = "1", text_column = "2";   ///< from 1, or a name in the header
  bool header = false;
  Index shortest = 1;  ///< bytes of a text; those with fewer are left out

  void fields(core::Fields& fields, Index length);
};

/// The values of data.kind.
inline const std::vector<std::string_view> data_kinds = {"recall",    "text",    "noise",
                                                         "duplicate", "listops", "labelled"};

struct DataSettings {
  std::string kind = "recall";
  Index length = 128;
  RecallSettings recall;
  TextSettings text;
  NoiseSettings noise;
  DuplicateSettings duplicate;
  ListopsSettings listops;
  LabelledSettings labelled;

  /// Whether batches continue those before them.
  bool streams() const {
    return (kind == "text" && text.sampling == "streams") ||
           (kind == "recall" && recall.stream > 0) || (kind == "noise" && noise.stream > 0);
  }
  /// Whether sequences are told from sources.
  bool sources() const { return kind == "duplicate" && duplicate.pairs(); }
  /// Whether hidden tokens are to be filled in, rather than the next one predicted.
  bool masks() const { return kind == "text" && text.hidden.chosen(); }
  /// Whether sequences may be shorter than data.length and are padded.
  bool pads() const {
    return (kind == "listops" && listops.shortest < length) ||
           (kind == "labelled" && labelled.shortest < length);
  }
  /// Whether every sequence has one answer, its class.
  bool classifies() const { return kind == "listops" || kind == "labelled"; }
  /// Visits kind and length, then the settings of the chosen kind only.
  void fields(core::Fields& fields);
};

/// The dataset that the settings describe, in micro-batches of `batch` sequences.
std::unique_ptr<Dataset> make_dataset(const DataSettings& settings, Index batch,
                                      std::uint64_t seed);

}  // namespace weft::data
