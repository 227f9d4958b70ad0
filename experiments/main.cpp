#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "core/arrays/gemm.h"
#include "core/error.h"
#include "core/files/durable_file.h"
#include "experiments/commands/commands.h"

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
  for (const experiments::Command& command : experiments::all_commands())
    if (command.name == words[0]) return command.run({words.begin() + 1, words.end()});
  throw core::Error("there is no verb \"" + words[0] + "\"; weft --help lists them");
}

}  // namespace

int main(int argc, char** argv) {
  restart_with_better_blas(argv);
  core::ignore_file_size_signal();
  try {
    return run({argv + 1, argv + argc});
  } catch (const core::Error& error) {
    std::cerr << "error: " << error.what() << '\n';
    return exit_code(error.fault());
  } catch (const std::bad_alloc&) {
    std::cerr << "error: out of memory; lower train.batch or data.length, or set "
                 "train.recompute=true or model.reversible=true\n";
    return 1;
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
}
