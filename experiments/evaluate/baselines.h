#pragma once

#include <string>
#include <vector>

#include "data/dataset.h"
#include "experiments/run/metrics_log.h"

/// Accuracies that can be reached without a model, to compare a model's accuracy with.
namespace weft::experiments {

/// The accuracies of guessing a class and of the data's own baselines, lowest first; empty where
/// accuracy is not what a task is about.
std::vector<data::Baseline> all_baselines(const data::Dataset& dataset, data::Split split);

/// "chance 0.1000, majority 0.1690, ..."
std::string print_baselines(const std::vector<data::Baseline>& baselines);
/// "values 4.9204, each place 4.5934, left and up 3.4559"
std::string print_baselines(const std::vector<data::BitsBaseline>& baselines);
/// "above majority 0.1690, below root operator 0.3610"
std::string format_among(double accuracy, const std::vector<data::Baseline>& baselines);
/// "below each place 4.5934, not below left and up 3.4559"
std::string format_among(double bits, const std::vector<data::BitsBaseline>& baselines);
/// A table: the accuracy, called `name`, among the baselines.
std::string print_accuracy(const std::string& name, double accuracy, double error,
                           const std::vector<data::Baseline>& baselines);
/// A table: the bits among the baselines.
std::string print_bits(double bits, double error, const std::vector<data::BitsBaseline>& baselines);
/// "10 classes: 0, 1, 2, ...", the first few by name.
std::string print_classes(const std::vector<std::string>& names);

/// For metrics.jsonl: baseline_chance, baseline_majority, ...
std::vector<std::pair<std::string, MetricValue>> baseline_metrics(
    const std::vector<data::Baseline>& baselines);
/// baseline_bits_values, ...
std::vector<std::pair<std::string, MetricValue>> baseline_metrics(
    const std::vector<data::BitsBaseline>& baselines);

}  // namespace weft::experiments
