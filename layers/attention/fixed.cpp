// The fixed attention of the Sparse Transformer: the past of the token's own block, and of every
// block some summary columns at its end.
#include <algorithm>

#include "core/error.h"
#include "layers/attention/pattern/attention.h"
#include "layers/attention/pattern/factorised.h"

namespace weft::layers {
namespace {

struct FixedSettings {
  Factorised factorised;
  Index summary = 4;
  bool sub_blocks = false;
  ScoreSettings scores;

  void fields(core::Fields& field, const AttentionSite& typical) {
    factorised.fields(field, typical);
    field.renamed("c", "summary_columns");
    field.integer("summary_columns", summary,
                  "columns at the end of each block that all later "
                  "tokens read",
                  core::at_least(1));
    field.flag("sub_blocks", sub_blocks,
               "each head has different summary columns, counted back from the block's end");
    scores.list_first(field);
    scores.fields(field);
    if (factorised.stride > 0 && summary > factorised.stride)
      field.problem(
          "summary_columns",
          core::message_of(summary, " columns do not fit into a stride of ", factorised.stride));
  }

  Index columns_at(const AttentionSite& site) const {
    return std::min(summary, factorised.stride_at(site));
  }
  AttentionTraits traits(const AttentionSite& site) const {
    const Index stride = factorised.stride_at(site), columns = columns_at(site);
    return {.summary = "softmax over the token's own block and summary columns of earlier blocks",
            .bidirectional = false,
            .chunks = true,
            .keys_per_token = core::message_of("at most ", stride, " + ", columns, " T / ", stride),
            .decode_state = core::message_of("its own block of ", stride, " and ", columns,
                                             " keys and values of each earlier one")};
  }
};

}  // namespace

AttentionPlan configure_fixed(core::Fields& field, const AttentionSite& typical) {
  FixedSettings settings;
  settings.fields(field, typical);
  const auto make = [settings](const AttentionSite& site) {
    const Index stride = settings.factorised.stride_at(site), columns = settings.columns_at(site);
    const Index distinct = settings.sub_blocks ? site.heads : settings.factorised.distinct(site);
    std::vector<Pattern> patterns;
    for (Index head = 0; head < distinct; ++head) {
      const Index skip = settings.sub_blocks ? head % (stride / columns) * columns : 0;
      patterns.push_back(settings.scores.with_first(settings.factorised.of_head(
          site, head, past_of_block_pattern(stride), summary_pattern(stride, columns, skip))));
    }
    return std::make_unique<PatternAttention>(site, std::move(patterns), settings.scores);
  };
  return {make, settings.scores.complete(settings.traits(typical))};
}

}  // namespace weft::layers
