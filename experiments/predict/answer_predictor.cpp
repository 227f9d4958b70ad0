#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "experiments/predict/predictor.h"
#include "layers/model/span_model.h"

namespace weft::experiments {
namespace {

using core::Index;
using core::Token;

/// The stretch of a document that answers a question. A document that does not fit in a sequence is
/// read in windows, the best of which answers.
class AnswerPredictor final : public Predictor {
 public:
  AnswerPredictor(const TextModel& model, const PredictorOptions& options)
      : Predictor(model, options),
        answers_(dynamic_cast<const layers::SpanModel&>(*model.saved.model)),
        form_(model.form.question.value()) {}

  std::vector<std::string> texts() const override { return {"question", "context"}; }
  std::vector<std::string> columns() const override { return {"answer", "probability"}; }
  std::string cut_rule() const override {
    return core::message_of("cut at ", form_.longest,
                            " tokens of a question, data.question_length");
  }

 private:
  struct Best {
    layers::SpanChoice choice;
    std::vector<Token> tokens = {};  ///< empty while every window prefers no answer
    double none = 0;                 ///< of the last window, for no answer at all
  };

  Asked read(const Record& record) override {
    Asked asked{model().encode(record.texts[0]), model().encode(record.texts[1])};
    cut(asked.tokens, form_.longest);
    const Index whole = 2 + Index(asked.tokens.size() + asked.document.size());
    core::require(pads() || whole == length(), "question and document have ", whole - 2,
                  " tokens, and the model reads exactly ", length() - 2);
    return asked;
  }

  std::vector<Prediction> answer(const std::vector<Asked>& asked) override {
    std::vector<Best> best(asked.size());
    std::vector<data::QuestionWindow> windows;
    std::vector<std::size_t> owners;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const data::Windows all = data::document_windows(
          Index(asked[i].document.size()), Index(asked[i].tokens.size()), length(), form_.stride);
      for (Index w = 0; w < all.count(); ++w) {
        windows.push_back(data::join_window(asked[i].tokens, asked[i].document, all[w]));
        owners.push_back(i);
        if (Index(windows.size()) == options().batch) choose(windows, owners, best);
      }
    }
    choose(windows, owners, best);
    std::vector<Prediction> predictions;
    for (const Best& one : best) predictions.push_back(prediction_of(one));
    return predictions;
  }

  /// Reads the windows that have gathered, and forgets them.
  void choose(std::vector<data::QuestionWindow>& windows, std::vector<std::size_t>& owners,
              std::vector<Best>& best) const {
    if (windows.empty()) return;
    data::Batch batch = data::batch_of(windows, options().batch, length(), 1, pads());
    batch.targets = {};
    const autograd::Pass pass(core::Rng(0).fold("evaluation"));
    const std::vector<layers::SpanChoice> choices = answers_.choose(pass, {batch});
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const layers::SpanChoice& choice = choices[i];
      Best& own = best[owners[i]];
      if (!std::isfinite(choice.score) || !std::isfinite(choice.none))
        throw core::Error(core::Fault::diverged, "what the model predicts is not a number",
                          "Use an earlier checkpoint with --ckpt");
      own.none = choice.none;
      if (choice.is_none() || (!own.tokens.empty() && choice.score <= own.choice.score)) continue;
      own.choice = choice;
      own.tokens.assign(windows[i].tokens.begin() + choice.start,
                        windows[i].tokens.begin() + choice.end + 1);
    }
    windows.clear();
    owners.clear();
  }

  Prediction prediction_of(const Best& best) const {
    nlohmann::ordered_json json = {{"answer", nullptr}, {"probability", nullptr}};
    const std::string text = model().decode(best.tokens);
    const std::string probability =
        probability_text(std::exp(best.tokens.empty() ? best.none : best.choice.score));
    if (!best.tokens.empty()) json["answer"] = text;
    json["probability"] = std::stod(probability);
    return {{cell_of(text), probability},
            json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
  }

  const layers::SpanModel& answers_;
  data::QuestionForm form_;
};

}  // namespace

std::unique_ptr<Predictor> make_answer_predictor(const TextModel& model,
                                                 const PredictorOptions& options) {
  return std::make_unique<AnswerPredictor>(model, options);
}

}  // namespace weft::experiments
