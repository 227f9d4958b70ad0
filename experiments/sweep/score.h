#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/real.h"

namespace weft::experiments {

/// Recall from a range of distances.
struct RecallBand {
  core::Index from = 0, to = 0, tokens = 0;
  double accuracy = 0;
};

/// The steps that positions took until they halted, where some tokens are harder than others.
struct StepsBand {
  core::Index from = 0, to = 0;
  double steps = 0;  ///< mean over the band's tokens
};

/// The part of `weft eval --json` of a trial that is compared.
struct Score {
  std::string split, unit;
  /// By metric: bits, loss, perplexity, accuracy, and where the task has them
  /// sequence_accuracy, f1, recall and steps. All are finite.
  std::map<std::string, double> values;
  core::Index budget = 0;  ///< tokens of the split that it is limited to; 0: all of it
  std::optional<double> floor_bits, chance;
  std::optional<double> leak_nats;          ///< of models that leak
  bool classifies = false;                  ///< every sequence has one answer
  std::map<std::string, double> baselines;  ///< accuracy without a model
  std::map<std::string, double> bits_baselines;
  std::vector<RecallBand> recall;
  std::string hardness;  ///< what the bands of steps are by: "distance", "tree depth", ...
  std::vector<StepsBand> steps;
};

/// Nothing unless the text is a whole score.
std::optional<Score> parse_score(const std::string& text);
/// Nothing when the file is absent, cut off or otherwise no whole score.
std::optional<Score> read_score(const std::filesystem::path& path);

}  // namespace weft::experiments
