#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "core/ranks/ranks.h"
#include "experiments/bench/lengths.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/saved_model.h"
#include "experiments/console/number_text.h"
#include "experiments/console/output_file.h"
#include "experiments/evaluate/by_length.h"
#include "experiments/evaluate/leak_audit.h"
#include "experiments/evaluate/question_evaluation.h"
#include "experiments/evaluate/span_report.h"
#include "experiments/evaluate/target_evaluation.h"

namespace weft::experiments {
namespace {

constexpr Index audited_sequences = 50;

nlohmann::ordered_json bands_json(const std::vector<Band>& bands) {
  auto list = nlohmann::ordered_json::array();
  for (const Band& band : bands) {
    if (band.tokens == 0) continue;
    list.push_back({{"from", band.from},
                    {"to", band.to},
                    {"tokens", band.tokens},
                    {"bits", band.bits()},
                    {"accuracy", band.accuracy()}});
    if (band.steps > 0) list.back()["steps"] = band.mean_steps();
  }
  return list;
}

nlohmann::ordered_json to_json(const Evaluation& e, const data::Dataset& dataset, data::Split split,
                               bool whole = false) {
  nlohmann::ordered_json json = {{"split", whole ? "whole" : std::string(data::name_of(split))},
                                 {"tokens", e.tokens},
                                 {"loss", e.nats},
                                 {"loss_error", e.error},
                                 {"bits", e.bits()},
                                 {"unit", dataset.unit()},
                                 {"perplexity", e.perplexity()},
                                 {"accuracy", e.accuracy()},
                                 {"stride", e.stride}};
  if (const auto bits = e.bits_per_byte()) {
    json["bytes"] = e.bytes;
    json["bits_per_byte"] = *bits;
  }
  if (e.budget > 0) json["budget"] = e.budget;
  if (dataset.predicts_next()) json["by_position"] = bands_json(e.by_position);
  if (dataset.classes() > 0) json["classes"] = dataset.class_names();
  for (const data::Baseline& baseline : dataset.baselines(split))
    json["baselines"][baseline.name] = baseline.accuracy;
  for (const data::BitsBaseline& baseline : dataset.bits_baselines(split))
    json["bits_baselines"][baseline.name] = baseline.bits;
  if (const auto floor = dataset.floor_bits(split)) json["floor_bits"] = *floor;
  if (const auto chance = dataset.chance()) json["chance"] = *chance;
  if (const auto part = dataset.scored_part()) {
    json["scored_part"] = *part;
    json["sequence_accuracy"] = e.sequence_accuracy();
  }
  if (e.f1) {
    json["exact_match"] = e.accuracy();
    json["f1"] = *e.f1;
  }
  if (!e.by_distance.empty()) json["by_distance"] = bands_json(e.by_distance);
  if (!e.by_depth.empty()) json["by_depth"] = bands_json(e.by_depth);
  if (!e.by_difficulty.empty()) {
    json["difficulty"] = dataset.difficulty().value_or("length");
    json["by_difficulty"] = bands_json(e.by_difficulty);
  }
  if (e.steps > 0) json["steps"] = e.steps;
  return json;
}

/// All ranks score together, each some rows of every batch, or some columns.
EvaluationOptions shared_options(const RunConfig& config, data::Split split) {
  core::Ranks& ranks = core::ranks();
  const Index units = config.train.units().count();
  core::require(ranks.count() <= units, ranks.count(), " processes cannot share ", units,
                config.train.chunks > 1 ? " chunks" : " rows",
                " of a batch: set train.shards=", ranks.count(),
                " or a multiple that divides train.batch");
  return {
      .split = split, .shards = config.train.shards, .ranks = ranks, .chunks = config.train.chunks};
}

using Predictions = std::vector<PredictedAnswer>;

/// The model as one that answers questions, and its questions; null pointers for any other.
struct Asking {
  explicit Asking(const LoadedModel& saved)
      : model(dynamic_cast<const layers::SpanModel*>(saved.model.get())),
        questions(dynamic_cast<const data::QuestionData*>(saved.dataset.get())) {}
  explicit operator bool() const { return model && questions; }

  const layers::SpanModel* model;
  const data::QuestionData* questions;
};

/// Generates a target for every source of the split.
TargetEvaluation generated_targets(const LoadedModel& saved, data::Split split,
                                   Predictions& predictions) {
  const auto& model = layers::as_seq2seq_model(*saved.model, "eval --generate");
  TargetEvaluation e = evaluate_targets(model, *saved.dataset, split);
  for (std::size_t i = 0; i < e.generated.size(); ++i)
    predictions.push_back({std::to_string(i), e.generated[i]});
  return e;
}

void write_predictions(const Predictions& predictions, const std::string& path) {
  auto json = nlohmann::ordered_json::object();
  for (const PredictedAnswer& one : predictions) json[one.id] = one.text;
  core::write_durably(path,
                      json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

/// A loss that no probability comes to is that of a model that diverged.
void check_finite(const Evaluation& e, const std::string& scored) {
  if (std::isfinite(e.perplexity())) return;
  const std::string loss = std::isfinite(e.nats)
                               ? format_fixed(e.nats, 0) + " nats, which no probability comes to"
                               : "not finite";
  throw core::Error(
      core::Fault::diverged, "the model's loss on " + scored + " is " + loss,
      "Score an earlier checkpoint with --ckpt, or train again with a lower optim.lr");
}

nlohmann::ordered_json targets_json(const TargetEvaluation& e) {
  nlohmann::ordered_json json = {{"targets", e.targets},
                                 {"rouge_1", e.rouge.one},
                                 {"rouge_2", e.rouge.two},
                                 {"rouge_l", e.rouge.longest},
                                 {"exact", e.exact}};
  if (e.by_lines) json["rouge_lsum"] = *e.by_lines;
  return json;
}

/// The same model on sequences of each length, also beyond that of training.
int eval_lengths(const CommandLine& line, data::Split split) {
  load_saved_model(line);  // refuses changed data, which another length would hide
  std::vector<LengthEvaluation> all;
  auto list = nlohmann::ordered_json::array();
  for (const Index length : lengths_of(line.text("lengths"))) {
    const LoadedModel saved = load_saved_model(line, {"data.length=" + std::to_string(length)});
    all.push_back(
        {length, evaluate(*saved.model, *saved.dataset, shared_options(saved.config, split))});
    check_finite(all.back().evaluation,
                 core::message_of(data::name_of(split), " with data.length=", length));
    auto json = to_json(all.back().evaluation, *saved.dataset, split);
    json["length"] = length;
    list.push_back(std::move(json));
  }
  std::cout << (line.has("json") ? list.dump(2) + "\n" : print_by_length(all));
  return 0;
}

/// --whole: the settings under which the training split is all of the file in data.path.
std::vector<std::string> settings_of_whole(const CommandLine& line) {
  if (!line.has("whole")) return {};
  const bool named = std::ranges::any_of(
      line.overrides(), [](const std::string& word) { return word.starts_with("data.path="); });
  core::require(named, "--whole scores all of a file: name it with data.path=FILE");
  return {"data.train_path=", "data.validation_path=", "data.test_path=", "data.fractions=[1,0,0]"};
}

/// A model that leaks is never scored without its leak.
std::optional<LeakAudit> leak_of(const LoadedModel& saved) {
  if (!saved.config.leaks() || saved.config.model.task != layers::Task::language)
    return std::nullopt;
  return audit_leaks(layers::as_language_model(*saved.model, "eval"), *saved.dataset,
                     audited_sequences, 0);
}

/// What of the split is scored, and how.
EvaluationOptions options_of(const CommandLine& line, const LoadedModel& saved, data::Split split) {
  EvaluationOptions options = shared_options(saved.config, split);
  const Index length = saved.dataset->length();
  if (line.has("stride")) {
    options.stride = line.integer("stride");
    core::require(options.stride >= 1 && options.stride <= length, "--stride ", options.stride,
                  " is not between 1 and data.length, ", length);
  }
  if (line.has("tokens")) {
    options.tokens = line.integer("tokens");
    core::require(options.tokens >= 1, "--tokens ", options.tokens, " is less than 1");
  }
  return options;
}

}  // namespace

int eval_command(const Arguments& arguments) {
  CommandLine line("weft eval RUN [section.key=value ...]",
                   "Scores a run's model: bits, perplexity, loss by context and, where the data "
                   "knows it, recall by distance and by difficulty; where positions halt by "
                   "themselves, also the steps they took. Every token is scored exactly once.");
  line.words(1, 1000, "RUN");
  add_checkpoint_option(line);
  line.option("split", "SPLIT", "training, validation or test", "validation")
      .flag("whole", "score all of the file that data.path=FILE names, not a split of it")
      .option("stride", "N",
              "tokens between windows; if less than data.length, windows overlap and only "
              "the last N tokens of each are scored")
      .option("tokens", "N", "score only the sequences that hold the first N tokens of the split")
      .flag("generate",
            "sequence to sequence: generate a target for every source, always the most likely "
            "token, and compare by ROUGE")
      .option("predictions", "FILE",
              "write {id: text} as JSON: answers to questions, as scorers of SQuAD read them, or "
              "with --generate targets by number")
      .option("lengths", "N,M",
              "score sequences of each of these lengths (data.length) and print a table")
      .flag("json", "print one JSON object, with --lengths a list of them");
  if (!line.parse(arguments)) return 0;
  const bool whole = line.has("whole");
  const data::Split split = whole ? data::Split::training : split_named(line.text("split"));
  if (line.has("predictions")) check_output(line.text("predictions"), {}, true);
  if (line.has("lengths")) {
    for (const char* const other : {"stride", "whole", "tokens", "generate", "predictions"})
      core::require(!line.has(other), "--", other, " is for one length: leave out --lengths");
    return eval_lengths(line, split);
  }
  const LoadedModel saved = load_saved_model(line, settings_of_whole(line));
  const EvaluationOptions options = options_of(line, saved, split);
  Predictions predictions;
  const Asking asking(saved);
  const Evaluation e =
      asking ? evaluate_questions(*asking.model, *asking.questions, options, &predictions)
             : evaluate(*saved.model, *saved.dataset, options);
  check_finite(e, std::string(data::name_of(split)));
  std::optional<TargetEvaluation> targets;
  if (line.has("generate")) targets = generated_targets(saved, split, predictions);
  if (line.has("predictions") && core::ranks().is_first()) {
    core::require(
        asking || targets,
        "--predictions needs answers to questions (model.task = \"span\"), or --generate");
    write_predictions(predictions, line.text("predictions"));
  }
  const auto spans = span_report(*saved.model, saved.config);
  const auto leak = leak_of(saved);
  if (line.has("json")) {
    auto json = to_json(e, *saved.dataset, split, whole);
    if (spans) {
      json["spans"] = spans->spans;
      json["macs_paper"] = spans->macs_paper;
      json["macs_counted"] = spans->macs_counted;
    }
    if (leak) json["leak"] = audit_json(*leak);
    if (targets) json["generated"] = targets_json(*targets);
    std::cout << json.dump(2) << '\n';
  } else {
    std::cout << print_evaluation(e, *saved.dataset, split, whole ? "whole file" : "");
    if (spans) std::cout << spans->table();
    if (leak) std::cout << print_audit(*leak);
    if (targets) std::cout << print_targets(*targets);
  }
  return 0;
}

}  // namespace weft::experiments
