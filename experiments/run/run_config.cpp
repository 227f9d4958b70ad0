#include "experiments/run/run_config.h"

#include <algorithm>
#include <functional>
#include <set>

#include "core/error.h"
#include "experiments/config/describing.h"
#include "experiments/console/nearest_word.h"
#include "experiments/run/given_budget.h"
#include "layers/attention/registry.h"
#include "layers/settings/chunks_check.h"
#include "layers/settings/seq2seq_check.h"

namespace weft::experiments {
namespace {

/// Keys that change how a run goes about its work, not what comes out of it.
const std::vector<std::string>& keys_without_effect() {
  static const std::vector<std::string> keys = {"threads", "train.checkpoint_every",
                                                "train.keep_last", "train.keep_best",
                                                "train.tensorboard"};
  return keys;
}

void read_top(core::Fields& top, RunConfig& config) {
  top.integer("seed", config.seed, "seed of all random numbers of the run",
              core::between(0, 9.2e18));
  top.integer("threads", config.threads, "threads to use; 0: all cores", core::between(0, 4096));
}

void check_axial_grid(ConfigReader& reader, const layers::ModelSettings& model, Index length) {
  if (model.positions == layers::PositionKind::axial && model.axial_shape.size() == 2 &&
      model.axial_shape[0] * model.axial_shape[1] < model.places(length))
    reader.problem(
        "model.axial_shape",
        core::message_of("a grid of ", model.axial_shape[0], " x ", model.axial_shape[1],
                         " has fewer places than data.length, ", length,
                         model.places(length) > length ? ", and the token before it" : ""));
}

/// The key of [model] that names an attention first.
std::string key_naming(const layers::ModelSettings& model, const std::string& name) {
  const auto holds = [&](const std::vector<std::string>& names) {
    return std::ranges::find(names, name) != names.end();
  };
  if (holds(model.attention)) return "model.attention";
  return holds(model.encoder_attention()) ? "model.encoder_attention" : "model.cross_attention";
}

/// Of what the layers read: inputs and, where they may be longer, sources.
Index longest_sequence(const RunConfig& config) {
  return std::max(config.model.places(config.data.length), config.data.traits().source_length);
}

/// Reads the tables of the names that the model uses, then those that it does not use, so that
/// mistakes in any of them are found.
void read_attention_tables(ConfigReader& reader, RunConfig& config) {
  reader.section("attention");
  const layers::AttentionSite site = config.model.site(longest_sequence(config));
  const std::vector<std::string> tables = reader.tree().tables_under("attention");
  const std::set<std::string> defined(tables.begin(), tables.end());
  for (const std::string& name : config.model.attention_names()) {
    const std::string key = key_naming(config.model, name);
    if (!defined.contains(name) && !layers::find_attention(name)) {
      std::vector<std::string> known(defined.begin(), defined.end());
      for (const std::string_view kind : layers::attention_kinds()) known.emplace_back(kind);
      reader.problem(key,
                     "\"" + name + "\" is neither a table [attention." + name +
                         "] nor a kind of attention (weft list attentions)",
                     nearest(name, known));
      continue;
    }
    config.attention[name] =
        layers::read_attention(reader.section("attention." + name), name, site);
    if (const std::string unfit = layers::why_unfit(config.attention[name], site);
        !unfit.empty() && !config.model.is_seq2seq())
      reader.problem(key, "\"" + name + "\" " + unfit);
    if (key != "model.cross_attention")
      layers::check_positions(reader.section("model"), config.model, name, config.attention[name]);
  }
  layers::check_rows(reader.section("model"), config.model, config.attention);
  for (const std::string& name : defined)
    if (!config.attention.contains(name))
      layers::read_attention(reader.section("attention." + name), name, site);
}

void check_segment_memory(ConfigReader& reader, const RunConfig& config) {
  if (!config.model.segment_memory) return;
  if (!config.data.traits().streams)
    reader.problem("model.segment_memory",
                   "needs batches that continue each other: set data.sampling = \"streams\" for "
                   "text, or data.stream for recall and noise");
  bool any = false;
  for (const auto& [name, groups] : config.attention) {
    any = any || layers::carries_past(groups);
    for (const layers::HeadGroupPlan& group : groups) {
      if (group.projection.sparse())
        reader.problem(
            "attention." + name + ".projection",
            "sparse projections do not carry a past: dense, or model.segment_memory = false");
      if (group.fittings.conv > 0)
        reader.problem("attention." + name + ".conv",
                       "this convolution begins anew in every segment: 0, or "
                       "model.segment_memory = false");
    }
  }
  if (!any)
    reader.problem("model.segment_memory",
                   "no attention of the model carries a past: use fixed_span, adaptive_span, "
                   "dynamic_span or a recurrence such as gated_deltanet");
}

/// The requirements of a seq2seq model for its attention, data and training.
void check_seq2seq(ConfigReader& reader, const RunConfig& config) {
  const bool asked = config.model.is_seq2seq();
  if (asked && !config.data.traits().sources)
    reader.problem("model.task",
                   "seq2seq needs data of sources and targets: set data.kind = \"pairs\", "
                   "\"marked\", or \"duplicate\" with data.form = \"seq2seq\"");
  if (!asked && config.data.traits().sources)
    reader.problem(config.data.kind == "duplicate" ? "data.form" : "data.kind",
                   "sources are read by model.task = \"seq2seq\" only");
  if (!asked) return;
  layers::check_seq2seq(reader.section("model"), config.model, config.attention);
  if (config.train.recompute && !config.model.reversible)
    reader.problem("train.recompute",
                   "does not reach the layers that read a source; set model.reversible = true");
  if (!config.train.memory.empty())
    reader.problem("train.memory", "does not reach the layers that read a source: remove it");
}

/// Whether sequences can be cut into chunks.
void check_chunks(ConfigReader& reader, const RunConfig& config) {
  const Index chunks = config.train.chunks;
  if (chunks == 1) return;
  const data::DataTraits& data = config.data.traits();
  if (config.data.length % chunks != 0)
    reader.problem("train.chunks",
                   core::message_of("does not divide data.length = ", config.data.length));
  if (config.train.accumulate > 1)
    reader.problem("train.chunks",
                   "works on one batch a step: train.accumulate = 1, and "
                   "train.shards if a batch takes too much memory");
  if (!config.train.memory.empty())
    reader.problem("train.chunks",
                   "train.memory is measured on whole sequences: remove it, and "
                   "set train.recompute = true where memory is short");
  if (data.pads || data.sources || data.masks || data.classifies || data.asks)
    reader.problem("train.chunks",
                   "needs sequences that are all of one length, in which each "
                   "token but the last is followed by its target");
  if (const std::string why = layers::why_not_in_chunks(config.model, config.attention);
      !why.empty())
    reader.problem("train.chunks", why);
}

/// Whether what the data ask is what the model answers.
void check_task(ConfigReader& reader, const RunConfig& config) {
  const bool classifies = config.model.task == layers::Task::classify;
  if (classifies && !config.data.traits().classifies)
    reader.problem("model.task",
                   "needs sequences that each have a class: data.kind = \"listops\" or "
                   "\"labelled\", or images with data.form = \"classify\"");
  if (!classifies && config.data.traits().classifies)
    reader.problem("data.kind", core::message_of("\"", config.data.kind, "\" gives every sequence ",
                                                 "one class: set model.task = \"classify\""));
  const bool answers = config.model.task == layers::Task::span;
  if (answers && !config.data.traits().asks)
    reader.problem("model.task",
                   "needs questions about documents: data.kind = \"facts\" or \"qa\"");
  if (!answers && config.data.traits().asks)
    reader.problem("data.kind", core::message_of("\"", config.data.kind, "\" asks questions: ",
                                                 "set model.task = \"span\""));
  if (config.data.traits().masks && config.model.causal)
    reader.problem("model.causal",
                   "hidden tokens are filled in from both sides: set model.causal = false, or "
                   "data.masking = \"none\" to predict the next token");
  if (config.sample.tokens > 0 && (classifies || answers || config.data.traits().masks))
    reader.problem("sample.tokens", "only a model that predicts the next token writes text: 0");
  for (const auto& [name, groups] : config.attention)
    if (classifies && config.model.reads_root() && !layers::has_root(groups))
      reader.problem("model.pool", "no row of \"" + name +
                                       "\" stands for the whole sequence: take cls or mean, "
                                       "attention etc or bp, or model.trunk = "
                                       "\"star\"");
  if (!config.data.traits().pads) return;
  for (const auto& [name, groups] : config.attention)
    if (!layers::takes_padding(groups))
      reader.problem("model.attention",
                     "\"" + name +
                         "\" cannot leave out padding, and sequences are padded up to "
                         "data.length: take another (weft list attentions)" +
                         (classifies ? ", or set data.shortest = data.length" : ""));
}

SectionDescription described(const std::string& section,
                             const std::function<void(core::Fields&)>& list) {
  DescribingFields fields;
  list(fields);
  return {section, fields.descriptions()};
}

/// A group of heads can have every setting that all heads alike can have: they are named once.
SectionDescription describe_attention() {
  SectionDescription table = described("attention.NAME", [](core::Fields& fields) {
    layers::read_attention(fields, "dense", layers::ModelSettings{}.site(1024));
  });
  std::erase_if(table.keys, [](const FieldDescription& setting) {
    return setting.key.starts_with("groups[].") && !setting.conditions.empty();
  });
  for (FieldDescription& setting : table.keys)
    std::erase_if(setting.conditions,
                  [](const core::FieldCondition& condition) { return condition.key.empty(); });
  return table;
}

}  // namespace

RunConfig RunConfig::read(ConfigTree tree, ConfigReader::Names names) {
  RunConfig config;
  ConfigReader reader(with_given_budget(std::move(tree), config.remarks), names);
  read_top(reader.section(""), config);
  config.data.fields(reader.section("data"));
  config.model.images = config.data.traits().images;
  config.model.fields(reader.section("model"));
  check_axial_grid(reader, config.model, config.data.length);
  read_attention_tables(reader, config);
  check_segment_memory(reader, config);
  config.optim.fields(reader.section("optim"));
  config.train.fields(reader.section("train"));
  config.model.precision = config.train.precision;
  check_seq2seq(reader, config);
  if (config.train.steps > 0 && config.optim.warmup >= config.train.steps)
    reader.problem("optim.warmup", core::message_of("warm-up of ", config.optim.warmup,
                                                    " steps does not end within train.steps = ",
                                                    config.train.steps));
  if (config.train.recompute && config.model.reversible)
    reader.problem(
        "train.recompute",
        "has no effect together with model.reversible, which recomputes every layer: remove one");
  if (!config.train.memory.empty() && config.model.reversible && !config.model.is_seq2seq())
    reader.problem("train.memory",
                   "has no effect together with model.reversible, which keeps no layer's "
                   "activations: remove one");
  config.sample.fields(reader.section("sample"));
  check_task(reader, config);
  check_chunks(reader, config);
  reader.finish();
  config.resolved = reader.resolved();
  return config;
}

std::string RunConfig::identity() const { return resolved.hash(keys_without_effect()); }

bool RunConfig::leaks() const {
  if (!model.causal) return false;
  return model.has_batch_statistics() || model.experts_leak() ||
         std::ranges::any_of(model.attention_names(), [&](const std::string& name) {
           return layers::leaks(attention.at(name));
         });
}

RunConfig RunConfig::load(const std::string& path, const std::vector<std::string>& arguments) {
  const ConfigTree tree = ConfigTree::load(path, arguments);
  core::require(!tree.find("base"), path, " is a sweep, not the config of a run: weft sweep ", path,
                " trains its trials, and with --dry-run estimates them");
  return read(tree);
}

RunConfig RunConfig::from_text(const std::string& toml, const std::string& name,
                               const std::vector<std::string>& arguments) {
  return read(ConfigTree::from_text(toml, name, arguments), ConfigReader::Names::earlier);
}

std::vector<SectionDescription> describe_sections() {
  RunConfig config;
  return {described("", [&](core::Fields& top) { read_top(top, config); }),
          described("data", [&](core::Fields& data) { config.data.fields(data); }),
          described("model", [&](core::Fields& model) { config.model.fields(model); }),
          describe_attention(),
          described("optim", [&](core::Fields& optim) { config.optim.fields(optim); }),
          described("train", [&](core::Fields& train) { config.train.fields(train); }),
          described("sample", [&](core::Fields& sample) { config.sample.fields(sample); })};
}

std::string key_reference() {
  std::string text;
  for (const auto& [section, keys] : describe_sections()) {
    if (!section.empty()) text += "\n[" + section + "]\n";
    text += print_descriptions(keys, section);
  }
  return text;
}

}  // namespace weft::experiments
