#pragma once

#include <string>
#include <vector>

#include "data/questions/question_data.h"
#include "experiments/evaluate/tally.h"
#include "layers/model/span_model.h"

namespace weft::experiments {

/// A model's answer to a question; empty if it found none.
struct PredictedAnswer {
  std::string id, text;
};

/// Answers every question of a split once and compares: `correct` counts exact matches, `f1` is
/// their mean F1, loss is a mean over questions of the mean over their windows, and bands are by
/// the place of the answer in its document. Of the windows of a question the most probable span of
/// all is the answer, and there is none only if every window prefers that.
Evaluation evaluate_questions(const layers::SpanModel& model, const data::QuestionData& dataset,
                              const EvaluationOptions& options,
                              std::vector<PredictedAnswer>* answers = nullptr);

}  // namespace weft::experiments
