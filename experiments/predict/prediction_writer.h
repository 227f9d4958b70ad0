#pragma once

#include <ostream>

#include "experiments/predict/predictor.h"

namespace weft::experiments {

/// Writes predictions as they come, one line for each record: columns divided by tabs, or JSON.
class PredictionWriter {
 public:
  enum class Form { columns, bare_columns, json };

  /// Columns begin with a line of their names, unless bare.
  PredictionWriter(std::ostream& out, Form form, const std::vector<std::string>& columns);

  /// A record without a prediction gets empty columns, or its reason in JSON.
  void write(const Record& record, const Prediction& prediction);

  core::Index written() const { return written_; }
  core::Index empty() const { return empty_; }
  /// Records that could not be read, and what was wrong with the first of them.
  core::Index unread() const { return unread_; }
  const std::string& first_problem() const { return first_problem_; }

 private:
  std::ostream& out_;
  Form form_;
  std::size_t columns_;
  core::Index written_ = 0, empty_ = 0, unread_ = 0;
  std::string first_problem_;
};

}  // namespace weft::experiments
