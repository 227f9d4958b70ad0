// What users meet of models that generate one sequence from another: training, resuming,
// generating, and what is refused.
#include "tests/experiments/program.h"

namespace weft::experiments::seq2seq_program_test {
namespace {

using Words = std::vector<std::string>;

// Every part sparse, reversible, with the recurrent unit.
constexpr const char* terraformer_config = R"(
[data]
kind = "duplicate"
form = "seq2seq"
symbols = 7
length = 8
held_out = 16

[model]
task = "seq2seq"
reversible = true
layers = 2
encoder_layers = 1
sru_width = 4
width = 16
heads = 4
dropout = 0.1
feedforward = "sparse"
ff_block = 8
ff_rank = 4
ff_temperature = 0.5
output = "sparse"
output_modules = 2
tie = false
attention = "sparse"

[attention.sparse]
kind = "dense"
projection = "sparse"

[train]
steps = 20
batch = 8
accumulate = 2
)";

const Words plain = {"model.reversible=false", "model.sru_width=0"};

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Seq2SeqProgram, verify_resume_finds_every_bit_equal_with_all_parts_on) {
  const Program program("seq2seq-resume");
  program.write("terraformer.toml", terraformer_config);
  for (const Words& more :
       {Words{}, plain, Words{"model.attention=lsh", "model.encoder_attention=sparse"}}) {
    const Outcome outcome = program.run(
        joined({"verify-resume", "terraformer.toml", "--at", "10", "--steps", "20"}, more));
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    EXPECT_EQ(outcome.out.find("FAIL"), std::string::npos);
  }
}

TEST(Seq2SeqProgram, trains_evaluates_and_generates_from_a_source) {
  const Program program("seq2seq-train");
  program.write("terraformer.toml", terraformer_config);
  for (const Words& more : {Words{}, plain}) {
    const Outcome trained = program.run(
        joined({"train", "terraformer.toml", "--run", "run", "--fresh", "sample.tokens=9"}, more));
    ASSERT_EQ(trained.code, 0) << trained.out << trained.err;
    EXPECT_NE(trained.out.find("copy: "), std::string::npos) << trained.out;
    EXPECT_EQ(program.run({"eval", "run"}).code, 0);
    const Words generate = {"generate", "run", "--prompt", "āĂă", "--tokens", "12"};
    const Outcome generated = program.run(generate);
    EXPECT_EQ(generated.code, 0) << generated.err;
    EXPECT_LE(generated.out.size(), 2 * 12u + 1);
    EXPECT_EQ(generated.out, program.run(generate).out);
    EXPECT_NE(program.run({"generate", "run"}).code, 0);
    EXPECT_NE(program.run({"audit", "run"}).err.find("model.task"), std::string::npos);
  }
}

TEST(Seq2SeqProgram, settings_that_do_not_go_together_are_refused_with_what_to_do) {
  const Program program("seq2seq-refusals");
  program.write("terraformer.toml", terraformer_config);
  program.write("tiny.toml", tiny_config);
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"terraformer.toml", "model.attention=strided"}, "has a causal form only"},
      {{"terraformer.toml", "model.encoder_attention=strided"}, "model.encoder_attention: "},
      {{"terraformer.toml", "model.attention=linformer"}, "has no causal form"},
      {{"terraformer.toml", "model.reversible=false"}, "model.sru_width: "},
      {{"terraformer.toml", "model.cross_attention=linear"}, "joins target and source"},
      {joined({"terraformer.toml", "model.cross_attention=local"}, plain),
       "cannot read another sequence query by query"},
      {joined({"terraformer.toml", "model.cross_attention=denes"}, plain), "model.cross_attention"},
      {joined({"terraformer.toml", "train.recompute=true"}, plain), "model.reversible = true"},
      {{"terraformer.toml", "model.causal=false"}, "token by token"},
      {{"terraformer.toml", "model.norm=batch", "model.allow_leaky_norm=true"}, "count padding"},
      {{"terraformer.toml", "model.task=language"}, "model.task = \"seq2seq\""},
      {{"terraformer.toml", "data.shortest=9"}, "a word and its end fit in"},
      {{"terraformer.toml", "data.kind=recall"}, "data.form"},
      {{"tiny.toml", "model.task=seq2seq"}, "data.form = \"seq2seq\""},
      {{"tiny.toml", "model.encoder_layers=2"}, "model.task = \"seq2seq\""}};
  for (const auto& [settings, said] : cases) {
    const Outcome outcome = program.run(joined({"config"}, settings));
    EXPECT_EQ(outcome.code, 2) << settings[1];
    EXPECT_NE(outcome.err.find(said), std::string::npos) << settings[1] << ": " << outcome.err;
  }
  EXPECT_EQ(program
                .run(joined({"config", "terraformer.toml", "model.cross_attention=linformer",
                             "model.encoder_attention=efficient"},
                            plain))
                .code,
            0);
  const std::string keys = program.run({"config", "--keys"}).out;
  for (const std::string key : {"model.encoder_layers", "model.encoder_attention",
                                "model.cross_attention", "model.sru_width", "data.shortest"})
    EXPECT_NE(keys.find(key), std::string::npos) << key;
}

}  // namespace
}  // namespace weft::experiments::seq2seq_program_test
