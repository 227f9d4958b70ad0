#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string_view>
#include <system_error>

#include "core/arrays/gemm.h"
#include "core/error.h"
#include "core/files/durable_file.h"
#include "core/out_of_memory.h"
#include "core/ranks/ranks.h"
#include "experiments/commands/commands.h"
#include "experiments/hold/outside_program.h"
#include "experiments/run/build_facts.h"
#include "experiments/run/failure.h"

namespace {

using namespace weft;

/// OpenBLAS chooses its kernels, and begins threads that weft does not use, before main begins;
/// where it chose badly, the program starts over with a better choice in the environment. Where
/// memory is short such a thread asks for a buffer for ever, and the process could not end.
void restart_with_better_blas(char** argv) {
  const char* const threads = std::getenv("OPENBLAS_NUM_THREADS");
  const bool alone = threads && std::string_view(threads) == "1";
  const std::string better = std::getenv("OPENBLAS_CORETYPE") ? "" : core::better_blas_core();
  if (alone && better.empty()) return;
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  if (!better.empty()) {
    setenv("OPENBLAS_CORETYPE", better.c_str(), 1);
    setenv(experiments::own_blas_variable, "1", 1);
  }
  execv("/proc/self/exe", argv);
}

/// Whether the command multiplies no matrices, so that any BLAS is good enough for it.
bool needs_no_blas(int argc, char** argv) {
  static constexpr std::string_view commands[] = {"--version", "--help",     "help", "list",
                                                  "config",    "completion", "runs", "ckpt"};
  return argc < 2 || std::ranges::find(commands, std::string_view(argv[1])) != std::end(commands);
}

/// Ends without the threads of OpenBLAS, for one of which memory may be too short to end.
[[noreturn]] void end_at_once(int code) {
  std::cout.flush();
  std::fflush(nullptr);
  std::_Exit(code);
}

constexpr int memory_code = 6;

/// A stream that is closed must not become the first file that is opened. One for output fails at
/// every write.
void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF)
      if (::open("/dev/null", O_RDONLY) < 0) std::_Exit(1);
}

/// Who started weft may have ignored the ends of its children, which children inherit; then nobody
/// could wait for the trials of a sweep.
void wait_for_own_children() { ::signal(SIGCHLD, SIG_DFL); }

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
  out << "weft " << experiments::version()
      << ": trains and compares long-sequence Transformers on CPUs\n\n";
  for (const experiments::Command& command : experiments::all_commands())
    out << "  weft " << command.name << std::string(15 - command.name.size(), ' ')
        << command.summary << '\n';
  out << "\nweft help VERB says more; weft config --keys lists every setting.\n";
}

/// Takes what is printed, for ranks other than the first.
class Silence final : public std::streambuf {
  int overflow(int character) override { return traits_type::not_eof(character); }
  std::streamsize xsputn(const char*, std::streamsize count) override { return count; }
};

/// Joins the other processes of a run, if any and if the command is one for several; the first of
/// them has the terminal.
void join_ranks(const std::vector<std::string>& words) {
  static Silence silence;
  if (core::launch_environment().rank > 0) std::cout.rdbuf(&silence);
  if (!experiments::is_shared(experiments::all_commands(), words)) return;
  core::start_ranks();
  core::ranks().on_silence([](core::Index from, std::chrono::seconds for_how_long) {
    if (core::ranks().is_first())
      std::cerr << "rank " << from << " has sent nothing for " << for_how_long.count()
                << " s: is it at work, or gone?\n";
  });
}

int run(const std::vector<std::string>& words) {
  if (words.size() > 1 && words[0] == "help")
    return experiments::help_command({words.begin() + 1, words.end()});
  if (words.empty() || words[0] == "--help" || words[0] == "help") {
    print_usage(words.empty() ? std::cerr : std::cout);
    return words.empty() ? 2 : 0;
  }
  if (words[0] == "--version") {
    std::cout << "weft " << experiments::version() << "\ncommit " << experiments::commit() << ", "
              << experiments::compiler() << '\n';
    return 0;
  }
  return experiments::run_command("weft", experiments::all_commands(), words);
}

/// "rank 3 on HOST: ", or nothing for the first and for one alone.
std::string who_fails() {
  if (core::ranks().is_first()) return "";
  return core::message_of("rank ", core::ranks().rank(), " on ", core::host_name(), ": ");
}

/// Prints what went wrong, and records it for a process that asked for it. The other ranks of a run
/// wait for this one and end with it.
int fail(const std::string& message, const experiments::Failure& failure, int code) {
  // Where no launcher's processes could be joined, each of them is here, and the first one speaks.
  if (core::ranks().alone() && core::launch_environment().rank > 0) return code;
  std::cerr << who_fails() + "error: " + message + '\n' << std::flush;
  experiments::record_failure(failure);
  if (!core::ranks().alone()) core::ranks().end_all(code);
  return code;
}

/// The same where all ranks end by themselves.
int fail_together(const core::EndedTogether& error) {
  if (error.reports()) {
    std::cerr << who_fails() + "error: " + error.what() + '\n' << std::flush;
    experiments::record_failure({error.reason(), error.advice()});
  }
  return exit_code(error.fault());
}

/// Results that could not be printed are no success.
void check_output_arrived() {
  errno = 0;
  std::cout.flush();
  const bool arrived = std::cout.good() && std::fflush(stdout) == 0 && !std::ferror(stdout);
  if (arrived) return;
  throw core::Error(core::Fault::output,
                    "cannot write to standard output, what it shows is incomplete: " +
                        (errno ? core::explain_errno(errno) : std::string("a write failed")));
}

int run_and_explain(const std::vector<std::string>& words) {
  namespace fs = std::filesystem;
  try {
    join_ranks(words);
    const int code = run(words);
    if (code == 0) check_output_arrived();
    return code;
  } catch (const core::EndedTogether& error) {
    return fail_together(error);
  } catch (const core::Error& error) {
    return fail(error.what(), {error.reason(), error.advice()}, exit_code(error.fault()));
  } catch (const core::OutOfMemory& error) {
    return fail(error.what(), {error.reason(), error.advice()}, memory_code);
  } catch (const fs::filesystem_error& error) {
    const std::string reason =
        "cannot use '" + error.path1().string() + "': " + core::explain_errno(error.code().value());
    return fail(reason, {reason}, exit_code(core::Fault::usage));
  } catch (const std::system_error& error) {
    const std::string reason =
        "out of memory or threads: " + core::explain_errno(error.code().value()) +
        ", or allow more address space (ulimit -v)";
    return fail(reason, {reason}, memory_code);
  } catch (const std::exception& error) {
    const bool memory = dynamic_cast<const std::bad_alloc*>(&error) ||
                        dynamic_cast<const std::length_error*>(&error);
    if (!memory) return fail(error.what(), {error.what()}, 1);
    const std::string advice =
        "lower train.batch or data.length, or set train.recompute=true or model.reversible=true";
    return fail("out of memory; " + advice, {"out of memory", advice}, memory_code);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = needs_no_blas(argc, argv);
  if (!quick) restart_with_better_blas(argv);
  occupy_closed_streams();
  wait_for_own_children();
  core::ignore_file_size_signal();
  const int code = run_and_explain({argv + 1, argv + argc});
  core::end_ranks();
  if (quick) end_at_once(code);
  return code;
}
