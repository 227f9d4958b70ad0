#include "layers/attention/global_local/rows.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"

namespace weft::layers {
namespace {

RowLayout with_globals(Index tokens, std::vector<Index> sentence_ends, Index question) {
  const Index globals = 1 + question + Index(sentence_ends.size());
  RowLayout layout{.rows = globals + tokens - question,
                   .of_tokens = std::vector<Index>(std::size_t(tokens)),
                   .root = 0,
                   .starts = {{0, 0}},
                   .sentence_ends = std::move(sentence_ends)};
  const auto document = layout.of_tokens.begin() + std::ptrdiff_t(question);
  std::iota(layout.of_tokens.begin(), document, 1);
  std::iota(document, layout.of_tokens.end(), globals);
  for (Index row = 1 + question; row < globals; ++row) layout.starts.push_back({row, 1});
  return layout;
}

}  // namespace

void GlobalTokens::fields(core::Fields& field) {
  field.choice("by", by,
               "what a global token summarises: blocks, `every` tokens each, or token, sentences "
               "that end with the token `separator`",
               {{"blocks", By::blocks}, {"token", By::token}});
  field.integer(
      "every", every,
      "tokens per global token; with by = \"token\" the number that cost estimates assume",
      core::at_least(1));
  field.when("by", {"token"}, [&] {
    field.integer("separator", separator, "number of the token that ends a sentence",
                  core::at_least(0));
  });
  field.added("question_global");
  field.flag("question_global", question,
             "the tokens up to the end of a question are global tokens");
  field.when("question_global", {"true"}, [&] {
    field.integer("question_end", question_end,
                  "number of the token that ends a question, 2 in data of questions",
                  core::at_least(0));
  });
}

RowLayout GlobalRows::of_blocks(Index tokens, Index question) const {
  std::vector<Index> ends;
  for (Index begin = 0; begin < tokens - question; begin += globals_.every)
    ends.push_back(std::min(begin + globals_.every, tokens - question));
  return with_globals(tokens, std::move(ends), question);
}

RowLayout GlobalRows::layout(std::span<const core::Token> tokens) const {
  const Index count = Index(tokens.size());
  const auto end = std::ranges::find(tokens, core::Token(globals_.question_end));
  const Index question = globals_.question && end != tokens.end() ? end - tokens.begin() + 1 : 0;
  if (globals_.by == GlobalTokens::By::blocks) return of_blocks(count, question);
  std::vector<Index> ends;
  for (Index t = question; t < count; ++t)
    if (tokens[std::size_t(t)] == globals_.separator || t + 1 == count)
      ends.push_back(t + 1 - question);
  return with_globals(count, std::move(ends), question);
}

std::string GlobalRows::words() const {
  const std::string rows =
      globals_.by == GlobalTokens::By::blocks
          ? core::message_of("a global token for every ", globals_.every, " tokens")
          : core::message_of("a global token for what token ", globals_.separator, " ends");
  return globals_.question ? rows + " and for each token of a question" : rows;
}

}  // namespace weft::layers
