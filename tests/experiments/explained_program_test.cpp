// What the system refuses, or a file of another's cannot be, is explained and loses nothing.
#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "experiments/checkpoint/file.h"
#include "experiments/run/run_files.h"
#include "experiments/sweep/plan.h"
#include "tests/experiments/program.h"
#include "tests/experiments/sweep/sweep_scratch.h"

namespace weft::experiments::explained_program_test {
namespace {

using Words = std::vector<std::string>;
namespace fs = std::filesystem;

const char* const two_trials =
    "base = \"base.toml\"\n[grid]\nmodel.attention = [\"dense\", \"local\"]\n";

class Explained : public Program {
 public:
  explicit Explained(const std::string& name) : Program("explained_" + name) {
    write("base.toml", sweep_base);
  }
  fs::path path(const std::string& name) const { return directory() / name; }
};

TEST(Explained, a_sweep_whose_file_name_is_no_text_runs_and_is_reported_like_any_other) {
  const Explained program("name");
  const std::string name = "s\xff";
  program.write(name + ".toml", two_trials);
  for (const char* const done : {"0 done, 2 to run", "2 done"}) {
    const Outcome outcome = program.run({"sweep", name + ".toml", "train.steps=4"});
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    EXPECT_NE(outcome.out.find(done), std::string::npos) << outcome.out;
  }
  const Outcome report = program.run({"report", "sweeps/" + name, "-o", "t.md,t.csv,t.tex,t.html"});
  EXPECT_EQ(report.code, 0) << report.err;
  for (const char* const file : {"t.md", "t.csv", "t.tex", "t.html"})
    EXPECT_NE(read_text(program.path(file)).find("local"), std::string::npos) << file;
}

TEST(Explained, a_report_takes_scores_of_which_only_some_have_recall_by_distance) {
  const Explained program("distance");
  program.write("s.toml", two_trials);
  ASSERT_EQ(program.run({"sweep", "s.toml", "train.steps=4"}).code, 0);
  const SweepFiles files{program.path("sweeps/s")};
  const fs::path score = files.score(read_plan(files).trials.at(0).id);
  auto json = nlohmann::ordered_json::parse(read_text(score));
  ASSERT_TRUE(json.contains("by_distance"));
  json.erase("by_distance");
  std::ofstream(score) << json.dump();
  const Outcome report = program.run({"report", "sweeps/s", "-o", "t.md,t.csv,t.tex,t.html"});
  EXPECT_EQ(report.code, 0) << report.err;
  for (const char* const row : {"dense", "local"})
    for (const std::string& shown :
         {report.out, read_text(program.path("t.md")), read_text(program.path("t.csv"))})
      EXPECT_NE(shown.find(row), std::string::npos) << row << " in: " << shown;
}

TEST(Explained, too_few_open_files_are_named_and_no_run_is_called_lost_for_them) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer opens files of its own";
#endif
  const Explained program("files");
  ASSERT_EQ(program.run({"train", "base.toml", "--run", "a"}).code, 0);
  int explained = 0;
  for (const Words& words :
       {Words{"eval", "a"}, Words{"ckpt", "verify", "a"}, Words{"train", "a", "--resume"},
        Words{"train", "base.toml", "--run", "a", "--fresh", "--init-from", "b"},
        Words{"report", "a"}, Words{"export", "a", "-o", "m.safetensors"}})
    for (rlim_t files = 4; files <= 9; ++files) {
      const Outcome outcome = program.run(words, [files] {
        const rlimit limit{files, files};
        setrlimit(RLIMIT_NOFILE, &limit);
      });
      // The loader itself found none left for a library, where other files are inherited.
      if (outcome.err.find("error while loading shared libraries") != std::string::npos) continue;
      EXPECT_TRUE(outcome.code <= 6) << words[0] << ' ' << files << ": " << outcome.code;
      EXPECT_TRUE(outcome.code == 0 || outcome.err.find("error: ") != std::string::npos)
          << words[0];
      for (const char* const wrong :
           {"--fresh deletes", "empty it", "DAMAGED", "is damaged", "taken over", "keep claiming"})
        EXPECT_EQ((outcome.out + outcome.err).find(wrong), std::string::npos)
            << words[0] << ' ' << files << ": " << outcome.out << outcome.err;
      explained += outcome.err.find("ulimit -n") != std::string::npos;
    }
  EXPECT_GE(explained, 4);
  EXPECT_EQ(program.run({"ckpt", "verify", "a"}).code, 0);
  EXPECT_EQ(read_status({program.path("a")}).step, 12);
}

TEST(Explained, a_checkpoint_with_text_that_is_no_text_is_not_exported_and_leaves_no_file) {
  const Explained program("export");
  ASSERT_EQ(program.run({"train", "base.toml", "--run", "a"}).code, 0);
  const fs::path path = program.path("a/checkpoints/ckpt-00000012.h5");
  const Checkpoint checkpoint = load_checkpoint(path);
  Snapshot snapshot{.step = checkpoint.step,
                    .config_toml = checkpoint.config_toml,
                    .facts = checkpoint.facts,
                    .arrays = {}};
  for (const auto& [name, array] : checkpoint.arrays)
    snapshot.arrays.push_back({name, array.shape, array.values});
  snapshot.facts["data/note"] = std::string("no text: \xff\xfe");
  write_checkpoint(path, snapshot, checkpoint.validation);
  const Outcome outcome = program.run({"export", "a", "-o", "m.safetensors"});
  EXPECT_EQ(outcome.code, 5) << outcome.out << outcome.err;
  expect_holds(outcome.err, {"m.safetensors", "is not UTF-8"});
  EXPECT_FALSE(fs::exists(program.path("m.safetensors")));
}

}  // namespace
}  // namespace weft::experiments::explained_program_test
