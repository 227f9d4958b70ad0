#include "experiments/run/run_config.h"

#include <algorithm>
#include <set>

#include "core/error.h"
#include "experiments/config/describing.h"
#include "experiments/console/nearest_word.h"
#include "layers/attention/registry.h"
#include "layers/model/seq2seq_check.h"

namespace weft::experiments {
namespace {

/// Keys that change how a run goes about its work, not what comes out of it.
const std::vector<std::string>& keys_without_effect() {
  static const std::vector<std::string> keys = {"threads", "train.checkpoint_every",
                                                "train.keep_last", "train.keep_best",
                                                "train.tensorboard"};
  return keys;
}

/// Data of sources and targets, which bring further keys with them.
data::DataSettings pairs() {
  data::DataSettings data;
  data.kind = "duplicate";
  data.duplicate.form = "seq2seq";
  return data;
}

/// A text with all the keys that hidden tokens bring.
data::DataSettings masked_spans() {
  data::DataSettings data;
  data.kind = "text";
  data.text.hidden.masking = "spans";
  return data;
}

void read_data(ConfigReader& reader, data::DataSettings& data) {
  data.fields(reader.section("data"));
  for (const std::string_view kind : data::data_kinds) {
    data::DataSettings other;
    other.kind = kind;
    other.fields(reader.alternative("data", "kind", std::string(kind)));
  }
  pairs().fields(reader.alternative("data", "form", "seq2seq"));
  masked_spans().fields(reader.alternative("data", "masking", "spans"));
}

void read_optim(ConfigReader& reader, optim::OptimSettings& optim) {
  optim.fields(reader.section("optim"));
  for (const std::string kind : {"adam", "adamw", "sgd", "adagrad"}) {
    optim::OptimSettings other;
    other.kind = kind;
    other.fields(reader.alternative("optim", "kind", kind));
  }
  for (const std::string schedule : {"constant", "cosine", "linear", "rsqrt"}) {
    optim::OptimSettings other;
    other.schedule = schedule;
    other.fields(reader.alternative("optim", "schedule", schedule));
  }
}

/// A value of a [model] key that brings further keys with it.
struct ModelVariant {
  std::string key, value;
  layers::ModelSettings model;
};

std::vector<ModelVariant> model_variants() {
  layers::ModelSettings language, reversible, batch, axial, sparse, experts, memory, sparse_loss,
      classify, seq2seq;
  classify.task = "classify";
  seq2seq.task = "seq2seq";
  reversible.reversible = true;
  sparse.feedforward = "sparse";
  experts.feedforward = "experts";
  experts.experts.choices = 2;
  experts.experts.second = "random";
  memory.feedforward = "memory";
  sparse_loss.loss = "sparse";
  sparse_loss.tie = false;
  batch.norm = "batch";
  axial.positions = "axial";
  return {{"reversible", "true", reversible},  {"norm", "batch", batch},
          {"positions", "axial", axial},       {"feedforward", "sparse", sparse},
          {"feedforward", "experts", experts}, {"feedforward", "memory", memory},
          {"loss", "sparse", sparse_loss},     {"task", "classify", classify},
          {"task", "seq2seq", seq2seq},        {"task", "language", language}};
}

void read_model(ConfigReader& reader, layers::ModelSettings& model, Index length) {
  model.fields(reader.section("model"));
  for (const ModelVariant& variant : model_variants()) {
    layers::ModelSettings other = variant.model;
    if (variant.key != "task") other.task = model.task;  // so that only its own keys are named
    other.fields(reader.alternative("model", variant.key, variant.value));
  }
  if (model.positions == "axial" && model.axial_shape.size() == 2 &&
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

/// Reads the tables of the names that the model uses, then those that it does not use, so that
/// mistakes in any of them are found.
void read_attention_tables(ConfigReader& reader, RunConfig& config) {
  reader.section("attention");
  const layers::AttentionSite site = config.model.site(config.model.places(config.data.length));
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
        !unfit.empty() && !config.model.tells_from_source())
      reader.problem(key, "\"" + name + "\" " + unfit);
    if (key != "model.cross_attention")
      layers::check_positions(reader.section("model"), config.model, name, config.attention[name],
                              site);
    layers::ProjectionSettings{.kind = "sparse"}.fields(
        reader.alternative("attention." + name, "projection", "sparse"));
    for (const layers::AttentionEntry& entry : layers::attention_registry())
      entry.configure(reader.alternative("attention." + name, "kind", std::string(entry.kind)),
                      site);
  }
  for (const std::string& name : defined)
    if (!config.attention.contains(name))
      layers::read_attention(reader.section("attention." + name), name, site);
}

void check_recurrence(ConfigReader& reader, const RunConfig& config) {
  if (!config.model.recurrence) return;
  if (!config.data.streams())
    reader.problem("model.recurrence",
                   "needs batches that continue each other: set data.sampling = \"streams\" for "
                   "text, or data.stream for recall and noise");
  const layers::AttentionSite site = config.model.site(config.data.length);
  bool any = false;
  for (const auto& [name, groups] : config.attention) {
    any = any || layers::carries_past(groups, site);
    for (const layers::HeadGroupPlan& group : groups)
      if (group.projection.sparse())
        reader.problem(
            "attention." + name + ".projection",
            "sparse projections do not carry a past: dense, or model.recurrence = false");
  }
  if (!any)
    reader.problem("model.recurrence",
                   "no attention of the model carries a past: use fixed_span, adaptive_span or "
                   "dynamic_span");
}

/// What a seq2seq model asks of its attention, its data and its training.
void check_seq2seq(ConfigReader& reader, const RunConfig& config) {
  const bool asked = config.model.tells_from_source();
  if (asked && !config.data.sources())
    reader.problem("model.task",
                   "seq2seq needs data of sources and targets: set data.kind = \"duplicate\" and "
                   "data.form = \"seq2seq\"");
  if (!asked && config.data.sources())
    reader.problem("data.form", "sources are read by model.task = \"seq2seq\" only");
  if (!asked) return;
  layers::check_seq2seq(reader.section("model"), config.model, config.attention,
                        config.data.length);
  if (config.train.recompute && !config.model.reversible)
    reader.problem("train.recompute",
                   "does not reach the layers that read a source; set model.reversible = true");
}

/// Whether what the data ask is what the model answers.
void check_task(ConfigReader& reader, const RunConfig& config) {
  const bool classifies = config.model.task == "classify";
  if (classifies && !config.data.classifies())
    reader.problem("model.task",
                   "needs sequences that each have a class: data.kind = \"listops\" or "
                   "\"labelled\"");
  if (!classifies && config.data.classifies())
    reader.problem("data.kind", core::message_of("\"", config.data.kind, "\" gives every sequence ",
                                                 "one class: set model.task = \"classify\""));
  if (config.data.masks() && config.model.causal)
    reader.problem("model.causal",
                   "hidden tokens are filled in from both sides: set model.causal = false, or "
                   "data.masking = \"none\" to predict the next token");
  if (config.sample.tokens > 0 && (classifies || config.data.masks()))
    reader.problem("sample.tokens", "only a model that predicts the next token writes text: 0");
  if (!config.data.pads()) return;
  const layers::AttentionSite site = config.model.site(config.model.places(config.data.length));
  for (const auto& [name, groups] : config.attention)
    if (!layers::takes_padding(groups, site))
      reader.problem("model.attention",
                     "\"" + name +
                         "\" cannot leave out padding, and sequences are padded up to "
                         "data.length: take another (weft list attentions), or set "
                         "data.shortest = data.length");
}

template <class Settings>
std::string section_reference(const std::string& name, const Settings& settings) {
  return "[" + name + "]\n" + print_descriptions(describe(settings), name) + "\n";
}

/// The [model] section, and behind it the keys that some of its values bring with them.
std::string model_reference() {
  const layers::ModelSettings plain;
  std::string text = section_reference("model", plain);
  std::set<std::string> listed;
  for (const FieldDescription& field : describe(plain)) listed.insert(field.key);
  for (const auto& [key, value, model] : model_variants()) {
    std::vector<FieldDescription> own = describe(model);
    std::erase_if(own, [&](const FieldDescription& field) { return listed.contains(field.key); });
    if (own.empty()) continue;
    text += "with model." + key + " = " + value + "\n" + print_descriptions(own, "model") + "\n";
  }
  return text;
}

}  // namespace

RunConfig RunConfig::read(ConfigTree tree) {
  ConfigReader reader(std::move(tree));
  RunConfig config;
  core::Fields& top = reader.section("");
  top.integer("seed", config.seed, "what every random number of the run derives from",
              core::at_least(0));
  top.integer("threads", config.threads, "threads to use; 0: all cores", core::between(0, 4096));
  read_data(reader, config.data);
  read_model(reader, config.model, config.data.length);
  read_attention_tables(reader, config);
  check_recurrence(reader, config);
  read_optim(reader, config.optim);
  config.train.fields(reader.section("train"));
  check_seq2seq(reader, config);
  if (config.train.steps > 0 && config.optim.warmup >= config.train.steps)
    reader.problem("optim.warmup", core::message_of("warm-up of ", config.optim.warmup,
                                                    " steps does not end within train.steps = ",
                                                    config.train.steps));
  if (config.train.recompute && config.model.reversible)
    reader.problem(
        "train.recompute",
        "has no effect beside model.reversible, which recomputes every layer: remove one");
  config.sample.fields(reader.section("sample"));
  check_task(reader, config);
  reader.finish();
  config.resolved = reader.resolved();
  return config;
}

std::string RunConfig::identity() const { return resolved.hash(keys_without_effect()); }

bool RunConfig::leaks() const {
  if (!model.causal) return false;
  const layers::AttentionSite site = model.site(data.length);
  return model.has_batch_statistics() ||
         (model.feedforward == "experts" && model.experts.leaks()) ||
         std::ranges::any_of(model.attention_names(), [&](const std::string& name) {
           return layers::leaks(attention.at(name), site);
         });
}

RunConfig RunConfig::load(const std::string& path, const std::vector<std::string>& arguments) {
  return read(ConfigTree::load(path, arguments));
}

RunConfig RunConfig::from_text(const std::string& toml, const std::string& name,
                               const std::vector<std::string>& arguments) {
  return read(ConfigTree::from_text(toml, name, arguments));
}

std::string key_reference() {
  std::string text =
      "seed     integer >= 0   default 1   what every random number of the run derives from\n"
      "threads  integer >= 0   default 0   threads to use; 0: all cores\n\n";
  for (const std::string_view kind : data::data_kinds) {
    data::DataSettings data;
    data.kind = kind;
    text += "with data.kind = \"" + data.kind + "\"\n" + section_reference("data", data);
  }
  text += "with data.form = \"seq2seq\"\n" + section_reference("data", pairs());
  text += "with data.masking = \"spans\"; bert has no mask_span\n" +
          section_reference("data", masked_spans().text.hidden);
  text += model_reference();
  const layers::ModelSettings plain;
  for (const layers::AttentionEntry& entry : layers::attention_registry()) {
    DescribingFields fields;
    entry.configure(fields, plain.site(1024));
    text += "[attention.NAME] with kind = \"" + std::string(entry.kind) + "\"\n" +
            print_descriptions(fields.descriptions(), "attention.NAME") + "\n";
  }
  text += "with projection = \"sparse\" beside any kind\n" +
          section_reference("attention.NAME", layers::ProjectionSettings{.kind = "sparse"});
  for (const std::string kind : {"adamw", "sgd", "adagrad"}) {
    optim::OptimSettings optim;
    optim.kind = kind;
    optim.schedule = "cosine";
    text += "with optim.kind = \"" + kind + "\"\n" + section_reference("optim", optim);
  }
  return text + section_reference("train", TrainSettings{}) +
         section_reference("sample", SampleSettings{});
}

}  // namespace weft::experiments
