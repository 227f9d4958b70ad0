#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "data/spelling/utf8.h"
#include "experiments/predict/predictor.h"
#include "layers/model/language_model.h"

namespace weft::experiments {
namespace {

using core::Index;
using core::Token;

/// The text with its blanks filled in, each by the most likely token. A text that is longer than
/// the sequences of training is read in windows; the last one ends with the text.
class BlankPredictor final : public Predictor {
 public:
  BlankPredictor(const TextModel& model, const PredictorOptions& options)
      : Predictor(model, options),
        language_(layers::as_language_model(*model.saved.model, "predict")),
        mask_(Token(model.form.vocabulary - 1)) {
    core::require(!options.mask.empty(), "--mask is empty: name what marks a blank");
  }

  std::vector<std::string> columns() const override { return {"text", "probabilities"}; }
  std::string cut_rule() const override { return "cut"; }

 private:
  Asked read(const Record& record) override {
    const std::string& text = record.texts[0];
    Asked asked{{}};
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t blank = std::min(text.find(options().mask, at), text.size());
      const auto part = model().encode(std::string_view(text).substr(at, blank - at));
      asked.tokens.insert(asked.tokens.end(), part.begin(), part.end());
      if (blank == text.size()) break;
      asked.tokens.push_back(mask_);
      at = blank + options().mask.size();
    }
    core::require(std::ranges::find(asked.tokens, mask_) != asked.tokens.end(),
                  "there is no blank: write ", options().mask, " for each token to fill in");
    return asked;
  }

  std::vector<Prediction> answer(const std::vector<Asked>& asked) override {
    std::vector<Prediction> all;
    for (const Asked& one : asked) all.push_back(fill(one.tokens));
    return all;
  }

  /// The probabilities of all tokens at each blank, in order.
  std::vector<std::vector<double>> scores(const std::vector<Token>& tokens) const {
    const auto size = Index(tokens.size()), width = std::min(size, length());
    const autograd::Pass pass(core::Rng(0).fold("evaluation"));
    std::vector<std::vector<double>> all;
    for (Index read = 0; read < size;) {
      const Index begin = std::min(read, size - width);
      const core::Tokens inputs({1, width},
                                {tokens.begin() + begin, tokens.begin() + begin + width});
      const core::Tensor logits = language_.logits(language_.hidden(pass, inputs).value());
      const auto count = std::size_t(language_.vocabulary());
      for (Index t = read; t < begin + width; ++t)
        if (tokens[std::size_t(t)] == mask_)
          all.push_back(
              probabilities_of(logits.read().subspan(std::size_t(t - begin) * count, count)));
      read = begin + width;
    }
    return all;
  }

  /// The tokens that can be written, the most likely first.
  std::vector<Token> candidates(const std::vector<double>& probabilities) const {
    std::vector<Token> order;
    for (Token t = 0; t < mask_; ++t) order.push_back(t);
    const auto count = std::min(order.size(), std::size_t(std::max<Index>(1, options().top)));
    std::ranges::partial_sort(order, order.begin() + Index(count), [&](Token a, Token b) {
      const double pa = probabilities[std::size_t(a)], pb = probabilities[std::size_t(b)];
      return pa > pb || (pa == pb && a < b);
    });
    order.resize(count);
    return order;
  }

  Prediction fill(std::vector<Token> tokens) const {
    const auto all = scores(tokens);
    auto blank = std::ranges::find(tokens, mask_);
    std::string probabilities;
    auto blanks = nlohmann::ordered_json::array();
    for (const auto& own : all) {
      auto list = nlohmann::ordered_json::array();
      const std::vector<Token> best = candidates(own);
      for (const Token token : best)
        list.push_back({{"token", model().decode(std::span(&token, 1))},
                        {"probability", std::stod(probability_text(own[std::size_t(token)]))}});
      blanks.push_back(std::move(list));
      probabilities +=
          (probabilities.empty() ? "" : " ") + probability_text(own[std::size_t(best[0])]);
      *blank = best[0];
      blank = std::find(blank, tokens.end(), mask_);
    }
    const std::string text = model().decode(tokens);
    const nlohmann::ordered_json json = {{"text", text}, {"blanks", blanks}};
    return {{cell_of(text), probabilities},
            json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
  }

  const layers::LanguageModel& language_;
  Token mask_;
};

}  // namespace

std::unique_ptr<Predictor> make_blank_predictor(const TextModel& model,
                                                const PredictorOptions& options) {
  return std::make_unique<BlankPredictor>(model, options);
}

}  // namespace weft::experiments
