// weft audit as a user meets it, over every mechanism that can be causal.
#include <nlohmann/json.hpp>

#include "layers/attention/registry.h"
#include "layers/settings/model_settings.h"
#include "tests/experiments/program.h"
#include "tests/layers/given_fields.h"

namespace weft::experiments::audit_program_test {
namespace {

/// In 96 tokens, every mechanism that leaves keys out has some to leave out.
constexpr const char* small_config = R"(
[data]
kind = "recall"
length = 96
[model]
layers = 2
width = 16
heads = 4
tie = false
[attention.random]
block = 16
[attention.bigbird]
block = 8
[attention.local]
window = 8
first = 2
sink = "learned"
[attention.longformer]
window = [8]
[attention.fixed_span]
span = 8
[attention.lsh]
chunk = 8
[attention.routing]
chunk = 8
[attention.moba]
block = 8
blocks = 2
[attention.nsa]
block = 8
stride = 4
select_block = 8
selected = 3
window = 8
[attention.indexed]
selected = 8
[attention.compressed]
window = 8
ratio = 4
selected = 3
[train]
steps = 4
batch = 2
)";

/// Runs the audit of an attention, as a value of model.attention, and expects it to be clean.
void expect_clean(const Program& program, const std::string& attention,
                  const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = {"audit", "small.toml", "--trials",
                                    "8",     "--json",     "model.attention=" + attention};
  words.insert(words.end(), more.begin(), more.end());
  const Outcome outcome = program.run(words);
  ASSERT_EQ(outcome.code, 0) << attention << ": " << outcome.out << outcome.err;
  const auto audit = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(audit["changed"], 0) << attention;
  EXPECT_GT(audit["outputs"], 8);
  EXPECT_NEAR(double(audit["gap"]), 0, 1e-4) << attention;
}

TEST(Audit, finds_no_leak_in_any_mechanism_that_claims_to_be_causal) {
  const Program program("audit");
  program.write("small.toml", small_config);
  const layers::AttentionSite site = layers::ModelSettings{}.site(1024);
  for (const layers::AttentionEntry& entry : layers::attention_registry()) {
    tests::GivenFields defaults;
    if (!entry.configure(defaults, site).traits.causal) continue;
    expect_clean(program, std::string(entry.kind));
    expect_clean(program, std::string(entry.kind), {"train.precision=bf16"});
  }
}

TEST(Audit, finds_no_leak_in_fittings_and_hybrids) {
  const Program program("audit-fittings");
  program.write("small.toml", std::string(small_config) + R"(
[attention.fitted]
kind = "dense"
kv_heads = 2
conv = 4
qk_norm = true
norm = "rms"
gate = "sigmoid"
)");
  expect_clean(program, "fitted");
  for (const std::string hybrid :
       {R"(["gated_deltanet", "gated_deltanet", "gated_deltanet", "fitted"])",
        R"(["gla", "moba", "forgetting", "differential"])",
        R"(["nsa", "kda", "indexed", "compressed"])"})
    for (const std::string precision : {"float32", "bf16"})
      expect_clean(program, hybrid, {"model.layers=4", "train.precision=" + precision});
  // Around mechanisms that choose, fittings change what is chosen.
  for (const std::string kind : {"moba", "nsa", "indexed", "compressed", "forgetting"})
    for (const std::string& fitting :
         {".kv_heads=2", ".conv=3", ".qk_norm=true", ".norm=rms", ".gate=silu"})
      expect_clean(program, kind, {"attention." + kind + fitting});
}

TEST(Audit, reports_what_the_paper_modes_leak) {
  const Program program("audit-paper");
  program.write("small.toml", std::string(small_config) + R"(
[attention.paper_lsh]
kind = "lsh"
mode = "paper"
chunk = 8
[attention.paper_routing]
kind = "routing"
mode = "paper"
chunk = 8
)");
  for (const std::string name : {"paper_lsh", "paper_routing"}) {
    const Outcome outcome =
        program.run({"audit", "small.toml", "--trials", "8", "--json", "model.attention=" + name});
    EXPECT_EQ(outcome.code, 1) << name << ": " << outcome.err;
    const auto audit = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(audit["leaking_trials"], 8) << name;
    EXPECT_NE(double(audit["gap"]), 0) << name;
  }
}

TEST(Audit, a_score_of_a_leaking_model_comes_with_its_leak) {
  const Program program("audit-scores");
  program.write("small.toml", std::string(small_config) + R"(
[attention.paper_routing]
kind = "routing"
mode = "paper"
chunk = 8
)");
  const auto score = [&](const std::string& attention, const std::string& run) {
    const Outcome trained =
        program.run({"train", "small.toml", "--run", run, "model.attention=" + attention});
    EXPECT_EQ(trained.code, 0) << trained.err;
    EXPECT_EQ(trained.out.find("lets later tokens choose") != std::string::npos,
              attention == "paper_routing");
    const Outcome scored = program.run({"eval", run, "--json"});
    EXPECT_EQ(scored.code, 0) << scored.err;
    return nlohmann::json::parse(scored.out);
  };
  const auto paper = score("paper_routing", "runs/paper");
  EXPECT_GT(paper.at("leak").at("changed"), 0);
  EXPECT_NE(double(paper["leak"]["gap"]), 0);
  EXPECT_FALSE(score("routing", "runs/strict").contains("leak"));
}

TEST(Audit, looks_at_a_run_as_at_a_config) {
  const Program program("audit-run");
  program.write("small.toml", small_config);
  ASSERT_EQ(program.run({"train", "small.toml", "--run", "runs/one"}).code, 0);
  const Outcome outcome = program.run({"audit", "runs/one", "--trials", "3"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("clean"), std::string::npos) << outcome.out;
}

TEST(Audit, refuses_what_cannot_be_tried) {
  const Program program("audit-refusals");
  program.write("small.toml", small_config);
  EXPECT_EQ(program.run({"audit", "small.toml", "--trials", "0"}).code, 2);
  EXPECT_EQ(program.run({"audit", "nowhere"}).code, 2);
}

}  // namespace
}  // namespace weft::experiments::audit_program_test
