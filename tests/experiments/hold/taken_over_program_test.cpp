#include <unistd.h>

#include <csignal>

#include "experiments/hold/holder.h"
#include "tests/experiments/program.h"

namespace weft::experiments::taken_over_program_test {
namespace {

namespace fs = std::filesystem;

TEST(TakenOverProgram, a_run_whose_claim_is_gone_writes_no_more_of_its_state_and_ends_with_5) {
  const Program program("taken_over");
  program.write("c.toml", tiny_config);
  const fs::path run = program.directory() / "run";
  const pid_t child = program.start({"train", "c.toml", "--run", "run", "train.steps=3000",
                                     "train.checkpoint_every=300", "threads=1"});
  // Once its first save is over, the run writes nothing for many steps and is stopped among them.
  const auto has_saved = [&] {
    return fs::exists(run / "status.json") &&
           read_text(run / "status.json").find("\"saved\": 300") != std::string::npos;
  };
  for (int ms = 0; ms < 60'000 && !has_saved(); ++ms) usleep(1000);
  const auto first = Holder::parse(read_text(run / "claim"));
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->process, child);
  // Another machine takes over, as a later life of a job would, and says how far it is.
  kill(child, SIGSTOP);
  const Holder next{.host = "far", .machine = "another boot", .process = 9, .token = "def"};
  program.write("run/claim-" + first->token, next.json());
  const std::string last = "the list of the other", status = "the status of the other";
  program.write("run/checkpoints/last.json", last);
  program.write("run/status.json", status);
  kill(child, SIGCONT);
  const Outcome outcome = program.wait(child);
  EXPECT_EQ(outcome.code, 5) << outcome.out << outcome.err;
  EXPECT_NE(outcome.err.find("was taken over by process 9 on far"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(read_text(run / "checkpoints/last.json"), last);
  EXPECT_EQ(read_text(run / "status.json"), status);
  EXPECT_TRUE(fs::exists(run / "claim")) << "what another one holds is not given free";
}

}  // namespace
}  // namespace weft::experiments::taken_over_program_test
