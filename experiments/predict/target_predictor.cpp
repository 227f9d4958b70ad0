#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "experiments/evaluate/beam_search.h"
#include "experiments/evaluate/generation.h"
#include "experiments/predict/predictor.h"

namespace weft::experiments {
namespace {

using core::Index;
using core::Token;

/// The generated target, and whether it was ended.
Prediction prediction_of(const char* name, const std::string& text, bool ended) {
  const nlohmann::ordered_json json = {{name, text}, {"ended", ended}};
  return {{cell_of(text)}, json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
}

/// Always the most likely tokens, at most `tokens`.
template <class Asked>
std::vector<GenerationTask> tasks_of(const std::vector<Asked>& asked, Index tokens) {
  std::vector<GenerationTask> tasks;
  for (const Asked& one : asked)
    tasks.push_back({one.tokens, {.tokens = tokens, .temperature = 0}});
  return tasks;
}

/// The target that a model generates from a source.
class TargetPredictor final : public Predictor {
 public:
  TargetPredictor(const TextModel& model, const PredictorOptions& options)
      : Predictor(model, options),
        seq2seq_(layers::as_seq2seq_model(*model.saved.model, "predict")),
        boundary_(model.form.boundary.value()) {}

  std::vector<std::string> texts() const override { return {"source"}; }
  std::vector<std::string> columns() const override { return {"target"}; }
  std::string cut_rule() const override {
    return core::message_of("cut at ", model().form.source_length,
                            " tokens, the longest source of training");
  }

 private:
  Asked read(const Record& record) override {
    Asked asked{model().encode(record.texts[0])};
    cut(asked.tokens, model().form.source_length);
    return asked;
  }

  std::vector<Prediction> answer(const std::vector<Asked>& asked) override {
    std::vector<Prediction> all;
    if (options().beams > 0) {
      for (const Asked& one : asked) all.push_back(searched(one.tokens));
      return all;
    }
    for (const Generation& made : generate(seq2seq_, tasks_of(asked, length()), boundary_))
      all.push_back(prediction_of("target", model().decode(made.tokens),
                                  Index(made.tokens.size()) < length() && !made.positions_ended));
    return all;
  }

  Prediction searched(const std::vector<Token>& source) const {
    const auto found =
        beam_search(seq2seq_, source, boundary_, {.beams = options().beams, .tokens = length()});
    if (found.empty()) return prediction_of("target", "", true);
    return prediction_of("target", model().decode(found[0].tokens), found[0].ended);
  }

  const layers::Seq2SeqModel& seq2seq_;
  Token boundary_;
};

/// How a language model continues a text, always by the most likely token.
class TextPredictor final : public Predictor {
 public:
  TextPredictor(const TextModel& model, const PredictorOptions& options)
      : Predictor(model, options),
        language_(layers::as_language_model(*model.saved.model, "predict")) {
    const auto longest = language_.longest();
    tokens_ = options.tokens > 0 ? options.tokens : std::min<Index>(32, longest.value_or(64) / 2);
    core::require(tokens_ >= 1 && (!longest || tokens_ < *longest), "--tokens ", tokens_,
                  " leaves no room for a text: learned positions end at ", longest.value_or(0));
  }

  std::vector<std::string> columns() const override { return {"continuation"}; }
  std::string cut_rule() const override {
    return core::message_of("cut to their last ", language_.longest().value_or(0) - tokens_,
                            " tokens, since learned positions end");
  }

 private:
  Asked read(const Record& record) override {
    Asked asked{model().encode(record.texts[0])};
    const auto longest = language_.longest();
    const Index room = longest ? *longest - tokens_ : Index(asked.tokens.size());
    if (Index(asked.tokens.size()) > room) {
      asked.tokens.erase(asked.tokens.begin(), asked.tokens.end() - room);
      count_cut();
    }
    return asked;
  }

  std::vector<Prediction> answer(const std::vector<Asked>& asked) override {
    std::vector<Prediction> all;
    for (const Generation& made : generate(language_, tasks_of(asked, tokens_)))
      all.push_back(prediction_of("continuation", model().decode(made.tokens), false));
    return all;
  }

  const layers::LanguageModel& language_;
  Index tokens_ = 0;
};

}  // namespace

std::unique_ptr<Predictor> make_target_predictor(const TextModel& model,
                                                 const PredictorOptions& options) {
  return std::make_unique<TargetPredictor>(model, options);
}

std::unique_ptr<Predictor> make_text_predictor(const TextModel& model,
                                               const PredictorOptions& options) {
  return std::make_unique<TextPredictor>(model, options);
}

}  // namespace weft::experiments
