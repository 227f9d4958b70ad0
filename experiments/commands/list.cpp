#include <iostream>

#include "core/error.h"
#include "experiments/command_line.h"
#include "experiments/commands/commands.h"
#include "experiments/config_fields_describing.h"
#include "layers/attention/registry.h"
#include "layers/model_settings.h"

namespace weft::experiments {

int list_command(const Arguments& arguments) {
  CommandLine line("weft list attentions", "Lists the attention mechanisms with their settings.");
  line.words(1, 1, "attentions");
  if (!line.parse(arguments)) return 0;
  core::require(line.words()[0] == "attentions", "weft list knows only attentions, not ",
                line.words()[0]);
  const layers::AttentionSite site = layers::ModelSettings{}.site(1024);
  for (const layers::AttentionEntry& entry : layers::attention_registry()) {
    DescribingFields fields;
    const auto attention = entry.configure(fields, site)(site);
    const layers::AttentionTraits traits = attention->traits();
    std::cout << entry.kind << ": " << traits.summary << "\n  "
              << (!traits.causal         ? "bidirectional only"
                  : traits.bidirectional ? "causal or bidirectional"
                                         : "causal only")
              << ", " << (traits.exact ? "exact" : "approximate")
              << (traits.leaks ? ", leaks: later tokens choose what earlier ones read" : "")
              << "; keys read per token: " << traits.keys_per_token
              << "; decoding keeps: " << traits.decode_state << '\n'
              << print_descriptions(fields.descriptions(), "  attention.NAME") << '\n';
  }
  return 0;
}

}  // namespace weft::experiments
