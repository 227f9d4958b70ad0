#pragma once

#include <optional>
#include <string>
#include <vector>

namespace weft::experiments {

/// The result of a system program: its exit code as a shell shows it, and what it printed.
struct OutsideResult {
  int code = 0;
  std::string out, err;
};

/// Runs a program found in PATH, its input empty, and waits for it. `environment` holds NAME=VALUE;
/// nothing when there is no such program. An Error when no process can be started.
std::optional<OutsideResult> run_outside(const std::vector<std::string>& words,
                                         const std::vector<std::string>& environment);
/// The same in this process's environment.
std::optional<OutsideResult> run_outside(const std::vector<std::string>& words);

/// This process's environment without the variables that `is_left_out` names.
std::vector<std::string> environment_without(bool (*is_left_out)(const std::string& name));

/// Whether a launcher of parallel programs (mpirun, srun) set this variable for one process of
/// many; a program started by that process must not take it for its own.
bool is_of_launcher(const std::string& name);

/// Set when weft itself, not the user, chose OPENBLAS_CORETYPE, which then suits this machine
/// alone.
inline constexpr const char* own_blas_variable = "WEFT_CHOSE_BLAS";

}  // namespace weft::experiments
