#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "experiments/sweep/plan.h"
#include "tests/experiments/program.h"
#include "tests/experiments/sweep/sweep_scratch.h"
#include "tests/places.h"

namespace weft::experiments::slurm_program_test {
namespace {

namespace fs = std::filesystem;

/// The program with stand-ins for Slurm's own: sbatch adds tasks to the file `queue` and keeps its
/// words and environment, squeue shows that file, scontrol keeps its words.
class SlurmProgram : public Program {
 public:
  explicit SlurmProgram(const std::string& name, const std::string& axes)
      : Program("slurm_" + name) {
    write("base.toml", sweep_base);
    write("s.toml", "base = \"base.toml\"\n" + axes);
    write("queue", "");
    write("max", "1001");
    stand_in("sbatch", R"bash(
[ ! -f "$CLUSTER/refuses" ] || { echo "sbatch: error: invalid partition specified: x" >&2; exit 1; }
printf '%s\n' "$@" >"$CLUSTER/words"
env >"$CLUSTER/environment"
id=$(($(cat "$CLUSTER/last" 2>/dev/null || echo 100) + 1))
echo $id >"$CLUSTER/last"
for word; do
  case $word in --array=*) last=${word#--array=0-} ;; esac
  script=$word
done
for i in $(seq 0 "${last%\%*}"); do echo "$id|$i|PENDING||$script" >>"$CLUSTER/queue"; done
[ ! -f "$CLUSTER/kills" ] || kill -9 $PPID
echo "$id;cluster")bash");
    stand_in("squeue", R"bash(
[ ! -f "$CLUSTER/unreachable" ] || { echo "slurm_load_jobs error: Unable to contact" >&2; exit 1; }
case "$*" in
  *-j*) cat "$CLUSTER/state" 2>/dev/null || echo RUNNING ;;
  *) cat "$CLUSTER/queue" ;;
esac)bash");
    stand_in("scontrol", R"bash(
case "$*" in
  "show config") echo "MaxArraySize            = $(cat "$CLUSTER/max")" ;;
  *) echo "$*" >>"$CLUSTER/requeued" ;;
esac)bash");
  }

  Outcome run_with_slurm(std::vector<std::string> words) const {
    return run(words, [&] { set_path(); });
  }
  Outcome submit(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"sweep", "s.toml", "--slurm", "-p 'short queue' -c1"};
    words.insert(words.end(), more.begin(), more.end());
    return run_with_slurm(words);
  }
  std::string status() const { return run_with_slurm({"sweep", "s.toml", "--status"}).out; }
  std::string text(const std::string& name) const { return read_text(directory() / name); }
  SweepFiles files() const { return {directory() / "sweeps/s"}; }
  std::vector<std::string> trials_of(int array) const {
    std::istringstream lines(text("sweeps/s/slurm/" + std::to_string(array) + "/trials.txt"));
    std::vector<std::string> ids;
    for (std::string line; std::getline(lines, line);)
      ids.push_back(line.substr(0, line.find(' ')));
    return ids;
  }
  /// Does what a node does: runs a task's script, which then leaves the queue. Its exit code.
  /// `meanwhile` may use $pid, its process.
  int run_task(int array, int index, const std::string& meanwhile = "", int job = 101) const {
    const std::string place = directory().string();
    const int status =
        std::system(("cd " + place + " || exit 99; CLUSTER=" + place + " PATH=" + place +
                     "/bin:$PATH SLURM_ARRAY_JOB_ID=" + std::to_string(job) +
                     " SLURM_JOB_ID=" + std::to_string(job * 10 + index) +
                     " SLURM_ARRAY_TASK_ID=" + std::to_string(index) + " bash sweeps/s/slurm/" +
                     std::to_string(array) + "/job.sh >>task.out 2>&1 & pid=$!; " + meanwhile +
                     " wait $pid; code=$?; " + "grep -v '^" + std::to_string(job) + "|" +
                     std::to_string(index) + "|' queue >rest; " + "mv rest queue; exit $code")
                        .c_str());
    return WEXITSTATUS(status);
  }
  void set_queue(const std::string& from, const std::string& to) const {
    std::string queue = text("queue");
    const std::size_t at = queue.find(from);
    ASSERT_NE(at, std::string::npos) << queue;
    write("queue", queue.replace(at, from.size(), to));
  }

 private:
  void stand_in(const std::string& name, const std::string& script) const {
    fs::create_directories(directory() / "bin");
    write("bin/" + name, "#!/bin/bash" + script + "\n");
    ::chmod((directory() / "bin" / name).c_str(), 0755);
  }
  void set_path() const {
    setenv("CLUSTER", directory().c_str(), 1);
    setenv("PATH", (directory().string() + "/bin:" + getenv("PATH")).c_str(), 1);
    setenv("SLURM_JOB_ID", "7", 1);  // an interactive job, from which the sweep is submitted
    setenv("SLURM_CPUS_PER_TASK", "64", 1);
    setenv("PMIX_RANK", "0", 1);
  }
};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const char* const three = "seeds = 3\n";

TEST(SlurmProgram, submits_one_array_with_the_options_and_returns_at_once) {
  const SlurmProgram program("submit", three);
  const Outcome outcome = program.submit({"-j", "2"});
  ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_TRUE(holds(outcome.out, "3 trials: 3 open\nsubmitted job 101 with 3 trials\n"))
      << outcome.out;
  const std::string words = program.text("words");
  for (const char* word : {"-p\nshort queue\n-c1\n", "--requeue\n", "--open-mode=append\n",
                           "--signal=B:USR1@180\n", "--array=0-2%2\n"})
    EXPECT_TRUE(holds(words, word)) << words;
  EXPECT_EQ(program.trials_of(1).size(), 3u);
  EXPECT_EQ(read_plan(program.files()).trials.size(), 3u);
  EXPECT_FALSE(fs::exists(program.files().directory / "trials")) << "nothing is trained here";
}

TEST(SlurmProgram, jobs_do_not_inherit_the_place_of_the_process_that_submits) {
  const SlurmProgram program("environment", three);
  ASSERT_EQ(program.submit().code, 0);
  const std::string environment = program.text("environment");
  for (const char* name :
       {"SLURM_JOB_ID=", "SLURM_CPUS_PER_TASK=", "PMIX_RANK=", "WEFT_CHOSE_BLAS"})
    EXPECT_FALSE(holds(environment, name)) << name;
  EXPECT_TRUE(holds(environment, "CLUSTER="));
}

TEST(SlurmProgram, the_same_command_again_submits_exactly_what_is_neither_ended_nor_queued) {
  const SlurmProgram program("again", R"(
[grid]
optim.lr = [1e-3, 2e-3, 1000.0, 3e-3]
[zip]
optim.kind = ["sgd"]
optim.clip = [0.0]
)");
  ASSERT_EQ(program.submit().code, 0);
  EXPECT_TRUE(holds(program.submit().out, "4 queued\nnothing to submit"));
  const std::vector<std::string> ids = program.trials_of(1);
  EXPECT_EQ(program.run_task(1, 0), 0) << program.text("task.out");
  EXPECT_EQ(program.run_task(1, 2), 3) << "a task ends with the exit code of what failed";
  program.set_queue("101|1|PENDING||", "101|1|RUNNING|n7|");
  // The last one was lost with its node.
  program.set_queue("101|3|", "100|3|");
  const std::string status = program.status();
  EXPECT_TRUE(holds(status, "done      " + ids[0])) << status;
  EXPECT_TRUE(holds(status, "running   " + ids[1])) << status;
  EXPECT_TRUE(holds(status, "step 0/12 on n7")) << status;
  EXPECT_TRUE(holds(status, "diverged  " + ids[2])) << status;
  EXPECT_TRUE(holds(status, "  diverged at step ")) << status;
  EXPECT_TRUE(holds(status, "is not finite")) << status;
  EXPECT_TRUE(holds(status, "lost      " + ids[3])) << status;
  EXPECT_TRUE(holds(status, "4 trials: 1 done, 1 diverged, 1 running, 1 lost\n")) << status;
  const Outcome again = program.submit();
  EXPECT_TRUE(holds(again.out, "submitted job 102 with 1 trial\n")) << again.out;
  EXPECT_EQ(program.trials_of(2), std::vector<std::string>{ids[3]});
  EXPECT_EQ(program.run_task(2, 0, "", 102), 0);
  const Outcome retried = program.submit({"--retry", "failed"});
  EXPECT_TRUE(holds(retried.out, "submitted job 103 with 1 trial\n")) << retried.out;
  EXPECT_EQ(program.trials_of(3), std::vector<std::string>{ids[2]});
}

TEST(SlurmProgram, scores_of_tasks_are_those_of_a_local_sweep_and_nothing_is_trained_twice) {
  const SlurmProgram program("scores", three);
  ASSERT_EQ(program.submit().code, 0);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(program.run_task(1, i), 0) << program.text("task.out");
  ASSERT_EQ(program.run({"sweep", "s.toml", "--dir", "local"}).code, 0);
  const std::vector<std::string> ids = program.trials_of(1);
  for (const std::string& id : ids)
    EXPECT_EQ(program.text("sweeps/s/scores/" + id + ".json"),
              program.text("local/scores/" + id + ".json"));
  // A task that comes again finds its trial trained, and only scores it.
  const std::string starts = program.text("sweeps/s/trials/" + ids[0] + "/env.json");
  fs::remove(program.files().score(ids[0]));
  EXPECT_EQ(program.run_task(1, 0), 0);
  EXPECT_EQ(program.text("sweeps/s/trials/" + ids[0] + "/env.json"), starts);
  EXPECT_TRUE(fs::exists(program.files().score(ids[0])));
}

TEST(SlurmProgram, an_array_longer_than_slurm_takes_becomes_several) {
  const SlurmProgram program("long", "seeds = 5\n");
  program.write("max", "3");
  const Outcome outcome = program.submit();
  EXPECT_TRUE(holds(outcome.out,
                    "submitted job 101 with 2 trials\nsubmitted job 102 with 2 trials\n"
                    "submitted job 103 with 1 trial\n"))
      << outcome.out << outcome.err;
  EXPECT_TRUE(holds(program.text("words"), "--array=0-0\n"));
  EXPECT_TRUE(holds(program.submit().out, "5 queued\nnothing to submit"));
}

TEST(SlurmProgram, a_submission_killed_before_it_noted_its_job_is_not_repeated) {
  const SlurmProgram program("noted", three);
  program.write("kills", "");
  EXPECT_EQ(program.submit().code, 137);
  EXPECT_FALSE(fs::exists(program.files().directory / "slurm/1/job.json"));
  fs::remove(program.directory() / "kills");
  EXPECT_TRUE(holds(program.submit().out, "3 queued\nnothing to submit"));
}

TEST(SlurmProgram, a_stopped_task_saves_goes_back_into_the_queue_and_continues) {
  const SlurmProgram program("requeue", "[grid]\ntrain.steps = [100000, 100001]\n");
  ASSERT_EQ(program.submit().code, 0);
  const std::string id = program.trials_of(1)[0];
  const std::string run = "sweeps/s/trials/" + id;
  // Signals the script as Slurm does before the time limit, once the trial has a checkpoint.
  const std::string signal = "for i in $(seq 600); do [ -f " + run +
                             "/checkpoints/last.json ] && [ -f " + run +
                             "/claim ] && break; sleep 0.05; done; kill -USR1 $pid;";
  EXPECT_EQ(program.run_task(1, 0, signal), 138) << program.text("task.out");
  EXPECT_EQ(program.text("requeued"), "requeue 1010\n");
  EXPECT_TRUE(holds(program.text(run + "/status.json"), "\"stopped\"")) << program.text(run);
  // Where somebody cancelled the job, it stays cancelled.
  program.write("state", "COMPLETING");
  program.run_task(1, 0, signal);
  EXPECT_EQ(program.text("requeued"), "requeue 1010\n");
}

TEST(SlurmProgram, two_lives_without_a_step_of_progress_are_a_failure) {
  const SlurmProgram program("stuck", "seeds = 2\n");
  ASSERT_EQ(program.submit().code, 0);
  const std::string id = program.trials_of(1)[0];
  const std::string script = program.text("sweeps/s/slurm/1/job.sh");
  const std::size_t at = script.find("program='");
  program.write("killed", "#!/bin/bash\nkill -9 $$\n");
  ::chmod((program.directory() / "killed").c_str(), 0755);
  program.write(
      "sweeps/s/slurm/1/job.sh",
      std::string(script).replace(at, script.find('\n', at) - at,
                                  "program=" + (program.directory() / "killed").string()));
  EXPECT_EQ(program.run_task(1, 0), 137);
  EXPECT_EQ(program.text("requeued"), "requeue 1010\n");
  EXPECT_TRUE(holds(program.status(), "lost      " + id)) << program.status();
  EXPECT_EQ(program.run_task(1, 0), 137);
  EXPECT_EQ(program.text("requeued"), "requeue 1010\n");
  EXPECT_TRUE(holds(program.status(), "ended by signal 9 twice without a step of progress"))
      << program.status();
}

TEST(SlurmProgram, says_clearly_what_slurm_refuses_or_is_missing) {
  const SlurmProgram program("refused", three);
  program.write("refuses", "");
  const Outcome refused = program.submit();
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(holds(refused.err,
                    "sbatch refused the array (exit code 1): sbatch: error: invalid "
                    "partition"))
      << refused.err;
  EXPECT_TRUE(holds(program.status(), "3 trials: 3 open")) << program.status();
  fs::remove(program.directory() / "refuses");
  ASSERT_EQ(program.submit().code, 0);
  program.write("unreachable", "");
  const Outcome blind = program.submit();
  EXPECT_EQ(blind.code, 2);
  EXPECT_TRUE(holds(blind.err,
                    "queue cannot be read: squeue ended with exit code 1: "
                    "slurm_load_jobs error"))
      << blind.err;
  const Outcome quote = program.run_with_slurm({"sweep", "s.toml", "--slurm", "-p 'x"});
  EXPECT_EQ(quote.code, 2) << quote.out;
  const Outcome absent = program.run({"sweep", "s.toml", "--slurm", "", "--dir", "new"},
                                     [] { setenv("PATH", "/nowhere", 1); });
  EXPECT_EQ(absent.code, 2);
  EXPECT_TRUE(holds(absent.err, "there is no sbatch here")) << absent.err;
  EXPECT_EQ(program.run({"sweep", "s.toml", "--status", "--dir", "absent"}).code, 2);
}

TEST(SlurmProgram, a_sweep_under_a_launcher_of_several_processes_is_refused) {
  const SlurmProgram program("launched", three);
  const Outcome outcome = program.run({"sweep", "s.toml"}, [] {
    setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
    setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  });
  EXPECT_EQ(outcome.code, 2) << outcome.out;
  EXPECT_TRUE(holds(outcome.err, "without mpirun or srun")) << outcome.err;
  EXPECT_FALSE(fs::exists(program.directory() / "sweeps"));
}

TEST(SlurmProgram, a_wrong_trial_submits_nothing) {
  const SlurmProgram program("wrong", "[grid]\nmodel.heads = [2, 3]\n");
  EXPECT_EQ(program.submit().code, 2);
  EXPECT_FALSE(fs::exists(program.directory() / "words"));
  EXPECT_FALSE(fs::exists(program.directory() / "sweeps"));
}

}  // namespace
}  // namespace weft::experiments::slurm_program_test
