#include <iostream>

#include "core/error.h"
#include "experiments/commands/commands.h"
#include "experiments/config/describing.h"
#include "experiments/console/command_line.h"
#include "layers/attention/registry.h"
#include "layers/model/model_settings.h"

namespace weft::experiments {
namespace {

void list_attentions() {
  const layers::AttentionSite site = layers::ModelSettings{}.site(1024);
  for (const layers::AttentionEntry& entry : layers::attention_registry()) {
    DescribingFields fields;
    const layers::AttentionTraits traits = entry.configure(fields, site).traits;
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
}

void list_norms() {
  std::cout << "layer: each token by its mean and deviation, with gain and bias\n"
               "rms: each token by its root mean square, with gain\n"
               "batch: each column by its mean and deviation over all tokens of a batch\n"
               "  LEAKS: in training a token sees statistics of what follows it, so neither its\n"
               "  training loss nor what it learnt compares with causal systems; needs\n"
               "  model.allow_leaky_norm = true. Evaluation uses running averages and is causal\n";
}

}  // namespace

int list_command(const Arguments& arguments) {
  CommandLine line("weft list attentions|norms",
                   "Lists the attention mechanisms with their settings, or the kinds of norm.");
  line.words(1, 1, "attentions|norms");
  if (!line.parse(arguments)) return 0;
  const std::string& what = line.words()[0];
  core::require(what == "attentions" || what == "norms",
                "weft list knows attentions and norms, not ", what);
  what == "norms" ? list_norms() : list_attentions();
  return 0;
}

}  // namespace weft::experiments
