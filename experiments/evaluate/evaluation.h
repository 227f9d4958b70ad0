#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "layers/model/model.h"

namespace weft::experiments {

using core::Index;

/// A share of tokens, and how the model did on them.
struct Band {
  Index from = 0, to = 0;  ///< both included
  Index tokens = 0;
  double nats = 0;  ///< summed
  Index correct = 0;

  double bits() const;
  double accuracy() const { return tokens ? double(correct) / double(tokens) : 0; }
};

/// A model scored on a split: every token exactly once.
struct Evaluation {
  Index tokens = 0;
  double nats = 0;   ///< mean over tokens
  double error = 0;  ///< standard error of that mean
  Index correct = 0;
  Index sequences = 0, sequences_correct = 0;  ///< with every scored token right
  Index stride = 0;
  double pairs_per_token = 0;     ///< (query, key) pairs that attention scored, as counted
  std::vector<Band> by_position;  ///< tokens of context before the target, in octaves
  std::vector<Band> by_distance;  ///< recalled tokens only, by how far back they are, in octaves
  /// Sequences of one answer that is recalled from one place, counted as tokens, by where that is:
  /// in the first 10 per cent of what comes before the answer, in the next ...
  std::vector<Band> by_depth;

  double bits() const;
  double perplexity() const;
  double accuracy() const { return double(correct) / double(tokens); }
  double accuracy_error() const;
  double sequence_accuracy() const { return double(sequences_correct) / double(sequences); }
  /// Accuracy on tokens recalled from more than `distance` back; nothing when there are none.
  std::optional<double> recall_beyond(Index distance) const;
};

struct EvaluationOptions {
  data::Split split = data::Split::validation;
  Index stride = 0;   ///< 0: disjoint windows of the data's length
  Index batches = 0;  ///< 0: the whole split
};

/// Scores the model with dropout off.
Evaluation evaluate(const layers::Model& model, const data::Dataset& dataset,
                    const EvaluationOptions& options = {});

/// The table that people read: bits, perplexity, the floor, loss by position, recall by distance.
std::string print_evaluation(const Evaluation& evaluation, const data::Dataset& dataset,
                             data::Split split);

}  // namespace weft::experiments
