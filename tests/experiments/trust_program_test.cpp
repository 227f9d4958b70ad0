// Output that was lost, files that others made, numbers that no machine can hold.
#include <fcntl.h>
#include <sys/resource.h>

#include <csignal>

#include "experiments/run/run_files.h"
#include "experiments/sweep/score.h"
#include "tests/experiments/program.h"
#include "tests/experiments/sweep/sweep_scratch.h"
#include "tests/places.h"

namespace weft::experiments::trust_program_test {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

using Words = std::vector<std::string>;
namespace fs = std::filesystem;

class Trained : public Program {
 public:
  explicit Trained(const std::string& name, const Words& more = {}) : Program("trust_" + name) {
    write("base.toml", sweep_base);
    Words words = {"train", "base.toml", "--run", "a"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
  }
  fs::path path(const std::string& name) const { return directory() / name; }
};

void write_to_a_full_disk() { dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO); }

TEST(Trust, results_that_could_not_be_printed_are_no_success) {
  const Trained program("full");
  for (const Words& words : {Words{"eval", "a", "--json"}, Words{"config", "base.toml", "--toml"},
                             Words{"ckpt", "ls", "a"}, Words{"--help"}}) {
    const Outcome outcome = program.run(words, write_to_a_full_disk);
    EXPECT_EQ(outcome.code, 1) << words[0];
    EXPECT_NE(outcome.err.find("standard output"), std::string::npos) << outcome.err;
  }
  const Outcome closed = program.run({"ckpt", "ls", "a"}, [] { close(STDOUT_FILENO); });
  EXPECT_EQ(closed.code, 1) << closed.err;
}

TEST(Trust, what_is_printed_to_a_closed_stream_goes_into_no_file_of_the_run) {
  const Trained program("closed");
  const Outcome outcome = program.run({"train", "base.toml", "--run", "b"}, [] {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(stream);
  });
  EXPECT_EQ(outcome.code, 1);  // the training itself went on to its end
  EXPECT_EQ(read_status({program.path("b")}).state, "finished");
  for (const std::string held : {"lock", "claim"})
    EXPECT_EQ(read_text(program.path("b") / held).find("tok/s"), std::string::npos) << held;
}

TEST(Trust, export_replaces_no_file_unasked_and_none_of_the_run) {
  const Trained program("export");
  EXPECT_EQ(program.run({"export", "a", "-o", "m.safetensors"}).code, 0);
  EXPECT_EQ(program.run({"export", "a", "-o", "m.safetensors"}).code, 2);
  EXPECT_EQ(program.run({"export", "a", "-o", "m.safetensors", "--force"}).code, 0);
  for (const std::string own : {"a/status.json", "a/checkpoints/ckpt-00000012.h5"})
    EXPECT_EQ(program.run({"export", "a", "-o", own, "--force"}).code, 2) << own;
  EXPECT_EQ(program.run({"ckpt", "verify", "a"}).code, 0);
}

TEST(Trust, an_empty_score_is_made_again_and_named_until_then) {
  const Trained program("score");
  program.write("s.toml",
                "base = \"base.toml\"\n[grid]\nmodel.attention = [\"dense\", \"local\"]\n"
                "optim.lr = [1e-3, 3e-3]\n");
  const Words sweep = {"sweep", "s.toml", "train.steps=4", "-j", "2"};
  ASSERT_EQ(program.run(sweep).code, 0);
  const std::string table = program.run({"report", "sweeps/s"}).out;
  std::map<fs::path, std::string> scores;
  for (const auto& item : fs::directory_iterator(program.path("sweeps/s/scores"))) {
    scores[item.path()] = read_text(item.path());
    EXPECT_TRUE(read_score(item.path())) << item.path();
  }
  ASSERT_EQ(scores.size(), 4u);
  for (const auto& [path, text] : scores) {
    std::ofstream(path) << text.substr(0, text.size() / 2);
    const std::string id = path.stem();
    const Outcome report = program.run({"report", "sweeps/s", "-o", "t.md,t.csv,t.html"});
    for (const std::string& shown :
         {report.out, read_text(program.path("t.md")), read_text(program.path("t.csv"))})
      EXPECT_TRUE(shown.find(id) != std::string::npos ||
                  shown.find("1 not finished") != std::string::npos)
          << shown;
  }
  const Outcome again = program.run(sweep);
  EXPECT_EQ(again.code, 0) << again.err;
  for (const auto& [path, text] : scores) EXPECT_EQ(read_text(path), text);
  EXPECT_EQ(program.run({"report", "sweeps/s"}).out, table);
}

const char* const labelled = R"(
[data]
kind = "labelled"
train_path = "train.tsv"
validation_path = "train.tsv"
length = 8
[model]
task = "classify"
layers = 1
width = 8
heads = 2
[train]
steps = 2
batch = 2
)";

TEST(Trust, eval_notices_other_characters_and_other_units) {
  const Program program("trust_units");
  std::string text;
  for (int i = 0; i < 60; ++i) text += "one two three. ";
  program.write("text.txt", text);
  program.write("other.txt", text + "\tz");
  program.write("c.toml", R"(
[data]
kind = "text"
path = "text.txt"
units = "characters"
length = 8
[model]
layers = 1
width = 8
heads = 2
[train]
steps = 2
batch = 2
)");
  ASSERT_EQ(program.run({"train", "c.toml", "--run", "a"}).code, 0);
  const Outcome characters = program.run({"eval", "a", "data.path=other.txt"});
  EXPECT_EQ(characters.code, 4);
  expect_holds(characters.err, {R"("\t" in this data)", R"("z" in this data)"});
  const Outcome units = program.run({"eval", "a", "data.units=bytes"});
  EXPECT_EQ(units.code, 4);
  expect_holds(units.err, {"each token is a character in training, a byte in this data",
                           "set data.units as in training"});
}

TEST(Trust, eval_notices_other_labels_and_changed_data) {
  const Program program("trust_labels");
  program.write("c.toml", labelled);
  program.write("train.tsv", "bad\tabc\ngood\tdef\nbad\tghi\ngood\tjkl\n");
  ASSERT_EQ(program.run({"train", "c.toml", "--run", "a"}).code, 0);
  EXPECT_EQ(program.run({"eval", "a"}).code, 0);
  EXPECT_EQ(program.run({"eval", "a", "--lengths", "8"}).code, 0);
  program.write("other.tsv", "alpha\tabc\nbad\tdef\n");
  const Outcome labels =
      program.run({"eval", "a", "data.train_path=other.tsv", "data.validation_path=other.tsv"});
  EXPECT_EQ(labels.code, 4) << labels.out << labels.err;
  EXPECT_NE(labels.err.find("class \"alpha\": in this data only"), std::string::npos) << labels.err;
  program.write("new.tsv", "good\tabc\nbad\tdefg\n");
  EXPECT_EQ(program.run({"eval", "a", "data.validation_path=new.tsv"}).code, 0);
  program.write("train.tsv", "bad\tabc\ngood\tdef\nbad\tghi\ngood\tjkX\n");
  for (const Words& words : {Words{"eval", "a"}, Words{"eval", "a", "--lengths", "8"}}) {
    const Outcome changed = program.run(words);
    EXPECT_EQ(changed.code, 4) << changed.err;
    EXPECT_NE(changed.err.find("fingerprint"), std::string::npos) << changed.err;
  }
}

TEST(Trust, nested_json_in_a_run_folder_crashes_nothing) {
  const Trained program("nested");
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  std::ofstream(program.path("a/env.json")) << "{\"starts\":[{\"x\":" << deep << "}]}";
  std::ofstream(program.path("a/checkpoints/last.json")) << deep;
  EXPECT_EQ(program.run({"train", "a", "--resume", "train.steps=13"}).code, 0);
  std::ofstream(program.path("a/env.json")) << "{\"starts\":5}";
  EXPECT_EQ(program.run({"train", "a", "--resume", "train.steps=14"}).code, 0);
}

TEST(Trust, a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for) {
  const Trained program("pipes");
  for (const std::string name :
       {"status.json", "metrics.jsonl", "env.json", "config.toml", "log.txt",
        "checkpoints/last.json", "checkpoints/best.json", "checkpoints/ckpt-00000012.h5"}) {
    fs::copy(program.path("a"), program.path("b"), fs::copy_options::recursive);
    fs::remove(program.path("b/" + name));
    ASSERT_EQ(mkfifo(program.path("b/" + name).c_str(), 0600), 0);
    for (const Words& words :
         {Words{"runs", "ls", "."}, Words{"ckpt", "ls", "b"}, Words{"eval", "b"},
          Words{"report", "b", "-o", "b.html"}, Words{"watch", "b", "--tui"},
          Words{"train", "b", "--resume", "train.steps=13"}})
      EXPECT_LT(program.run(words, [] { alarm(20); }).code, 100) << words[0] << ", " << name;
    fs::remove_all(program.path("b"));
  }
}

TEST(Trust, a_hostile_checkpoint_is_called_damaged) {
  const Trained program("hostile");
  const fs::path folder = source_dir() + "/tests/core/files/hostile";
  for (const std::string name : {"ckpt-cycle", "ckpt-hdf5-segv", "ckpt-huge-dims"}) {
    fs::remove_all(program.path("a/checkpoints"));
    fs::create_directories(program.path("a/checkpoints"));
    fs::copy_file(folder / (name + ".h5"), program.path("a/checkpoints/ckpt-00000012.h5"));
    const Outcome outcome = program.run({"ckpt", "show", "a"});
    EXPECT_EQ(outcome.code, 5) << name << outcome.err;
  }
  program.write("text.toml", "[data]\nlength = 8\n[model]\nwidth = 8\nheads = 2\n");
  const Outcome hang = program.run({"train", "text.toml", "--run", "b", "data.kind=text",
                                    "data.path=" + (folder / "prepared-hdf5-hang.h5").string()});
  EXPECT_EQ(hang.code, 4) << hang.err;
}

TEST(Trust, numbers_that_no_machine_can_hold_are_refused) {
  const Program program("trust_numbers");
  program.write("base.toml", sweep_base);
  for (const std::string setting :
       {"data.payload=9223372036854775807", "data.held_out=9223372036854775807",
        "model.ff=9223372036854775807", "attention.random.blocks=9223372036854775807",
        "attention.random.blocks=100000000", "attention.bigbird.random=100000000"}) {
    Words words = {"config", "base.toml", setting};
    if (setting.starts_with("attention.random")) words.push_back("model.attention=random");
    if (setting.starts_with("attention.bigbird")) words.push_back("model.attention=bigbird");
    const Outcome outcome = program.run(words, [] {
      const rlimit limit{rlim_t(2) << 30, rlim_t(2) << 30};
      if (!sanitized) setrlimit(RLIMIT_AS, &limit);
    });
    EXPECT_EQ(outcome.code, 2) << setting << outcome.err;
  }
}

TEST(Trust, too_little_memory_ends_with_what_did_not_fit) {
  if (sanitized) GTEST_SKIP() << "AddressSanitizer takes terabytes of address space for itself";
  const Program program("trust_memory");
  program.write("base.toml", sweep_base);
  for (const rlim_t mib : {250, 300, 400, 500}) {
    const Outcome outcome =
        program.run({"train", "base.toml", "--run", "a", "--force", "--fresh"}, [mib] {
          const rlimit limit{mib << 20, mib << 20};
          setrlimit(RLIMIT_AS, &limit);
          alarm(60);
        });
    EXPECT_TRUE(outcome.code == 0 || outcome.code == 6)
        << mib << ' ' << outcome.code << outcome.err;
    const bool explained = outcome.err.find("out of memory") != std::string::npos;
    EXPECT_EQ(outcome.code == 6, explained) << outcome.err;
  }
}

TEST(Trust, a_run_that_ran_out_of_memory_says_so_keeps_its_checkpoints_and_goes_on) {
  if (sanitized) GTEST_SKIP() << "AddressSanitizer takes terabytes of address space for itself";
  const Trained exhausted("exhausted"), undisturbed("undisturbed");
  const Words resume = {"train", "a", "--resume", "train.steps=14"};
  const Outcome outcome = exhausted.run(resume, [] {
    const rlimit limit{rlim_t(250) << 20, rlim_t(250) << 20};
    setrlimit(RLIMIT_AS, &limit);
    alarm(60);
  });
  EXPECT_EQ(outcome.code, 6) << outcome.err;
  EXPECT_NE(read_status({exhausted.path("a")}).state, "running");
  EXPECT_EQ(exhausted.run({"ckpt", "verify", "a"}).code, 0);
  for (const Trained* program : {&exhausted, &undisturbed}) {
    EXPECT_EQ(program->run(resume).code, 0);
    EXPECT_EQ(read_status({program->path("a")}).state, "finished");
    EXPECT_EQ(program->run({"export", "a", "-o", "m.safetensors"}).code, 0);
  }
  EXPECT_EQ(read_text(exhausted.path("m.safetensors")),
            read_text(undisturbed.path("m.safetensors")));
}

TEST(Trust, names_that_the_system_refuses_are_explained) {
  const Trained program("names");
  const std::string longer(300, 'x');
  for (const Words& words : {Words{"config", longer}, Words{"train", "base.toml", "--run", longer},
                             Words{"sweep", "base.toml", "--dir", longer}, Words{"eval", longer}}) {
    const Outcome outcome = program.run(words);
    EXPECT_EQ(outcome.code, 2) << words[0] << outcome.err;
    EXPECT_EQ(outcome.err.find("filesystem error"), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace weft::experiments::trust_program_test
