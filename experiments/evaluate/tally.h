#pragma once

#include <functional>
#include <numbers>
#include <optional>
#include <vector>

#include "core/ranks/ranks.h"
#include "data/dataset.h"

namespace weft::experiments {

using core::Index;

inline double bits_of(double nats) { return nats / std::numbers::ln2; }

/// A share of tokens, and how the model did on them.
struct Band {
  Index from = 0, to = 0;  ///< both included
  Index tokens = 0;
  double nats = 0;  ///< summed
  Index correct = 0;
  Index units = 0;   ///< what bits are counted by: tokens, or the bytes of text that they stand for
  double steps = 0;  ///< summed: those that a Universal Transformer took, where it halts by itself

  double bits() const;
  double accuracy() const { return tokens ? double(correct) / double(tokens) : 0; }
  double mean_steps() const { return tokens ? steps / double(tokens) : 0; }
};

/// A model scored on a split: every token exactly once.
struct Evaluation {
  Index tokens = 0;
  double nats = 0;   ///< mean over tokens
  double error = 0;  ///< standard error of that mean
  Index correct = 0;
  Index units = 0;  ///< what bits are counted by, as in a Band
  Index bytes = 0;  ///< of the text that the tokens stand for; 0: they are of no text
  Index sequences = 0, sequences_correct = 0;  ///< with every scored token right
  Index stride = 0;
  double pairs_per_token = 0;     ///< (query, key) pairs that attention scored, as counted
  std::vector<Band> by_position;  ///< tokens of context before the target, in octaves
  std::vector<Band> by_distance;  ///< recalled tokens only, by how far back they are, in octaves;
                                  ///< answers found, by their place in the document
  /// Sequences of one answer that is recalled from one place, counted as tokens, by where that is:
  /// in the first 10 per cent of what comes before the answer, in the next ...
  std::vector<Band> by_depth;
  /// Sequences of one answer, counted as tokens, by what the data calls their difficulty, or else
  /// by their length in octaves; empty where all are alike.
  std::vector<Band> by_difficulty;
  double steps = 0;  ///< mean over tokens, as in a Band; 0 where the model takes the same for all
  Index budget = 0;  ///< tokens of the split that it was limited to; 0: it is all of the split
  std::optional<double> f1 = {};  ///< of answers to questions, which then are what `tokens` counts

  /// Per unit of the data.
  double bits() const { return bits(nats); }
  double bits_error() const { return bits(error); }
  /// Per byte of the text, whatever its tokens are; nothing where they are of no text.
  std::optional<double> bits_per_byte() const;
  double perplexity() const;
  double accuracy() const { return double(correct) / double(tokens); }
  double accuracy_error() const;
  double sequence_accuracy() const { return double(sequences_correct) / double(sequences); }
  /// The bands in which some tokens are harder than others: by distance, by difficulty, or else by
  /// position.
  const std::vector<Band>& by_hardness() const;
  /// Accuracy on tokens recalled from more than `distance` back; nothing when there are none.
  std::optional<double> recall_beyond(Index distance) const;

 private:
  double bits(double nats_per_token) const;
};

/// How much of the data a scored token stands for.
struct TokenSize {
  Index units = 1, bytes = 0;
};

/// How the model did on a token.
struct TokenResult {
  double nats = 0;
  bool correct = false;
  double steps = 0;  ///< as in a Band
};

struct EvaluationOptions {
  data::Split split = data::Split::validation;
  Index stride = 0;   ///< 0: disjoint windows of the data's length
  Index batches = 0;  ///< 0: the whole split
  Index tokens = 0;   ///< whole sequences from the start of the split that hold as many; 0: all
  std::function<void()> poll = {};  ///< called before every batch; may throw to end the evaluation
  /// Batches are cut by rows into as many parts, which the ranks share out; each finds the same.
  Index shards = 1;
  core::Ranks& ranks = core::one_rank();
  Index chunks = 1;  ///< and each of those by columns
};

/// Sums over scored tokens, in double and in order.
class Tally {
 public:
  /// Counts one token; its context and its distance are at least 1, or 0 for none.
  void count(const TokenResult& token, Index context, Index distance, TokenSize size = {});
  void count_sequence(bool all_correct);
  /// Counts a sequence whose answer is recalled from one place, by tenths of the depth, 0 to 9.
  void count_depth(Index tenth, const TokenResult& whole);
  /// Counts a sequence of one answer, with a band for every difficulty, or by its length.
  void count_difficulty(Index difficulty, const TokenResult& whole);
  void count_length(Index length, const TokenResult& whole);
  /// Throws a usage error when nothing was counted.
  Evaluation finish();

 private:
  Evaluation result_;
  double sum_ = 0, squares_ = 0, steps_ = 0;
};

/// How many batches of a split the options ask for.
Index batches_of(const data::Dataset& dataset, const EvaluationOptions& options);

/// Calls read(batch) for the batches of a split that the options ask for, and returns the pairs
/// that attention scored meanwhile for each token of the inputs.
double for_each_batch(const data::Dataset& dataset, const EvaluationOptions& options,
                      const std::function<void(const data::Batch&)>& read);

}  // namespace weft::experiments
