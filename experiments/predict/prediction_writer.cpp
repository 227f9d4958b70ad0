#include "experiments/predict/prediction_writer.h"

#include <nlohmann/json.hpp>

#include "core/error.h"

namespace weft::experiments {

PredictionWriter::PredictionWriter(std::ostream& out, Form form,
                                   const std::vector<std::string>& columns)
    : out_(out), form_(form), columns_(columns.size()) {
  if (form_ != Form::columns) return;
  for (std::size_t i = 0; i < columns.size(); ++i) out_ << (i > 0 ? "\t" : "") << columns[i];
  out_ << '\n';
}

void PredictionWriter::write(const Record& record, const Prediction& prediction) {
  ++written_;
  const bool failed = !prediction.problem.empty();
  if (prediction.empty)
    ++empty_;
  else if (failed && unread_++ == 0)
    first_problem_ = core::message_of("line ", record.line, ": ", prediction.problem);
  if (form_ == Form::json) {
    if (failed)
      out_ << nlohmann::ordered_json{{"line", record.line}, {"problem", prediction.problem}}.dump(
          -1, ' ', false, nlohmann::json::error_handler_t::replace);
    else
      out_ << prediction.json;
  } else if (failed) {
    out_ << std::string(columns_ - 1, '\t');
  } else {
    for (std::size_t i = 0; i < columns_; ++i) out_ << (i > 0 ? "\t" : "") << prediction.cells[i];
  }
  out_ << '\n';
}

}  // namespace weft::experiments
