#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/arrays/batch.h"
#include "core/arrays/image_form.h"
#include "core/stretch.h"
#include "data/spelling/spelling.h"

namespace weft::data {

using core::Index;
using core::Token;

/// The part of the data to learn from, to make choices by, or to report.
enum class Split { training, validation, test };

std::string_view name_of(Split split);

/// A batch, and what is known of where it comes from.
struct Batch : core::Batch {
  core::Tokens distances;  ///< [B, T] or empty: how far back the answer to this target is,
                           ///< 0 where it is not recalled from the past
  bool continues = false;  ///< every row starts where that of the batch before ended
};

/// Accuracies of simple baselines, to compare a model's accuracy with.
struct Baseline {
  std::string name;
  double accuracy;
};

/// Bits of simple baselines, to compare a model's bits with.
struct BitsBaseline {
  std::string name;
  double bits;
};

/// A source of batches. Every batch is a pure function of (settings, seed, batch number): the exact
/// position of a reader is one integer, any thread can ask for any batch at any time, and a resumed
/// run or a prefetching thread reads what an uninterrupted run would have read.
/// Every batch has the same shape [B, T]; where data ends early, it is padded with token 0 and
/// core::no_target.
class Dataset {
 public:
  virtual ~Dataset() = default;

  /// T, the tokens of a sequence: every batch has it.
  virtual Index length() const = 0;
  /// How many different tokens there are: tokens are 0 .. vocabulary - 1.
  virtual Index vocabulary() const = 0;
  /// How many answers there are to a whole sequence; 0 where every token has its own.
  virtual Index classes() const { return 0; }
  /// The longest source; 0 where sequences have none.
  virtual Index source_length() const { return 0; }
  /// The token that begins and ends every target generated from a source; nothing where sequences
  /// have no sources.
  virtual std::optional<Token> boundary() const { return {}; }
  /// B, the sequences of a batch.
  virtual Index batch() const = 0;
  /// Micro-batch `number`, counted from 0 without end.
  Batch training(Index number) const { return training(number, {0, batch()}); }
  /// Some of its rows; no others are read.
  Batch training(Index number, core::Stretch rows) const;
  /// How many tokens the training split holds; nothing where it never ends.
  virtual std::optional<Index> training_tokens() const = 0;

  /// Evaluation reads windows of T tokens that begin `stride` tokens apart, 1 <= stride <= T. The
  /// first window of a text scores everything it holds, the later ones their last `stride`
  /// tokens, so every token that has one before it is scored exactly once.
  virtual Index evaluation_batches(Split split, Index stride) const = 0;
  virtual Batch evaluation(Split split, Index number, Index stride) const = 0;

  /// Text to tokens; a character outside the vocabulary is an error that names it.
  virtual std::vector<Token> encode(std::string_view text) const = 0;
  virtual std::string decode(std::span<const Token> tokens) const = 0;
  /// The words of tokens, as generated targets are compared: plain_words of their text.
  virtual std::vector<std::string> words(std::span<const Token> tokens) const;
  /// The whole text that should be generated from source `number` of a split, where a batch may
  /// have it cut.
  virtual std::optional<std::string> reference(Split split, Index number) const;
  /// How tokens are written, if each is one byte or one character: it is saved with a model, which
  /// then reads and writes text without the data.
  virtual std::optional<Spelling> spelling() const;
  /// The token of its first unit; those before it are special tokens.
  virtual Token first_unit() const { return 0; }

  /// The token between two documents, after all units; nothing where there is none.
  virtual std::optional<Token> document_end() const { return {}; }
  /// How many bytes of the text a token stands for, so that scores in other units can be compared;
  /// nothing where tokens are not those of a text.
  virtual std::optional<Index> text_bytes(Token token) const;

  /// The fewest bits per scored token that any model can expect on this split, if the distribution
  /// that generated it is known.
  virtual std::optional<double> floor_bits(Split split = Split::validation) const;
  /// How often a guess at a recalled token is right.
  virtual std::optional<double> chance() const;

  /// What the classes are called, in order.
  virtual std::vector<std::string> class_names() const;
  /// Baselines on a split without any model, the lowest first.
  virtual std::vector<Baseline> baselines(Split split) const;
  /// The same in bits per scored token, the most first; empty where nothing simple is known.
  virtual std::vector<BitsBaseline> bits_baselines(Split split) const;

  /// The form of the images whose values the sequences are; nothing for other data. Where each
  /// value is predicted, inputs begin with the token after the values, `levels`.
  virtual std::optional<core::ImageForm> image() const;

  /// Notes for users about how the data was read, one sentence each.
  virtual std::vector<std::string> remarks() const;

  /// Whether targets are the tokens that come next, so that the tokens before one are its context.
  virtual bool predicts_next() const;

  /// What makes whole sequences harder, counted by difficulty_of, such as the depth of a tree;
  /// nothing where no more than their length is known.
  virtual std::optional<std::string> difficulty() const;
  virtual Index difficulty_of(std::span<const Token> sequence) const;

  /// Which part of every sequence is scored, if not all of it: in such a task whole sequences are
  /// right or wrong, so their accuracy is reported in addition to that of tokens.
  virtual std::optional<std::string> scored_part() const;

  /// What bits are counted by, for "bits per ...": byte, character, symbol. It is one token, but
  /// for text in longer tokens, whose bits are those per byte of the text.
  virtual std::string unit() const = 0;
  /// XXH3-128 of the content and the settings, but for seed and batch size: a run resumes only on
  /// the data it began with.
  virtual std::string fingerprint() const = 0;

 protected:
  /// Rows of a micro-batch that have been checked to exist.
  virtual Batch read_training(Index number, core::Stretch rows) const = 0;
};

/// Some rows of a batch.
Batch rows_of(const Batch& batch, core::Stretch rows);
/// Some columns of a batch in which every token has its own target and nothing is padding.
Batch columns_of(const Batch& batch, core::Stretch columns);

}  // namespace weft::data
