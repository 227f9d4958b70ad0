#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "core/arrays/gemm.h"
#include "core/error.h"
#include "core/files/durable_file.h"
#include "experiments/commands/commands.h"
#include "experiments/run/failure.h"

namespace {

using namespace weft;

/// OpenBLAS chooses its kernels before main begins; where it chose badly, the program starts over
/// with a better choice in the environment.
void restart_with_better_blas(char** argv) {
  const std::string better = core::better_blas_core();
  if (better.empty() || std::getenv("OPENBLAS_CORETYPE")) return;
  setenv("OPENBLAS_CORETYPE", better.c_str(), 1);
  execv("/proc/self/exe", argv);
}

int exit_code(core::Fault fault) {
  switch (fault) {
    case core::Fault::usage:
      return 2;
    case core::Fault::diverged:
      return 3;
    case core::Fault::data:
      return 4;
    case core::Fault::checkpoint:
      return 5;
    case core::Fault::output:
      return 1;
  }
  return 1;
}

void print_usage(std::ostream& out) {
  out << "weft " << WEFT_VERSION << ": trains and compares long-sequence Transformers on CPUs\n\n";
  for (const experiments::Command& command : experiments::all_commands())
    out << "  weft " << command.name << std::string(15 - command.name.size(), ' ')
        << command.summary << '\n';
  out << "\nweft VERB --help says more; weft config --keys lists every setting.\n";
}

int run(const std::vector<std::string>& words) {
  if (words.empty() || words[0] == "--help" || words[0] == "help") {
    print_usage(words.empty() ? std::cerr : std::cout);
    return words.empty() ? 2 : 0;
  }
  if (words[0] == "--version") {
    std::cout << "weft " << WEFT_VERSION << '\n';
    return 0;
  }
  return experiments::run_command("weft", experiments::all_commands(), words);
}

/// Prints what went wrong, and tells a process that wants to know.
int fail(const std::string& message, const experiments::Failure& failure, int code) {
  std::cerr << "error: " << message << '\n';
  experiments::record_failure(failure);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  restart_with_better_blas(argv);
  core::ignore_file_size_signal();
  try {
    return run({argv + 1, argv + argc});
  } catch (const core::Error& error) {
    return fail(error.what(), {error.reason(), error.advice()}, exit_code(error.fault()));
  } catch (const std::bad_alloc&) {
    const std::string advice =
        "lower train.batch or data.length, or set train.recompute=true or model.reversible=true";
    return fail("out of memory; " + advice, {"out of memory", advice}, 1);
  } catch (const std::exception& error) {
    return fail(error.what(), {error.what()}, 1);
  }
}
