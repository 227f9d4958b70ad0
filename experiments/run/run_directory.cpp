#include "experiments/run/run_directory.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/files/durable_file.h"

namespace weft::experiments {
namespace {

namespace fs = std::filesystem;

/// Empty, but for what a start that was killed may have left.
bool is_unused(const fs::path& directory) {
  if (!fs::exists(directory)) return true;
  return fs::is_directory(directory) &&
         std::ranges::all_of(
             fs::directory_iterator(directory), [](const fs::directory_entry& item) {
               const std::string name = item.path().filename();
               return DirectoryLock::is_own_file(name) || name.ends_with(core::temporary_ending);
             });
}

[[noreturn]] void cannot_use(const fs::path& directory, const std::string& why) {
  throw core::Error(core::message_of("cannot use ", directory.string(), " as a run directory: ",
                                     why, "; or choose another one with --run DIR"));
}

/// Locks the directory for this process.
DirectoryLock lock(const fs::path& directory) {
  std::string holder;
  try {
    if (auto taken = DirectoryLock::take(directory, holder)) return std::move(*taken);
  } catch (const core::Error& error) {
    cannot_use(directory, error.what());
  }
  cannot_use(directory,
             "another process is training there (" + holder + "): wait for it or stop it first");
}

void check_start(const fs::path& directory, RunStart start, const std::string& command) {
  const bool run = holds_run(directory);
  const RunFiles files{directory};
  core::require(run || start != RunStart::resume, "no run to resume at ", directory.string(),
                "; begin one with:  ", command);
  if (!run && !is_unused(directory))
    cannot_use(directory, "it holds other files than a run of weft: empty it");
  for (const fs::path& file :
       {files.status(), files.metrics(), files.environment(), files.config(), files.log()})
    if (fs::exists(file) && !fs::is_regular_file(file))
      cannot_use(directory, file.filename().string() + " there is no file");
  if (start != RunStart::resume && run && !is_marked_as_run(directory))
    cannot_use(directory,
               "its status.json is lost or damaged, but it holds checkpoints: continue that run "
               "with --resume, or move it away");
}

/// Files left by killed writers: this process is now the only one.
void remove_temporary_files(const fs::path& directory) {
  std::error_code ignored;
  for (const auto& item : fs::directory_iterator(directory, ignored))
    if (item.path().native().ends_with(core::temporary_ending)) fs::remove(item.path(), ignored);
}

}  // namespace

void delete_run(const RunFiles& files) {
  for (const fs::path& path :
       {files.checkpoints(), files.samples(), files.tensorboard(), files.metrics(),
        files.environment(), files.config(), files.log(), files.status()})
    fs::remove_all(path);
}

RunDirectory RunDirectory::open(const fs::path& directory, RunStart start,
                                const std::string& command, const std::string& init_from) {
  try {
    check_start(directory, start, command);
    fs::create_directories(directory);
    RunDirectory run({directory}, lock(directory));
    check_start(directory, start, command);  // nobody else can change it any more
    const bool exists = holds_run(directory);
    if (exists && start == RunStart::anew) {
      const RunStatus status = read_status(run.files_);
      // Nobody else holds the directory: what says that it runs was killed.
      const std::string state = status.state == "running" ? "killed" : status.state;
      throw core::Error(
          core::message_of(directory.string(), " already holds this run (", state, ", step ",
                           status.step, ")\n  continue it:              ", command,
                           " --resume\n  delete it and start over: ", command, " --fresh"));
    }
    if (exists && start == RunStart::fresh) delete_run(run.files_);
    if (start != RunStart::resume)
      write_status(run.files_, {.state = "running", .init_from = init_from});
    remove_temporary_files(directory);
    fs::create_directories(run.files_.samples());
    fs::create_directories(run.files_.checkpoints());
    return run;
  } catch (const fs::filesystem_error& error) {
    cannot_use(directory, core::explain_errno(error.code().value()));
  }
}

}  // namespace weft::experiments
