// A saved model writes text without the file it was trained on.
#include "experiments/checkpoint/file.h"
#include "experiments/checkpoint/safetensors.h"
#include "experiments/checkpoint/saved_spelling.h"
#include "tests/experiments/program.h"
#include "tests/experiments/sweep/sweep_scratch.h"

namespace weft::experiments::spelling_program_test {
namespace {

class Trained : public Program {
 public:
  Trained(const std::string& name, const std::string& units) : Program("spelling_" + name) {
    std::string text;
    for (int i = 0; i < 200; ++i) text += "wörter \"quoted\" \\ " + std::to_string(i * 7) + "\n";
    text += '\0';
    write("t.txt", text);
    std::string config = sweep_base;
    config.replace(config.find("held_out = 8"), 12, "kind = \"text\"\npath = \"t.txt\"");
    write("c.toml", config);
    trained = run({"train", "c.toml", "--run", "run", "data.units=" + units});
  }
  Outcome generate() const {
    return run({"generate", "run", "--prompt", "wörter", "--tokens", "8", "--temperature", "0"});
  }

  Outcome trained;
};

TEST(SpellingProgram, generate_does_not_need_the_text) {
  for (const char* const units : {"bytes", "characters"}) {
    const Trained program(units, units);
    ASSERT_EQ(program.trained.code, 0) << program.trained.err;
    const Outcome before = program.generate();
    ASSERT_EQ(before.code, 0) << before.err;
    std::filesystem::remove(program.directory() / "t.txt");
    const Outcome after = program.generate();
    EXPECT_EQ(after.code, 0) << after.err;
    EXPECT_EQ(after.out, before.out);
    EXPECT_EQ(after.out.substr(0, 7), "wörter");
    EXPECT_EQ(program.run({"eval", "run"}).code, 4);
  }
}

TEST(SpellingProgram, a_character_outside_the_alphabet_is_named_without_the_text) {
  const Trained program("outside", "characters");
  std::filesystem::remove(program.directory() / "t.txt");
  const Outcome outcome = program.run({"generate", "run", "--prompt", "x€"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("'x'"), std::string::npos) << outcome.err;
}

TEST(SpellingProgram, checkpoint_and_export_carry_the_alphabet) {
  const Trained program("export", "characters");
  const auto run = program.directory() / "run/checkpoints/ckpt-00000012.h5";
  const auto spelling = saved_spelling(load_checkpoint(run));
  ASSERT_TRUE(spelling.has_value());
  EXPECT_EQ(spelling->decode(spelling->encode("wörter \"0\"\\\n")), "wörter \"0\"\\\n");
  EXPECT_EQ(spelling->alphabet()->characters().front(), U'\0');
  std::filesystem::remove(program.directory() / "t.txt");
  ASSERT_EQ(program.run({"export", "run", "-o", "m.safetensors"}).code, 0);
  const auto bytes = read_text(program.directory() / "m.safetensors");
  EXPECT_NE(bytes.find("\"units\":\"characters\""), std::string::npos);
  EXPECT_NE(bytes.find("\"alphabet\":\"\\\"\\\\u0000\\\\n \\\\\\\"0123456789"), std::string::npos)
      << bytes.substr(0, 600);
}

TEST(SpellingProgram, generators_of_symbols_carry_theirs_too) {
  const Program program("spelling_recall");
  program.write("c.toml", sweep_base);
  ASSERT_EQ(program.run({"train", "c.toml", "--run", "run"}).code, 0);
  const Outcome shown = program.run({"ckpt", "show", "run"});
  EXPECT_NE(shown.out.find("data/alphabet"), std::string::npos) << shown.out;
  EXPECT_EQ(program.run({"generate", "run", "--prompt", "abc", "--tokens", "4"}).code, 0);
}

}  // namespace
}  // namespace weft::experiments::spelling_program_test
