#include "tests/experiments/program.h"
#include "tests/experiments/sweep/sweep_scratch.h"

namespace weft::experiments::exchange_program_test {
namespace {

/// A program with a trained run in "run", a mechanism with states among its layers.
class Trained : public Program {
 public:
  explicit Trained(const std::string& name) : Program("exchange_" + name) {
    std::string config = sweep_base;
    config += "[attention.routing]\nclusters = 2\n";
    write("m.toml", config);
    trained = run({"train", "m.toml", "--run", "run", "model.attention=routing"}).code == 0;
  }
  std::string file(const std::string& name) const { return read_text(directory() / name); }

  bool trained;
};

TEST(ExchangeProgram, export_import_export_gives_the_same_bytes) {
  const Trained program("bytes");
  ASSERT_TRUE(program.trained);
  ASSERT_EQ(program.run({"export", "run", "-o", "a.safetensors"}).code, 0);
  const Outcome imported =
      program.run({"import", "a.safetensors", "--into", "run/config.toml", "--run", "other"});
  ASSERT_EQ(imported.code, 0) << imported.err;
  EXPECT_NE(imported.out.find(" match, 0 differ"), std::string::npos) << imported.out;
  ASSERT_EQ(program.run({"export", "other", "-o", "b.safetensors"}).code, 0);
  EXPECT_EQ(program.file("a.safetensors"), program.file("b.safetensors"));
  EXPECT_NE(program.file("a.safetensors").find("states/"), std::string::npos);
}

TEST(ExchangeProgram, an_imported_run_trains_on) {
  const Trained program("trains");
  ASSERT_EQ(program.run({"export", "run", "-o", "a.safetensors"}).code, 0);
  ASSERT_EQ(
      program.run({"import", "a.safetensors", "--into", "run/config.toml", "--run", "other"}).code,
      0);
  const Outcome resumed = program.run({"train", "other", "--resume"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_NE(resumed.out.find("resumed step 0"), std::string::npos) << resumed.out;
}

TEST(ExchangeProgram, what_does_not_match_is_listed_and_nothing_is_begun) {
  const Trained program("differs");
  ASSERT_EQ(program.run({"export", "run", "-o", "a.safetensors"}).code, 0);
  const std::vector<std::string> words = {
      "import", "a.safetensors", "--into", "run/config.toml", "--run", "other", "model.ff=24"};
  const Outcome refused = program.run(words);
  EXPECT_EQ(refused.code, 5);
  EXPECT_NE(refused.err.find("[8, 24] in the model, [8, 32] in the file"), std::string::npos)
      << refused.err;
  EXPECT_NE(refused.err.find("--partial"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(program.directory() / "other"));
  std::vector<std::string> partial = words;
  partial.push_back("--partial");
  const Outcome taken = program.run(partial);
  EXPECT_EQ(taken.code, 0) << taken.err;
  EXPECT_NE(taken.out.find("[8, 24] in the model, [8, 32] in the file"), std::string::npos);
}

TEST(ExchangeProgram, a_rename_map_gives_arrays_other_names) {
  const Trained program("renames");
  ASSERT_EQ(program.run({"export", "run", "-o", "a.safetensors"}).code, 0);
  std::string bytes = program.file("a.safetensors");
  const std::size_t at = bytes.find("\"tokens");
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 7, "\"T_kens");
  program.write("b.safetensors", bytes);
  const std::string name = bytes.substr(at + 1, bytes.find('"', at + 1) - at - 1);
  std::vector<std::string> words = {"import",          "b.safetensors", "--into",
                                    "run/config.toml", "--run",         "other"};
  EXPECT_EQ(program.run(words).code, 5);
  program.write("map.txt", "# old new\n" + name + " tokens" + name.substr(6) + "\n");
  words.insert(words.end(), {"--rename", "map.txt"});
  const Outcome renamed = program.run(words);
  EXPECT_EQ(renamed.code, 0) << renamed.err;
}

TEST(ExchangeProgram, ckpt_lists_shows_and_finds_damage) {
  const Trained program("ckpt");
  const Outcome listed = program.run({"ckpt", "ls", "run"});
  EXPECT_EQ(listed.code, 0) << listed.err;
  EXPECT_NE(listed.out.find("ckpt-00000012.h5"), std::string::npos) << listed.out;
  EXPECT_NE(listed.out.find("last"), std::string::npos);
  EXPECT_NE(listed.out.find("best"), std::string::npos);
  const Outcome shown = program.run({"ckpt", "show", "run"});
  EXPECT_NE(shown.out.find("data/fingerprint"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("optim/m/"), std::string::npos);
  EXPECT_EQ(program.run({"ckpt", "verify", "run"}).code, 0);
  const auto newest = program.directory() / "run/checkpoints/ckpt-00000012.h5";
  std::filesystem::resize_file(newest, std::filesystem::file_size(newest) / 2);
  const Outcome damaged = program.run({"ckpt", "verify", "run"});
  EXPECT_EQ(damaged.code, 5);
  EXPECT_NE(damaged.out.find("ckpt-00000012.h5: DAMAGED"), std::string::npos) << damaged.out;
}

TEST(ExchangeProgram, bash_completes_verbs_and_settings) {
  const Program program("completion");
  const Outcome script = program.run({"completion", "bash"});
  EXPECT_EQ(script.code, 0);
  for (const char* const word : {"verify-resume ", "optim.lr= ", "data.length= ", "train.tokens= "})
    EXPECT_NE(script.out.find(word), std::string::npos) << word;
  program.write("try.sh", script.out +
                              "COMP_WORDS=(weft tra); COMP_CWORD=1; _weft; echo ${COMPREPLY[@]}\n"
                              "COMP_WORDS=(weft train c optim.wei); COMP_CWORD=3; _weft "
                              "2>/dev/null; echo ${COMPREPLY[@]}\n"
                              "COMP_WORDS=(weft data pre); COMP_CWORD=2; _weft; echo "
                              "${COMPREPLY[@]}\n");
  const std::string run = "bash " + (program.directory() / "try.sh").string() + " > " +
                          (program.directory() / "said.txt").string();
  ASSERT_EQ(std::system(run.c_str()), 0);
  EXPECT_EQ(read_text(program.directory() / "said.txt"), "train\noptim.weight_decay=\nprepare\n");
}

}  // namespace
}  // namespace weft::experiments::exchange_program_test
