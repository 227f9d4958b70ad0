#include "experiments/sweep/plan.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "core/files/json_nesting.h"
#include "experiments/config/node.h"
#include "experiments/run/run_files.h"
#include "experiments/sweep/score.h"

namespace weft::experiments {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const PlannedTrial& trial) {
  Json settings = Json::object();
  for (const auto& [key, value] : trial.settings) settings[key] = value;
  return {{"id", trial.id},
          {"settings", settings},
          {"parameters", trial.parameters},
          {"steps", trial.steps},
          {"tokens", trial.tokens},
          {"flops", trial.flops},
          {"length", trial.length},
          {"unit", trial.unit},
          {"leaks", trial.leaks},
          {"split", trial.split},
          {"checkpoint", trial.checkpoint},
          {"seconds", trial.seconds},
          {"scoring_seconds", trial.scoring_seconds}};
}

Json json_of(const TuneStage& stage) {
  return {{"arm", stage.arm}, {"candidate", stage.candidate}, {"rung", stage.rung}};
}

constexpr std::size_t most_settings = 1'000;  // of a trial

/// Parses a plan; null for what is none. Members of an ordered object are searched one by one, so
/// reading stops at an object of very many, which no plan has.
Json parse_plan(const std::string& text) {
  std::vector<std::size_t> members;  // of the objects that are open
  const auto count = [&](int, Json::parse_event_t event, Json&) {
    if (event == Json::parse_event_t::object_start) members.push_back(0);
    if (event == Json::parse_event_t::object_end) members.pop_back();
    if (event == Json::parse_event_t::key && ++members.back() > most_settings)
      throw Json::other_error::create(0, "too many members", nullptr);
    return true;
  };
  if (core::nests_too_deep(text)) return nullptr;
  return Json::parse(text, count);
}

PlannedTrial trial_of(const Json& json) {
  PlannedTrial trial;
  trial.id = json.at("id");
  if (!std::ranges::all_of(trial.id, [](unsigned char c) { return std::isalnum(c) || c == '-'; }))
    throw Json::other_error::create(0, "no id of a trial", nullptr);
  for (const auto& [key, value] : json.at("settings").items())
    trial.settings.emplace_back(key, value.get<std::string>());
  trial.parameters = json.at("parameters");
  trial.steps = json.at("steps");
  trial.tokens = json.at("tokens");
  trial.flops = json.at("flops");
  trial.length = json.at("length");
  trial.unit = json.at("unit");
  trial.leaks = json.at("leaks");
  trial.split = json.at("split");
  trial.checkpoint = json.at("checkpoint");
  trial.seconds = json.at("seconds");
  trial.scoring_seconds = json.value("scoring_seconds", 0.0);
  trial.eval_tokens = json.value("eval_tokens", Index(0));
  if (json.contains("stage")) {
    const Json& stage = json["stage"];
    trial.stage = {stage.at("arm"), stage.at("candidate"), stage.at("rung")};
  }
  return trial;
}

/// What only sweeps that tune or prune have.
void read_rules(const Json& json, SweepPlan& plan) {
  if (json.contains("tune")) {
    plan.tuned = json["tune"].at("keys").get<std::vector<std::string>>();
    for (const Json& rung : json["tune"].at("rungs"))
      plan.rungs.push_back({rung.at("candidates"), rung.at("share")});
  }
  if (json.contains("prune"))
    plan.prune = PruneRule{json["prune"].at("after"), json["prune"].at("behind")};
  if (json.contains("equal"))
    plan.equal = EqualRule{json["equal"].at("what"), json["equal"].at("within")};
}

void add_rules(const SweepPlan& plan, Json& json) {
  if (!plan.rungs.empty()) {
    Json rungs = Json::array();
    for (const Rung& rung : plan.rungs)
      rungs.push_back({{"candidates", rung.candidates}, {"share", rung.share}});
    json["tune"] = {{"keys", plan.tuned}, {"rungs", rungs}};
  }
  if (plan.prune) json["prune"] = {{"after", plan.prune->after}, {"behind", plan.prune->behind}};
  if (plan.equal) json["equal"] = {{"what", plan.equal->what}, {"within", plan.equal->within}};
}

}  // namespace

std::string label_of(const TrialSettings& settings) {
  std::string text;
  for (const auto& [key, value] : settings) {
    if (!text.empty()) text += ' ';
    text.append(name_of(key)).append("=").append(value);
  }
  return text;
}

std::string PlannedTrial::label() const {
  return label_of(settings) +
         (stage.is_rung() ? " (rung " + std::to_string(stage.rung + 1) + ")" : "");
}

std::string PlannedTrial::value_of(const std::string& key) const {
  const auto found = std::ranges::find(settings, key, &std::pair<std::string, std::string>::first);
  return found == settings.end() ? "" : found->second;
}

void write_plan(const SweepFiles& files, const SweepPlan& plan) {
  Json trials = Json::array();
  for (const PlannedTrial& trial : plan.trials) {
    trials.push_back(json_of(trial));
    if (trial.eval_tokens > 0) trials.back()["eval_tokens"] = trial.eval_tokens;
    if (!plan.rungs.empty()) trials.back()["stage"] = json_of(trial.stage);
  }
  Json json = {{"program", "weft"},       {"format", 1},           {"name", plan.name},
               {"command", plan.command}, {"budget", plan.budget}, {"trials", trials}};
  if (!plan.options.empty()) json["options"] = plan.options;
  add_rules(plan, json);
  core::write_durably(files.plan(), json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n",
                      core::Fault::checkpoint);
}

SweepPlan read_plan(const SweepFiles& files) {
  core::require(std::filesystem::is_regular_file(files.plan()), "no sweep at ",
                files.directory.string(), ": there is no sweep.json; make one with weft sweep");
  const std::string text = core::read_text_file(files.plan());
  try {
    const Json json = parse_plan(text);
    if (json.at("trials").size() > most_trials)
      throw Json::other_error::create(0, "too many trials", nullptr);
    SweepPlan plan{.name = json.at("name"),
                   .command = json.at("command"),
                   .budget = json.at("budget"),
                   .trials = {},
                   .options = json.value("options", "")};
    read_rules(json, plan);
    for (const Json& trial : json.at("trials")) plan.trials.push_back(trial_of(trial));
    return plan;
  } catch (const Json::exception&) {
    throw core::Error(files.plan().string() +
                      ": is damaged; run the same weft sweep again to write it again");
  }
}

std::string in_one_line(const std::string& reason) { return reason.substr(0, reason.find('\n')); }

TrialState state_of(const SweepFiles& files, const std::string& id) {
  using Phase = TrialState::Phase;
  if (!holds_run(files.run(id))) return {Phase::waiting};
  const RunStatus status = read_status({files.run(id)});
  if (status.state == "diverged")
    return {Phase::failed, status.step,
            core::message_of("diverged at step ", status.step, ": ", in_one_line(status.reason)),
            true};
  if (status.state == "failed") return {Phase::failed, status.step, in_one_line(status.reason)};
  if (status.state != "finished") return {Phase::waiting, status.step};
  return {read_score(files.score(id)) ? Phase::done : Phase::trained, status.step};
}

TrialState state_of(const SweepFiles& files, const PlannedTrial& trial) {
  TrialState state = state_of(files, trial.id);
  if (trial.stage.is_rung() && state.phase == TrialState::Phase::trained)
    state.phase = TrialState::Phase::done;
  if (state.phase == TrialState::Phase::done && !trial.stage.is_rung())
    if (read_score(files.score(trial.id))->budget != trial.eval_tokens)
      state.phase = TrialState::Phase::trained;
  return state;
}

}  // namespace weft::experiments
