// Attention to the neighbourhood: a sliding window, or the token's own block with the blocks before
// it.
#include "layers/attention/pattern/attention.h"
#include "layers/attention/pattern/window.h"

namespace weft::layers {
namespace {

struct LocalSettings {
  enum class Form { band, block };

  Form form = Form::band;
  Index window = 256;
  Index block = 128;
  Index back = 1;
  ScoreSettings scores;

  void fields(core::Fields& field) {
    field.choice("form", form, "a window that slides with the token, or fixed blocks",
                 {{"band", Form::band}, {"block", Form::block}});
    field.when("form", {"band"}, [&] {
      field.integer("window", window, "keys that a token reads, itself included",
                    core::at_least(1));
    });
    field.when("form", {"block"}, [&] {
      field.integer("block", block, "tokens of a block", core::at_least(1));
      field.integer("back", back, "how many earlier blocks a token reads besides its own",
                    core::at_least(0));
    });
    scores.list_first(field);
    scores.fields(field);
  }

  Pattern pattern(const AttentionSite& site) const {
    return scores.with_first(form == Form::band ? window_pattern(site, window)
                                                : block_local_pattern(block, back));
  }

  AttentionTraits traits() const {
    const std::string keys = std::to_string(form == Form::band ? window : (back + 1) * block);
    return {.summary = "softmax over a sliding window, or over blocks with look-back",
            .chunks = true,
            .keys_per_token = "at most " + keys,
            .decode_state = "the last " + keys + " keys and values"};
  }
};

}  // namespace

AttentionPlan configure_local(core::Fields& field, const AttentionSite&) {
  LocalSettings settings;
  settings.fields(field);
  const auto make = [settings](const AttentionSite& site) {
    return std::make_unique<PatternAttention>(site, std::vector<Pattern>{settings.pattern(site)},
                                              settings.scores);
  };
  return {make, settings.scores.complete(settings.traits())};
}

}  // namespace weft::layers
