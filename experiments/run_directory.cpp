#include "experiments/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/durable_file.h"
#include "core/error.h"

namespace weft::experiments {
namespace {

namespace fs = std::filesystem;

constexpr const char* lock_name = "lock";

/// Empty, but for what a start that was killed may have left.
bool is_unused(const fs::path& directory) {
  if (!fs::exists(directory)) return true;
  return fs::is_directory(directory) &&
         std::ranges::all_of(fs::directory_iterator(directory),
                             [](const fs::directory_entry& item) {
                               const std::string name = item.path().filename();
                               return name == lock_name || name.ends_with(core::temporary_ending);
                             });
}

[[noreturn]] void cannot_use(const fs::path& directory, const std::string& why) {
  throw core::Error(core::message_of("cannot use ", directory.string(), " as a run directory: ",
                                     why, "; or choose another one with --run DIR"));
}

/// Locks the directory for this process: the descriptor that holds the lock.
int lock(const fs::path& directory) {
  const fs::path path = directory / lock_name;
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) cannot_use(directory, core::explain_errno(errno));
  if (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(file);
    const std::string holder = core::read_text_file(path);
    cannot_use(directory,
               "another process is training there (" + holder + "): wait for it or stop it first");
  }
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  const std::string holder = core::message_of("process ", ::getpid(), " on ", host);
  if (::ftruncate(file, 0) == 0) core::write_fully(file, std::as_bytes(std::span(holder)));
  return file;
}

void check_start(const fs::path& directory, RunStart start, const std::string& command) {
  const bool run = holds_run(directory);
  core::require(run || start != RunStart::resume, "no run to resume at ", directory.string(),
                "; begin one with:  ", command);
  if (!run && !is_unused(directory))
    cannot_use(directory, "it holds other files than a run of weft: empty it");
}

/// What weft wrote goes; the mark of a run goes last, so that a killed deletion can be repeated.
void delete_run(const RunFiles& files) {
  for (const fs::path& path : {files.checkpoints(), files.samples(), files.metrics(), files.log(),
                               files.environment(), files.config(), files.status()})
    fs::remove_all(path);
}

}  // namespace

RunDirectory RunDirectory::open(const fs::path& directory, RunStart start,
                                const std::string& command) {
  try {
    check_start(directory, start, command);
    fs::create_directories(directory);
    RunDirectory run({directory}, lock(directory));
    check_start(directory, start, command);  // nobody else can change it any more
    const bool exists = holds_run(directory);
    if (exists && start == RunStart::anew) {
      const RunStatus status = read_status(run.files_);
      throw core::Error(
          core::message_of(directory.string(), " already holds this run (", status.state, ", step ",
                           status.step, ")\n  continue it:              ", command,
                           " --resume\n  delete it and start over: ", command, " --fresh"));
    }
    if (exists && start == RunStart::fresh) delete_run(run.files_);
    if (start != RunStart::resume) write_status(run.files_, {.state = "running"});
    fs::create_directories(run.files_.samples());
    fs::create_directories(run.files_.checkpoints());
    return run;
  } catch (const fs::filesystem_error& error) {
    cannot_use(directory, core::explain_errno(error.code().value()));
  }
}

RunDirectory::RunDirectory(RunDirectory&& other) noexcept
    : files_(std::move(other.files_)), lock_(std::exchange(other.lock_, -1)) {}

RunDirectory::~RunDirectory() {
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace weft::experiments
