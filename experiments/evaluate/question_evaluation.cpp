#include "experiments/evaluate/question_evaluation.h"

#include "experiments/evaluate/answer_metrics.h"
#include "experiments/evaluate/shared_rows.h"

namespace weft::experiments {
namespace {

/// The windows of one question as they come, and the best of them.
class OpenQuestion {
 public:
  OpenQuestion(const data::QuestionData& dataset, data::Split split, Index number)
      : dataset_(&dataset), split_(split), question_(dataset.question(split, number)) {}

  /// Takes window `number` of the split; true when it was the question's last.
  bool add(Index number, const layers::SpanChoice& choice) {
    nats_ += double(choice.nats);
    steps_ += double(choice.steps);
    if (!choice.is_none() && (best_window_ < 0 || choice.score > best_.score)) {
      best_ = choice;
      best_window_ = number;
    }
    return ++read_ == question_.windows;
  }

  std::string text() const {
    if (best_window_ < 0) return "";
    return dataset_->answer_text(split_, best_window_, best_.start, best_.end);
  }
  AnswerScore score() const {
    return dataset_->form() == data::AnswerForm::words ? score_answer(text(), question_.answers)
                                                       : score_symbols(text(), question_.answers);
  }
  double nats() const { return nats_ / double(read_); }
  double steps() const { return steps_ / double(read_); }
  const data::Question& question() const { return question_; }

 private:
  const data::QuestionData* dataset_;
  data::Split split_;
  data::Question question_;
  layers::SpanChoice best_;
  Index best_window_ = -1;  ///< -1 while every window prefers no answer
  Index read_ = 0;
  double nats_ = 0, steps_ = 0;
};

}  // namespace

Evaluation evaluate_questions(const layers::SpanModel& model, const data::QuestionData& dataset,
                              const EvaluationOptions& options,
                              std::vector<PredictedAnswer>* answers) {
  const autograd::Pass pass(core::Rng(0).fold("evaluation"));
  const SharedRows shared(options);
  const Index questions = dataset.questions(options.split);
  Tally tally;
  double f1 = 0;
  Index asked = 0, windows = 0;
  std::optional<OpenQuestion> open;
  const double pairs = for_each_batch(dataset, options, [&](const data::Batch& batch) {
    std::vector<layers::SpanChoice> choices;
    for (const data::Batch& part : shared.own(batch))
      for (const layers::SpanChoice& choice : model.choose(pass, {part})) choices.push_back(choice);
    for (const layers::SpanChoice& choice : shared.join(std::move(choices))) {
      if (asked == questions) break;  // the rest of the batch is padding
      if (!open) open.emplace(dataset, options.split, asked);
      if (!open->add(windows++, choice)) continue;
      const AnswerScore score = open->score();
      tally.count({open->nats(), score.exact, open->steps()}, 0, open->question().place);
      f1 += score.f1;
      if (answers) answers->push_back({open->question().id, open->text()});
      open.reset();
      ++asked;
    }
  });
  Evaluation result = tally.finish();
  result.f1 = f1 / double(asked);
  result.stride = options.stride > 0 ? options.stride : dataset.length();
  result.pairs_per_token = pairs;
  return result;
}

}  // namespace weft::experiments
