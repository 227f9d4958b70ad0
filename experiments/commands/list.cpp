#include <iostream>

#include "data/registry.h"
#include "experiments/commands/commands.h"
#include "experiments/config/describing.h"
#include "experiments/console/command_line.h"
#include "layers/attention/registry.h"
#include "layers/settings/model_settings.h"

namespace weft::experiments {
namespace {

int list_attentions(const Arguments& arguments) {
  CommandLine line("weft list attentions",
                   "Lists the attention mechanisms: what they are good for, what they cost, and "
                   "their settings.");
  if (!line.parse(arguments)) return 0;
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
  return 0;
}

/// What a kind gives to a model.
const char* purpose_of(const data::DataTraits& traits) {
  if (traits.asks) return "questions about documents, for model.task = \"span\"";
  if (traits.sources) return "sources and targets, for model.task = \"seq2seq\"";
  if (traits.classifies) return "sequences with a class each, for model.task = \"classify\"";
  return "sequences, for model.task = \"language\"";
}

int list_data(const Arguments& arguments) {
  CommandLine line("weft list data", "Lists the kinds of data and their settings.");
  if (!line.parse(arguments)) return 0;
  constexpr core::Index typical_length = 1024;
  for (const data::DataEntry& entry : data::data_registry()) {
    DescribingFields fields;
    const data::DataTraits traits = entry.configure(fields, typical_length).traits;
    std::cout << entry.kind << ": " << purpose_of(traits) << '\n'
              << print_descriptions(fields.descriptions(), "  data") << '\n';
  }
  return 0;
}

int list_norms(const Arguments& arguments) {
  CommandLine line("weft list norms", "Lists the kinds of norm.");
  if (!line.parse(arguments)) return 0;
  std::cout << "layer: each token by its mean and deviation, with gain and bias\n"
               "rms: each token by its root mean square, with gain\n"
               "batch: each column by its mean and deviation over all tokens of a batch\n"
               "  LEAKS: in training a token sees statistics of what follows it, so neither its\n"
               "  training loss nor what it learnt compares with causal systems; needs\n"
               "  model.allow_leaky_norm = true. Evaluation uses running averages and is causal\n";
  return 0;
}

}  // namespace

std::span<const Command> list_commands() {
  static constexpr Command commands[] = {
      {"attentions", "the attention mechanisms with their settings", list_attentions},
      {"data", "the kinds of data with their settings", list_data},
      {"norms", "the kinds of norm", list_norms},
  };
  return commands;
}

}  // namespace weft::experiments
