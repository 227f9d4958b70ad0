#include "data/tasks/listops.h"

#include <algorithm>

#include "core/error.h"
#include "data/fingerprint.h"
#include "data/plan.h"
#include "data/shuffle.h"

namespace weft::data {
namespace {

std::string print_of(const listops::Expression& tokens) {
  return fingerprint_of(
      {reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(Token)});
}

Example labelled(const listops::Expression& tokens) {
  return {tokens, Token(listops::evaluate(tokens).value())};
}

}  // namespace

void ListopsSettings::fields(core::Fields& fields, Index length) {
  fields.integer("shortest", shortest,
                 "fewest tokens of an expression; the most are data.length; Long Range Arena: "
                 "501, with data.length = 1999",
                 core::at_least(1));
  fields.integer("depth", depth, "depth at which there are only digits; the root is at 1",
                 core::between(2, 100));
  fields.integer("arguments", arguments, "most arguments of an operator; the fewest are 2",
                 core::between(2, 100));
  fields.number("nesting", nesting, "probability that an argument is an operation",
                core::between(0.01, 0.99));
  fields.integer("examples", examples,
                 "number of expressions to train on, reshuffled in every epoch; 0: always new ones",
                 core::at_least(0));
  fields.integer("held_out", held_out, "expressions to validate on, and as many to test on",
                 core::at_least(1));
  if (shortest > length)
    fields.problem("shortest", core::message_of("must be at most data.length, ", length));
}

DataPlan configure_listops(core::Fields& fields, Index length) {
  ListopsSettings settings;
  settings.fields(fields, length);
  return plan_for<Listops>(settings, length,
                           {.pads = settings.shortest < length, .classifies = true});
}

Listops::Listops(const ListopsSettings& settings, Index length, Index batch, std::uint64_t seed)
    : Classification(length, batch, settings.shortest < length),
      settings_(settings),
      grammar_{settings.depth, settings.arguments, settings.nesting},
      seed_(seed) {
  core::require(settings.shortest <= length, "data.shortest, ", settings.shortest,
                ", is more than data.length, ", length, ": lower it");
  draw_held_out(Split::validation, validation_);
  draw_held_out(Split::test, test_);
}

listops::Expression Listops::draw(const core::Rng& stream,
                                  const std::unordered_set<std::string>& taken) const {
  constexpr std::uint64_t most = 100000;
  for (std::uint64_t attempt = 0; attempt < most; ++attempt) {
    auto grown = grammar_.grow(stream.fold(attempt), settings_.shortest, length());
    if (grown && !taken.contains(print_of(*grown))) return std::move(*grown);
  }
  throw core::Error(core::message_of(
      "listops: ", most, " attempts gave no new expression of ", settings_.shortest, " to ",
      length(), " tokens: widen data.shortest .. data.length, or lower data.held_out"));
}

void Listops::draw_held_out(Split split, std::vector<listops::Expression>& into) {
  const core::Rng own = core::Rng(0).fold("listops held out").fold(name_of(split));
  for (Index i = 0; i < settings_.held_out; ++i) {
    into.push_back(draw(own.fold(std::uint64_t(i)), held_out_));
    held_out_.insert(print_of(into.back()));
  }
}

Example Listops::training_example(Index number) const {
  const Index examples = settings_.examples;
  if (examples == 0)
    return labelled(draw(core::Rng(seed_).fold("listops").fold(std::uint64_t(number)), held_out_));
  const core::Rng order = core::Rng(seed_).fold("listops order");
  const Shuffle epoch(examples, order.fold(std::uint64_t(number / examples)));
  const auto chosen = std::uint64_t(epoch[number % examples]);
  return labelled(draw(core::Rng(0).fold("listops training").fold(chosen), held_out_));
}

Example Listops::scored_example(Split split, Index number) const {
  if (split == Split::training) return training_example(number);
  return labelled((split == Split::validation ? validation_ : test_)[std::size_t(number)]);
}

double Listops::right_by_levels(Split split, Index levels) const {
  // The most frequent value under each operator, and under none.
  std::vector<std::vector<Index>> counts(listops::vocabulary,
                                         std::vector<Index>(listops::digits, 0));
  for (Index i = 0; i < scored(split); ++i) {
    const Example example = scored_example(split, i);
    ++counts[std::size_t(example.tokens[0])][std::size_t(example.label)];
  }
  Index right = 0;
  for (Index i = 0; i < scored(split); ++i) {
    const Example example = scored_example(split, i);
    const auto& frequent = counts[std::size_t(example.tokens[0])];
    const auto guess = listops::evaluate(example.tokens, levels);
    right += guess.value_or(int(std::ranges::max_element(frequent) - frequent.begin())) ==
             int(example.label);
  }
  return double(right) / double(scored(split));
}

std::vector<std::string> Listops::class_names() const {
  std::vector<std::string> names;
  for (Index digit = 0; digit < listops::digits; ++digit) names.push_back(std::to_string(digit));
  return names;
}

std::vector<Baseline> Listops::baselines(Split split) const {
  std::vector<Baseline> all = Classification::baselines(split);
  all.push_back({"root operator", best_by(split, listops::vocabulary, [](const Example& example) {
                   return example.tokens[0];
                 })});
  all.push_back({"root operator and its literal arguments", right_by_levels(split, 1)});
  for (const Index levels : {2, 3, 4})
    all.push_back({core::message_of(levels, " levels"), right_by_levels(split, levels)});
  return all;
}

std::string Listops::fingerprint() const {
  return fingerprint_of(core::message_of(
      "listops length=", length(), " shortest=", settings_.shortest, " depth=", settings_.depth,
      " arguments=", settings_.arguments, " nesting=", settings_.nesting,
      " examples=", settings_.examples, " held_out=", settings_.held_out));
}

}  // namespace weft::data
