#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/checkpoint/checkpoint.h"

namespace weft::experiments {

/// The files of a run:
///   config.toml    the resolved config             metrics.jsonl  measurements (metrics_log.h)
///   env.json       how, where and when it started  status.json    state and step; marks a run
///   log.txt        what every start printed
///   checkpoints/   samples/   tensorboard/
struct RunFiles {
  std::filesystem::path directory;

  std::filesystem::path config() const { return directory / "config.toml"; }
  std::filesystem::path environment() const { return directory / "env.json"; }
  std::filesystem::path status() const { return directory / "status.json"; }
  std::filesystem::path metrics() const { return directory / "metrics.jsonl"; }
  std::filesystem::path log() const { return directory / "log.txt"; }
  std::filesystem::path samples() const { return directory / "samples"; }
  std::filesystem::path tensorboard() const { return directory / "tensorboard"; }
  std::filesystem::path checkpoints() const { return directory / "checkpoints"; }
};

/// status.json: "running", "stopped" (by a signal), "finished", "diverged" or "failed"; why, and
/// what to do about it. While it runs also the "pid" and "host" of the process that wrote it: a run
/// that was killed could not change its "running" (see state_now), but that process is gone. Older
/// files have one text, "detail", for both: it is read as the reason.
struct RunStatus {
  std::string state;
  core::Index step = 0;
  std::string reason = {}, advice = {};
  core::Index saved = -1;      ///< the step of the newest checkpoint; -1: there is none yet
  std::string init_from = {};  ///< the run whose model it starts from, until it has a checkpoint
};

/// 2024-05-06T07:08:09Z
std::string utc_now();
/// To the millisecond.
double seconds_since_1970();

/// ROOT/NAME-HASH8 with the first 8 digits of the resolved config's hash: the same config always
/// finds its run again.
std::filesystem::path run_path(const std::filesystem::path& root, const std::string& name,
                               const std::string& config_hash);

/// Whether weft has begun a run there: status.json says so, or it is lost or damaged but there are
/// checkpoints.
bool holds_run(const std::filesystem::path& directory);
/// Whether status.json itself says so.
bool is_marked_as_run(const std::filesystem::path& directory);
/// The files of an existing run, for reading; an Error (Fault::usage) when there is none.
RunFiles find_run(const std::filesystem::path& directory);

/// With status.json lost or damaged, a status without state.
RunStatus read_status(const RunFiles& files);
/// The state, with "killed" for a run that says "running" while no process holds its directory.
std::string state_now(const RunFiles& files, const RunStatus& status);
void write_status(const RunFiles& files, const RunStatus& status);

/// env.json lists the facts of every start of the run (version, command, CPU, instruction set, BLAS
/// core, threads, ...), oldest first, each with its time.
std::vector<Facts> read_starts(const RunFiles& files);
void record_start(const RunFiles& files, Facts facts);

/// What a start records of the program and the machine: version, commit, compiler, cpu, cores,
/// host, system and its load.
Facts describe_machine();

}  // namespace weft::experiments
