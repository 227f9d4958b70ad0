#include "layers/attention/global_local/rows.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"

namespace weft::layers {
namespace {

RowLayout with_globals(Index tokens, std::vector<Index> sentence_ends) {
  const Index globals = 1 + Index(sentence_ends.size());
  RowLayout layout{.rows = globals + tokens,
                   .of_tokens = std::vector<Index>(std::size_t(tokens)),
                   .root = 0,
                   .sentence_ends = std::move(sentence_ends)};
  std::iota(layout.of_tokens.begin(), layout.of_tokens.end(), globals);
  for (Index row = 0; row < globals; ++row) layout.starts.push_back({row, row == 0 ? 0 : 1});
  return layout;
}

}  // namespace

void GlobalTokens::fields(core::Fields& field) {
  field.choice("by", by,
               "what a global token summarises: blocks, `every` tokens each, or token, sentences "
               "that end with the token `separator`",
               {"blocks", "token"});
  field.integer(
      "every", every,
      "tokens per global token; with by = \"token\" the number that cost estimates assume",
      core::at_least(1));
  field.when("by", {"token"}, [&] {
    field.integer("separator", separator, "number of the token that ends a sentence",
                  core::at_least(0));
  });
}

RowLayout GlobalRows::layout(Index tokens) const {
  std::vector<Index> ends;
  for (Index end = globals_.every; end - globals_.every < tokens; end += globals_.every)
    ends.push_back(std::min(end, tokens));
  return with_globals(tokens, std::move(ends));
}

RowLayout GlobalRows::layout(std::span<const core::Token> tokens) const {
  const Index count = Index(tokens.size());
  if (globals_.by == "blocks") return layout(count);
  std::vector<Index> ends;
  for (Index t = 0; t < count; ++t)
    if (tokens[std::size_t(t)] == globals_.separator || t + 1 == count) ends.push_back(t + 1);
  return with_globals(count, std::move(ends));
}

std::string GlobalRows::words() const {
  return globals_.by == "blocks"
             ? core::message_of("a global token for every ", globals_.every, " tokens")
             : core::message_of("a global token for what token ", globals_.separator, " ends");
}

}  // namespace weft::layers
