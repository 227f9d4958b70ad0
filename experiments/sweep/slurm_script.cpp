#include "experiments/sweep/slurm_script.h"

#include "core/error.h"

namespace weft::experiments {
namespace {

/// A word that bash reads as it is.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text)
    if (c == '\'')
      word += "'\\''";
    else
      word += c;
  return word + "'";
}

constexpr const char* body = R"bash(
read -r id split checkpoint tokens < <(sed -n "$((SLURM_ARRAY_TASK_ID + 1))p" "$trials")
[ -n "$id" ] || { echo "no trial has the index $SLURM_ARRAY_TASK_ID in $trials"; exit 2; }
run=$sweep/trials/$id log=$sweep/logs/$id.log score=$sweep/scores/$id.json
lives=$sweep/logs/$id.lives
export WEFT_FAILURE_FILE=$sweep/logs/$id.failure
threads=threads=${SLURM_CPUS_PER_TASK:-${SLURM_CPUS_ON_NODE:-1}}
echo "life ${SLURM_RESTART_COUNT:-0} of $id on $(hostname), job ${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
rm -f -- "$WEFT_FAILURE_FILE"

fail() { # CODE REASON
  [ -f "$WEFT_FAILURE_FILE" ] ||
    printf '{"reason": "%s", "advice": "see the log of the trial"}\n' "$2" >"$WEFT_FAILURE_FILE"
  rm -f -- "$lives"
  echo "$2"
  exit "$1"
}

# The newest checkpoint's step, -1 without one.
saved() { sed -n 's/.*"saved": *\(-\?[0-9]*\).*/\1/p' "$run/status.json" 2>/dev/null | grep . || echo -1; }

# Stopped or killed from outside: back into the queue, unless the second life in a row made no step or
# somebody cancelled the job.
stopped() { # CODE
  local now before=-1 count=0
  now=$(saved)
  [ ! -f "$lives" ] || read -r before count <"$lives"
  if ((now > before)); then count=0; else count=$((count + 1)); fi
  ((count < 2)) || fail "$1" "ended by signal $(($1 - 128)) twice without a step of progress"
  echo "$now $count" >"$lives"
  echo "stopped with $1 at step $now"
  [ "$(squeue -h -j "$SLURM_JOB_ID" -o %T)" = RUNNING ] || exit "$1"
  scontrol requeue "$SLURM_JOB_ID" # ends this script where it is allowed
  exit "$1"
}

# A signal comes to this shell; the program gets it passed on, saves and ends.
pid=
trap '[ -z "$pid" ] || kill -USR1 $pid 2>/dev/null' USR1 TERM

run_program() { # OUTPUT ARGUMENT...
  local output=$1 code
  shift
  "$program" "$@" "$threads" >>"$output" 2>>"$log" &
  pid=$!
  wait $pid
  code=$?
  while kill -0 $pid 2>/dev/null; do # the signal ended `wait` before its time
    wait $pid
    code=$?
  done
  pid=
  ((code <= 128)) || stopped $code
  ((code == 0)) || fail $code "weft $1 ended with exit code $code"
}

grep -qs '"state": "finished"' "$run/status.json" ||
  run_program "$log" train "$sweep/configs/$id.toml" --run "$run" --continue
[ "$split" = - ] && { rm -f -- "$lives"; exit 0; } # a trial of a rung is not scored
rm -f -- "$score.tmp"
run_program "$score.tmp" eval "$run" --split "$split" --ckpt "$checkpoint" --json ${tokens:+--tokens "$tokens"}
mv -- "$score.tmp" "$score"
rm -f -- "$lives"
)bash";

}  // namespace

std::string slurm_script(const SweepFiles& files, const std::filesystem::path& trials,
                         const std::filesystem::path& program) {
  return core::message_of(
      "#!/bin/bash\n# One task of the array that weft sweep --slurm submitted.\n",
      "program=", quoted(program.string()), "\nsweep=", quoted(files.directory.string()),
      "\ntrials=", quoted(trials.string()), body);
}

std::string slurm_line(const PlannedTrial& trial) {
  const std::string tokens =
      trial.eval_tokens > 0 ? " " + std::to_string(trial.eval_tokens) : std::string();
  return trial.id + " " + (trial.stage.is_rung() ? "-" : trial.split) + " " + trial.checkpoint +
         tokens + "\n";
}

}  // namespace weft::experiments
