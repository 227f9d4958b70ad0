// What users meet when a model leaves weft. The numbers are those of the papercuts and expectations
// that were found when weft was tried as a new user would.
#include <nlohmann/json.hpp>

#include "experiments/checkpoint/safetensors.h"
#include "tests/experiments/program.h"
#include "tests/experiments/sweep/sweep_scratch.h"
#include "tests/places.h"

namespace weft::experiments::export_test {
namespace {

using Words = std::vector<std::string>;
namespace fs = std::filesystem;

class Exporting : public Program {
 public:
  explicit Exporting(const std::string& name, const Words& settings = {})
      : Program("everyday_export_" + name) {
    write("base.toml", sweep_base);
    Words words = {"train", "base.toml", "--run", "r"};
    words.insert(words.end(), settings.begin(), settings.end());
    EXPECT_EQ(run(words).code, 0);
  }
  std::string file(const std::string& name) const { return read_text(directory() / name); }
  bool exists(const std::string& name) const { return fs::exists(directory() / name); }
};

TEST(Papercut8, the_ending_chooses_the_format_and_others_are_refused) {
  const Exporting program("endings");
  for (const char* name : {"m.onnx", "m.gguf", "m"}) {
    const Outcome refused = program.run({"export", "r", "-o", name});
    EXPECT_EQ(refused.code, 2);
    expect_holds(refused.err, {".safetensors or .npz"});
    EXPECT_FALSE(program.exists(name));
  }
  ASSERT_EQ(program.run({"export", "r", "-o", "m.npz"}).code, 0);
  EXPECT_EQ(program.file("m.npz").substr(0, 4), std::string("PK\x03\x04"));
  EXPECT_EQ(std::system(("cd " + program.directory().string() +
                         " && { ! command -v unzip >/dev/null || unzip -tq m.npz >/dev/null; }")
                            .c_str()),
            0);
  const Outcome again = program.run({"export", "r", "-o", "m.npz"});
  EXPECT_NE(again.code, 0);
  EXPECT_EQ(program.run({"export", "r", "-o", "m.npz", "--force"}).code, 0);
}

TEST(Row13, a_card_and_a_reader_stand_beside_the_export) {
  const Exporting program("card");
  ASSERT_EQ(program.run({"export", "r", "-o", "m.safetensors"}).code, 0);
  expect_holds(program.file("m.md"),
               {"q, k and v in this order", "eps 1e-5", "exact (erf)", "softmax_j(q_i . k_j",
                "`layers.0.attention.projection.weight` | [24, 8]", "Validation loss",
                "weft train base.toml", "data.kind = \"recall\""});
  EXPECT_TRUE(program.exists("m.py"));
  EXPECT_LE(std::ranges::count(program.file("m.py"), '\n'), 80);
  ASSERT_EQ(program.run({"train", "base.toml", "--run", "l", "model.attention=local"}).code, 0);
  ASSERT_EQ(program.run({"export", "l", "-o", "l.safetensors"}).code, 0);
  EXPECT_FALSE(program.exists("l.py"));
  expect_holds(program.file("l.md"), {"`local`: "});
}

TEST(Row13, class_names_and_spelling_leave_with_the_model) {
  const Program program("everyday_export_classes");
  program.write("c.toml", R"(
[data]
kind = "labelled"
path = "l.tsv"
length = 8
[model]
task = "classify"
layers = 1
width = 8
heads = 2
[train]
steps = 2
batch = 2
)");
  std::string lines;
  for (int i = 0; i < 20; ++i)
    lines += (i % 2 ? "bad\tabc" : "good\tdef") + std::to_string(i) + "\n";
  program.write("l.tsv", lines);
  ASSERT_EQ(program.run({"train", "c.toml", "--run", "r"}).code, 0);
  ASSERT_EQ(program.run({"export", "r", "-o", "m.safetensors"}).code, 0);
  const SafetensorsFile file(program.directory() / "m.safetensors");
  EXPECT_EQ(file.texts().at("classes"), "[\"bad\",\"good\"]");
  EXPECT_EQ(file.texts().at("units"), "bytes");
  EXPECT_EQ(file.texts().at("first_unit"), "1");
}

TEST(Row13, the_layout_of_gpt2_leaves_and_comes_back_and_refuses_other_models) {
  const Exporting program("gpt2", {"model.layers=2"});
  ASSERT_EQ(program.run({"export", "r", "-o", "a.safetensors"}).code, 0);
  ASSERT_EQ(program.run({"export", "r", "-o", "g.safetensors", "--layout", "gpt2"}).code, 0);
  const SafetensorsFile file(program.directory() / "g.safetensors");
  EXPECT_EQ(file.arrays().at("transformer.h.1.attn.c_attn.weight").shape, (core::Shape{8, 24}));
  EXPECT_EQ(file.arrays().at("transformer.h.0.mlp.c_proj.weight").shape, (core::Shape{32, 8}));
  EXPECT_FALSE(file.arrays().contains("lm_head.weight"));
  const auto config = nlohmann::json::parse(program.file("config.json"));
  EXPECT_EQ(config["n_head"], 2);
  EXPECT_EQ(config["activation_function"], "gelu");
  const Outcome back = program.run({"import", "g.safetensors", "--layout", "gpt2", "--into",
                                    "base.toml", "--run", "b", "model.layers=2"});
  ASSERT_EQ(back.code, 0) << back.out << back.err;
  expect_holds(back.out, {", 0 differ"});
  ASSERT_EQ(program.run({"export", "b", "-o", "b.safetensors"}).code, 0);
  const SafetensorsFile one(program.directory() / "a.safetensors"),
      other(program.directory() / "b.safetensors");
  for (const auto& [name, array] : one.arrays()) {
    std::vector<core::Real> a(std::size_t(array.shape.size())), b(a.size());
    one.read(name, a);
    other.read(name, b);
    EXPECT_EQ(a, b) << name;
  }
  program.write("config.json", R"({"activation_function": "gelu_new"})");
  const Outcome tanh = program.run({"import", "g.safetensors", "--layout", "gpt2", "--into",
                                    "base.toml", "--run", "t", "model.layers=2"});
  EXPECT_EQ(tanh.code, 2);
  expect_holds(tanh.err, {"activation_function", "add model.activation=gelu_tanh"});
  ASSERT_EQ(program
                .run({"train", "base.toml", "--run", "x", "model.attention=local",
                      "model.positions=rotary", "model.norm_place=post"})
                .code,
            0);
  const Outcome refused = program.run({"export", "x", "-o", "x.safetensors", "--layout", "gpt2"});
  EXPECT_EQ(refused.code, 2);
  expect_holds(refused.err, {"attention is local", "model.positions", "model.norm_place"});
  EXPECT_FALSE(program.exists("x.safetensors"));
}

TEST(Row13, an_activation_leaves_under_the_name_that_transformers_gives_it) {
  const Exporting program("activation", {"model.activation=gelu_tanh"});
  ASSERT_EQ(program.run({"export", "r", "-o", "g.safetensors", "--layout", "gpt2"}).code, 0);
  EXPECT_EQ(nlohmann::json::parse(program.file("config.json"))["activation_function"], "gelu_new");
  expect_holds(program.file("g.md"), {"activation: gelu_tanh", "0.044715 x^3", "\"gelu_new\""});
  ASSERT_EQ(program.run({"export", "r", "-o", "m.safetensors"}).code, 0);
  const SafetensorsFile file(program.directory() / "m.safetensors");
  EXPECT_EQ(nlohmann::json::parse(file.texts().at("model"))["activation"], "gelu_tanh");
}

TEST(Papercut7, settings_of_the_run_that_no_longer_apply_are_no_problem) {
  const Program program("everyday_export_paths");
  program.write("c.toml", R"(
[data]
kind = "labelled"
path = "l.tsv"
length = 8
[model]
task = "classify"
layers = 1
width = 8
heads = 2
[train]
steps = 2
batch = 2
)");
  std::string lines;
  for (int i = 0; i < 20; ++i)
    lines += (i % 2 ? "bad\tabc" : "good\tdef") + std::to_string(i) + "\n";
  program.write("l.tsv", lines);
  ASSERT_EQ(program.run({"train", "c.toml", "--run", "r"}).code, 0);
  const Outcome outcome = program.run(
      {"eval", "r", "data.path=", "data.train_path=l.tsv", "data.validation_path=l.tsv", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["tokens"], 20);
}

}  // namespace
}  // namespace weft::experiments::export_test
