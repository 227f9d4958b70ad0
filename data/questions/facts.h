#pragma once

#include "core/fields.h"
#include "data/questions/question_data.h"
#include "data/spelling/alphabet.h"
#include "data/tasks/chain_walk.h"

namespace weft::data {

/// The settings of data.kind = "facts".
struct FactsSettings {
  Index keys = 64;            ///< different keys
  Index symbols = 26;         ///< of values and filler
  Index facts = 16;           ///< keys that a document has facts about
  Index value = 4;            ///< symbols of the longest value
  Index hops = 1;             ///< 2: the key asked for names another, which has the value
  double unanswerable = 0.1;  ///< share of questions for a key that the document lacks
  Index held_out = 256;       ///< questions in the validation split, and as many in the test split

  void fields(core::Fields& fields, Index length);
  /// Keys that have a value, and the tokens that all facts of a document can take.
  Index values() const { return facts / hops; }
  Index most_fact_tokens() const { return values() * (value + 3) + (facts - values()) * 4; }
};

/// Generated questions whose every answer is known: documents in which facts are placed between
/// filler,
///   key IS symbol ... symbol END      key LINK key END (hops 2)
/// and the question is a key: its value is the answer, or with two hops the value of the key that
/// it links to. Facts are in random order, filler from the recall language's chain is cut between
/// them with all cuts equally likely, and a value may be anywhere: attention has to reach the whole
/// document. Every sequence is `length` tokens long. Held-out questions depend on the settings
/// only.
class Facts final : public QuestionData {
 public:
  Facts(const FactsSettings& settings, Index length, Index batch, std::uint64_t seed);

  Index vocabulary() const override { return first_symbol() + Token(settings_.symbols); }
  std::optional<Index> training_tokens() const override { return {}; }
  std::vector<Token> encode(std::string_view text) const override { return alphabet_.encode(text); }
  std::string decode(std::span<const Token> tokens) const override {
    return alphabet_.decode(tokens);
  }
  std::optional<double> floor_bits(Split) const override { return 0; }
  std::vector<Baseline> baselines(Split split) const override;
  std::string fingerprint() const override;

  AnswerForm form() const override { return AnswerForm::symbols; }
  /// A question is one key.
  QuestionForm question_form() const override { return {1, 0}; }
  Index questions(Split) const override { return settings_.held_out; }
  Question question(Split split, Index number) const override;
  std::string answer_text(Split split, Index window, Index first, Index last) const override;

  static constexpr Token is = 3, link = 4, end = 5, first_key = 6;
  Token first_symbol() const { return first_key + Token(settings_.keys); }

 private:
  QuestionWindow training_window(Index number) const override;
  Index windows(Split) const override { return settings_.held_out; }
  QuestionWindow window(Split split, Index number) const override;
  QuestionWindow draw(const core::Rng& stream) const;
  /// The facts about the first keys: keys 0 .. values - 1 have values; with two hops, key
  /// values + i links to key i.
  std::vector<std::vector<Token>> draw_facts(const std::vector<Index>& keys,
                                             const core::Rng& stream) const;

  FactsSettings settings_;
  ChainLanguage language_;
  Alphabet alphabet_;
  std::uint64_t seed_;
};

}  // namespace weft::data
