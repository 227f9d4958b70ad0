#pragma once

#include <string>
#include <unordered_set>

#include "core/fields.h"
#include "data/tasks/classification.h"
#include "data/tasks/listops_grammar.h"

namespace weft::data {

/// The settings of data.kind = "listops". The defaults are those of the Long Range Arena, whose
/// longest expressions have data.length = 1999 tokens.
struct ListopsSettings {
  Index shortest = 501;   ///< tokens of an expression, up to data.length
  Index depth = 10;       ///< at this depth there are only digits
  Index arguments = 10;   ///< an operator has 2 .. arguments of them
  double nesting = 0.25;  ///< probability that an argument is an operation itself
  Index examples = 0;     ///< expressions to train on, over and over; 0: always new ones
  Index held_out = 2000;  ///< expressions in the validation split, and as many in the test split

  void fields(core::Fields& fields, Index length);
};

/// Expressions of the ListOps grammar and their values, 0 .. 9, as a classification. Held-out
/// expressions depend on the settings only, are all different, and are never used for training.
/// With the default settings and a length of 1999 this is the data of the Long Range Arena, except
/// that training expressions never end unless `examples` limits their number.
class Listops final : public Classification {
 public:
  Listops(const ListopsSettings& settings, Index length, Index batch, std::uint64_t seed);

  Index vocabulary() const override { return listops::vocabulary; }
  Index classes() const override { return listops::digits; }
  std::vector<std::string> class_names() const override;
  std::optional<Index> training_tokens() const override { return {}; }
  std::vector<Baseline> baselines(Split split) const override;
  std::vector<Token> encode(std::string_view text) const override { return listops::read(text); }
  std::string decode(std::span<const Token> tokens) const override {
    return listops::spelled(tokens);
  }
  std::optional<std::string> difficulty() const override { return "tree depth"; }
  Index difficulty_of(std::span<const Token> sequence) const override {
    return listops::depth_of(sequence);
  }
  std::string fingerprint() const override;

 private:
  Example training_example(Index number) const override;
  Index scored(Split) const override { return settings_.held_out; }
  Example scored_example(Split split, Index number) const override;

  /// The first expression that the stream grows within the limits and that `taken` lacks.
  listops::Expression draw(const core::Rng& stream,
                           const std::unordered_set<std::string>& taken) const;
  void draw_held_out(Split split, std::vector<listops::Expression>& into);
  /// How often evaluating the outermost `levels` gives the right value; where they hold no digit,
  /// the most frequent value under the root's operator is predicted.
  double right_by_levels(Split split, Index levels) const;

  ListopsSettings settings_;
  listops::Grammar grammar_;
  std::uint64_t seed_;
  std::unordered_set<std::string> held_out_;  ///< fingerprints
  std::vector<listops::Expression> validation_, test_;
};

}  // namespace weft::data
