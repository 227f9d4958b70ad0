// ETC: the tokens of a long input read a window around themselves and global tokens, which
// summarise blocks or sentences of it and read everything. Labels in the scores encode
// offsets, and which global token a token belongs to.
#include "core/error.h"
#include "layers/attention/global_local/attention.h"

namespace weft::layers {
namespace {

struct EtcSettings {
  Index window = 169;
  GlobalLocalSettings both;

  void fields(core::Fields& field) {
    field.integer("window", window, "tokens that a token reads, itself in the middle: 1, 3, 5, ...",
                  core::at_least(1));
    if (window % 2 == 0)
      field.problem("window", "an even number of tokens has no middle; take an odd one");
    both.fields(field);
  }

  AttentionTraits traits() const {
    return global_local_traits(
        "softmax over a window and over global tokens, which read everything", window, both);
  }
};

}  // namespace

AttentionPlan configure_etc(core::Fields& field, const AttentionSite&) {
  EtcSettings settings;
  settings.fields(field);
  const auto make = [settings, plans = std::make_shared<PlanCache>()](const AttentionSite& site) {
    const auto near = [side = settings.window / 2]() -> std::vector<Pattern> {
      return {band_pattern(side, side)};
    };
    return std::make_unique<GlobalLocalAttention>(settings.both, site, near, plans);
  };
  return {.make = make,
          .traits = settings.traits(),
          .rows = std::make_shared<GlobalRows>(settings.both.globals)};
}

}  // namespace weft::layers
