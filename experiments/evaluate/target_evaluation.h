#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "experiments/evaluate/rouge.h"
#include "layers/model/seq2seq_model.h"

namespace weft::experiments {

/// What a model generates from the sources of a split, always the most likely token, compared with
/// the targets.
struct TargetEvaluation {
  core::Index targets = 0;
  Rouge rouge;                         ///< means over targets
  std::optional<double> by_lines;      ///< mean ROUGE-Lsum; nothing where no target has lines
  double exact = 0;                    ///< share of targets generated token for token
  std::vector<std::string> generated;  ///< their texts, in order
};

/// `most`: sources to take, 0 for the whole split.
TargetEvaluation evaluate_targets(const layers::Seq2SeqModel& model, const data::Dataset& dataset,
                                  data::Split split, core::Index most = 0);

std::string print_targets(const TargetEvaluation& evaluation);

}  // namespace weft::experiments
