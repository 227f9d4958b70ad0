#pragma once

#include <string>
#include <vector>

#include "data/dataset.h"
#include "experiments/run/metrics_log.h"

/// An accuracy means something beside what can be had without a model.
namespace weft::experiments {

/// What guessing a class reaches, and what the data knows of itself, the least first; empty where
/// accuracy is not what a task is about.
std::vector<data::Baseline> all_baselines(const data::Dataset& dataset, data::Split split);

/// "chance 0.1000, majority 0.1690, ..."
std::string print_baselines(const std::vector<data::Baseline>& baselines);
/// "above majority 0.1690, below root operator 0.3610"
std::string format_among(double accuracy, const std::vector<data::Baseline>& baselines);
/// A table: the accuracy among the baselines.
std::string print_accuracy(double accuracy, double error,
                           const std::vector<data::Baseline>& baselines);
/// "10 classes: 0, 1, 2, ...", the first few by name.
std::string print_classes(const std::vector<std::string>& names);

/// For metrics.jsonl: baseline_chance, baseline_majority, ...
std::vector<std::pair<std::string, MetricValue>> baseline_metrics(
    const std::vector<data::Baseline>& baselines);

}  // namespace weft::experiments
