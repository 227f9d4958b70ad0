#include <algorithm>
#include <iostream>
#include <utility>

#include "core/error.h"
#include "data/registry.h"
#include "experiments/commands/commands.h"
#include "experiments/config/describing.h"
#include "experiments/console/command_line.h"
#include "experiments/console/nearest_word.h"
#include "experiments/show/typical_tile.h"
#include "layers/attention/origins.h"
#include "layers/attention/registry.h"
#include "layers/settings/model_settings.h"
#include "layers/settings/part_origins.h"

namespace weft::experiments {
namespace {

constexpr core::Index typical_length = 1024;

constexpr core::Index shown_length = 512;

/// What a head with the default settings reads of random tokens, in characters.
std::string thumbnail(const layers::AttentionEntry& entry, core::Index columns) {
  constexpr core::Index length = shown_length, width = 128;
  DescribingFields fields;
  layers::AttentionSite site{.width = width, .heads = 1, .head_width = width, .length = length};
  const layers::HeadGroupPlan plan{entry.configure(fields, site), 1};
  site.causal = plan.attention.traits.causal;
  return block_text(typical_tile(plan, site, length), columns);
}

void print_thumbnail(const layers::AttentionEntry& entry) {
  std::cout << "\n  What a head reads of " << shown_length
            << " random tokens: queries from top to bottom, keys from left to right.\n\n"
            << thumbnail(entry, 48) << '\n';
}

/// A page of documentation, in Markdown.
void print_pictures() {
  std::cout << "# What each mechanism reads\n\nWhat a head with the default settings reads of "
            << shown_length
            << " random tokens before any\ntraining: queries from top to bottom, keys from left to "
               "right, darker where\nmore is read. A mechanism that reads up to as many keys looks "
               "like dense attention\n(longformer, nsa). Made by `weft list attentions "
               "--pictures`.\n";
  for (const layers::AttentionEntry& entry : layers::attention_registry())
    std::cout << "\n## " << entry.kind << "\n\n```text\n" << thumbnail(entry, 32) << "```\n";
}

void print_attention(const layers::AttentionEntry& entry) {
  DescribingFields fields;
  const layers::AttentionTraits traits =
      entry.configure(fields, layers::ModelSettings{}.site(typical_length)).traits;
  std::cout << entry.kind << ": " << traits.summary << '\n';
  if (const layers::AttentionOrigin* origin = layers::find_origin(entry.kind))
    std::cout << "  " << origin->formula << "\n  " << origin->paper << '\n';
  std::cout << "  "
            << (!traits.causal         ? "bidirectional only"
                : traits.bidirectional ? "causal or bidirectional"
                                       : "causal only")
            << ", " << (traits.exact ? "exact" : "approximate")
            << (traits.chunks ? ", can be trained in chunks (train.chunks)" : "")
            << (traits.leaks ? ", leaks: later tokens choose what earlier ones read" : "")
            << "; keys read per token: " << traits.keys_per_token
            << "; decoding keeps: " << traits.decode_state << '\n'
            << print_descriptions(fields.descriptions(), "  attention.NAME");
}

int list_attentions(const Arguments& arguments) {
  CommandLine line("weft list attentions",
                   "Lists the attention mechanisms, the values of model.attention. weft list KIND "
                   "says of one where it comes from, what it costs, and its settings.");
  line.flag("all", "everything that weft list KIND says, of all")
      .flag("pictures", "a page in Markdown with a picture of what each reads");
  if (!line.parse(arguments)) return 0;
  if (line.has("pictures")) {
    print_pictures();
    return 0;
  }
  std::size_t widest = 0;
  for (const layers::AttentionEntry& entry : layers::attention_registry())
    widest = std::max(widest, entry.kind.size());
  for (const layers::AttentionEntry& entry : layers::attention_registry()) {
    if (line.has("all")) {
      print_attention(entry);
      std::cout << '\n';
      continue;
    }
    DescribingFields fields;
    const auto site = layers::ModelSettings{}.site(typical_length);
    std::cout << entry.kind << std::string(widest + 2 - entry.kind.size(), ' ')
              << entry.configure(fields, site).traits.summary << '\n';
  }
  return 0;
}

/// Whether a setting exists only where a part was chosen.
bool is_under(const core::FieldCondition& condition, const layers::PartOrigin& part) {
  const std::string setting(part.setting);
  return condition.key.empty()
             ? condition.words == "model." + setting + " above 0"
             : condition.key == setting &&
                   std::ranges::find(condition.values, part.value) != condition.values.end();
}

/// The settings of [model] that a part adds, and under which further conditions they exist. A
/// setting under several parts belongs to the innermost.
std::vector<FieldDescription> part_settings(const layers::PartOrigin& part) {
  std::vector<FieldDescription> own;
  for (FieldDescription setting : describe(layers::ModelSettings{})) {
    std::vector<core::FieldCondition>& conditions = setting.conditions;
    const auto innermost = std::ranges::find_if(
        conditions.rbegin(), conditions.rend(), [](const core::FieldCondition& condition) {
          const auto holds = [&](const layers::PartOrigin& any) {
            return is_under(condition, any);
          };
          return std::ranges::any_of(layers::trunk_origins(), holds) ||
                 std::ranges::any_of(layers::feed_forward_origins(), holds);
        });
    if (innermost == conditions.rend() || !is_under(*innermost, part)) continue;
    conditions.erase(conditions.begin(), innermost.base());
    own.push_back(std::move(setting));
  }
  return own;
}

void print_part(const layers::PartOrigin& part) {
  const std::string what = part.setting == "feedforward" ? "feed-forward" : "trunk";
  const bool number = part.value.find_first_not_of("0123456789") == std::string_view::npos;
  const std::string quote = number ? "" : "\"";
  std::cout << part.name << " (" << what << "): " << part.summary << "\n  " << part.formula
            << "\n  " << part.paper << "\n  model." << part.setting << " = " << quote << part.value
            << quote << '\n'
            << print_descriptions(part_settings(part), "  model");
}

/// One line for each part; with --all everything.
int list_parts(std::span<const layers::PartOrigin> parts, CommandLine line,
               const Arguments& arguments) {
  line.flag("all", "everything that weft list NAME says, of all");
  if (!line.parse(arguments)) return 0;
  std::size_t widest = 0;
  for (const layers::PartOrigin& part : parts) widest = std::max(widest, part.name.size());
  for (const layers::PartOrigin& part : parts) {
    if (line.has("all")) {
      print_part(part);
      std::cout << '\n';
    } else {
      std::cout << part.name << std::string(widest + 2 - part.name.size(), ' ') << part.summary
                << '\n';
    }
  }
  return 0;
}

int list_trunks(const Arguments& arguments) {
  return list_parts(layers::trunk_origins(),
                    CommandLine("weft list trunks",
                                "Lists what leads from tokens to hidden vectors: the values of "
                                "model.trunk, and Universal Transformers. weft list NAME says of "
                                "one where it comes from, and its settings."),
                    arguments);
}

int list_feed_forwards(const Arguments& arguments) {
  return list_parts(layers::feed_forward_origins(),
                    CommandLine("weft list feedforwards",
                                "Lists the feed-forwards, the values of model.feedforward. weft "
                                "list NAME says of one where it comes from, and its settings."),
                    arguments);
}

/// The part of a model that depends on the kind.
const char* purpose_of(const data::DataTraits& traits) {
  if (traits.asks) return "questions about documents, for model.task = \"span\"";
  if (traits.sources) return "sources and targets, for model.task = \"seq2seq\"";
  if (traits.classifies) return "sequences with a class each, for model.task = \"classify\"";
  return "sequences, for model.task = \"language\"";
}

void print_data(const data::DataEntry& entry) {
  DescribingFields fields;
  const data::DataTraits traits = entry.configure(fields, typical_length).traits;
  std::cout << entry.kind << ": " << purpose_of(traits) << '\n'
            << print_descriptions(fields.descriptions(), "  data");
}

int list_data(const Arguments& arguments) {
  CommandLine line("weft list data", "Lists the kinds of data and their settings.");
  if (!line.parse(arguments)) return 0;
  for (const data::DataEntry& entry : data::data_registry()) {
    print_data(entry);
    std::cout << '\n';
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

/// Everything that goes by a name: an attention, trunks and feed-forwards, a kind of data.
bool print_named(const std::string& name) {
  bool found = false;
  const auto separate = [&] {
    if (std::exchange(found, true)) std::cout << '\n';
  };
  if (const layers::AttentionEntry* entry = layers::find_attention(name)) {
    separate();
    print_attention(*entry);
    print_thumbnail(*entry);
  }
  for (const auto parts : {layers::trunk_origins(), layers::feed_forward_origins()})
    for (const layers::PartOrigin& part : parts) {
      if (part.name != name) continue;
      separate();
      print_part(part);
    }
  for (const data::DataEntry& entry : data::data_registry()) {
    if (entry.kind != name) continue;
    separate();
    print_data(entry);
  }
  return found;
}

/// Everything that `print_named` knows.
std::vector<std::string> known_names() {
  std::vector<std::string> known;
  for (const Command& command : list_commands()) known.emplace_back(command.name);
  for (const layers::AttentionEntry& entry : layers::attention_registry())
    known.push_back(entry.kind);
  for (const auto parts : {layers::trunk_origins(), layers::feed_forward_origins()})
    for (const layers::PartOrigin& part : parts) known.emplace_back(part.name);
  for (const data::DataEntry& entry : data::data_registry()) known.emplace_back(entry.kind);
  return known;
}

}  // namespace

std::span<const Command> list_commands() {
  static constexpr Command commands[] = {
      {"attentions", "the attention mechanisms, one line each", list_attentions},
      {"trunks", "what leads from tokens to hidden vectors, one line each", list_trunks},
      {"feedforwards", "the feed-forwards, one line each", list_feed_forwards},
      {"data", "the kinds of data with their settings", list_data},
      {"norms", "the kinds of norm", list_norms},
  };
  return commands;
}

int list_command(const Arguments& arguments) {
  const bool named =
      !arguments.empty() && !arguments[0].starts_with("--") &&
      std::ranges::find(list_commands(), arguments[0], &Command::name) == list_commands().end();
  if (!named) return run_command("weft list", list_commands(), arguments);
  CommandLine line("weft list NAME",
                   "Says of an attention, a trunk, a feed-forward or a kind of data what it is, "
                   "where it comes from, what it costs, and its settings.");
  line.words(1, 1, "NAME");
  if (!line.parse(arguments)) return 0;
  if (print_named(arguments[0])) return 0;
  const std::string meant = nearest(arguments[0], known_names());
  throw core::Error(
      core::message_of("there is no attention, trunk, feed-forward or kind of data \"",
                       arguments[0], "\"", meant.empty() ? ";" : "; did you mean " + meant + "?",
                       " weft list attentions, trunks, feedforwards and data list "
                       "them"));
}

}  // namespace weft::experiments
