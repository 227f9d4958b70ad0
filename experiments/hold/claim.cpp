#include "experiments/hold/claim.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "experiments/hold/slurm_queue.h"

namespace weft::experiments {
namespace {

namespace fs = std::filesystem;

constexpr auto between_signs = std::chrono::seconds(60);
constexpr std::time_t longest_silence = 600;
constexpr int most_tries = 100;

/// A claim as found: its file, and the time of its last sign of life.
struct Found {
  fs::path path;
  Holder holder;
  bool is_readable = true;
  std::time_t touched = 0;
};

/// Whether a file cannot be opened for reasons that say nothing of the file: too many open ones,
/// too little memory, a disk or server in trouble.
bool cannot_be_read_now(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  const int failed = file < 0 ? errno : 0;
  if (file >= 0) ::close(file);
  return failed == EMFILE || failed == ENFILE || failed == ENOMEM || failed == EIO ||
         failed == ESTALE;
}

/// Nothing when there is no such file. What is damaged still has a token, that of its name, so that
/// it can be taken over from; what only cannot be read now is an Error.
std::optional<Found> read_claim(const fs::path& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return std::nullopt;
  Found found{path, {}, true, about.st_mtime};
  std::optional<Holder> holder;
  try {
    holder = Holder::parse(core::read_text_file(path));
  } catch (const core::Error& error) {
    if (!fs::exists(path)) return std::nullopt;
    if (cannot_be_read_now(path)) throw core::Error(core::Fault::checkpoint, error.what());
  }
  found.is_readable = holder.has_value();
  found.holder =
      holder.value_or(Holder{.host = "an unknown host", .token = "of-" + path.filename().string()});
  return found;
}

fs::path successor_of(const fs::path& directory, const Holder& holder) {
  return directory / (std::string(Claim::file_name) + "-" + holder.token);
}

/// From the first claim to that of the holder.
std::vector<Found> chain_in(const fs::path& directory) {
  std::vector<Found> chain;
  for (auto next = read_claim(directory / Claim::file_name); next;
       next = read_claim(successor_of(directory, chain.back().holder)))
    chain.push_back(std::move(*next));
  return chain;
}

/// Whether the process has certainly ended.
bool has_ended(const Found& found, const Holder& own, bool lock_is_free) {
  if (!found.is_readable) return false;
  if (found.holder.is_on_machine_of(own)) return !found.holder.is_alive();
  return lock_is_free && found.holder.locked && found.holder.host == own.host;  // a restarted host
}

bool may_take_over(const Found& found, const Holder& own, std::time_t now) {
  if (has_ended(found, own, own.locked)) return true;
  const bool knows_end = found.is_readable && found.holder.is_on_machine_of(own);
  if (knows_end) return false;
  const Holder& holder = found.holder;
  if (!holder.job.empty() && holder.job == own.job && own.restarts > holder.restarts) return true;
  if (!holder.job.empty() && holder.job != own.job && slurm_has_forgotten(holder.job)) return true;
  return now - found.touched >= longest_silence;
}

/// The file of a claim before it is linked: open, under a name of its own.
struct Draft {
  fs::path path;
  int file = -1;

  Draft(const fs::path& directory, const Holder& own)
      : path(directory / ("draft-" + own.token + std::string(core::temporary_ending))) {}
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft() {
    ::unlink(path.c_str());
    if (file >= 0) ::close(file);
  }

  void write(const std::string& text) {
    if (file >= 0) ::close(file);
    while ((file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0 &&
           errno == EINTR)
      continue;
    core::require(file >= 0, core::explain_errno(errno));
    const int failed = core::write_fully(file, std::as_bytes(std::span(text)));
    core::require(failed == 0, core::explain_errno(failed));
    ::fsync(file);
  }

  /// 0, or an errno. A network file system may lose the reply to a link that it made: then the
  /// file's number of links shows.
  int link_to(const fs::path& name) const {
    if (::link(path.c_str(), name.c_str()) == 0) return 0;
    const int failed = errno;
    struct stat about {};
    return ::fstat(file, &about) == 0 && about.st_nlink > 1 ? 0 : failed;
  }

  /// By the file server's clock.
  std::time_t written() const {
    struct stat about {};
    return ::fstat(file, &about) == 0 ? about.st_mtime : 0;
  }
};

bool means_no_links(int error) {
  return error == EPERM || error == ENOSYS || error == EOPNOTSUPP || error == EMLINK;
}

}  // namespace

/// Renews the time of the claim's file once a minute.
struct Claim::SignOfLife {
  explicit SignOfLife(int opened)
      : file(opened), thread([this](const std::stop_token& end) { renew_until(end); }) {}
  ~SignOfLife() {
    thread.request_stop();
    thread.join();
    ::close(file);
  }
  void renew_until(const std::stop_token& end) {
    std::unique_lock lock(mutex);
    while (!end.stop_requested()) {
      wake.wait_for(lock, end, between_signs, [] { return false; });
      ::futimens(file, nullptr);
    }
  }

  const pid_t owner = ::getpid();
  int file;
  std::mutex mutex;
  std::condition_variable_any wake;
  std::jthread thread;
};

bool Claim::is_claim_file(const std::string& name) {
  return name == file_name || name.starts_with(std::string(file_name) + "-");
}

Claim::Outcome Claim::take(const fs::path& directory, const Holder& own,
                           std::optional<Claim>& claim, Holder& other) {
  Draft draft(directory, own);
  draft.write(own.json());
  for (int tries = 0; tries < most_tries; ++tries) {
    const std::vector<Found> chain = chain_in(directory);
    if (!chain.empty() && !may_take_over(chain.back(), own, draft.written())) {
      other = chain.back().holder;
      return Outcome::held;
    }
    const fs::path name =
        chain.empty() ? directory / file_name : successor_of(directory, chain.back().holder);
    const int refused = draft.link_to(name);
    if (means_no_links(refused)) return Outcome::without_links;
    if (refused == ENOENT) draft.write(own.json());  // a new holder tidied it away
    core::require(refused == 0 || refused == EEXIST || refused == ENOENT,
                  core::explain_errno(refused));
    if (refused != 0) continue;
    // The chain may have been given free while this link was made; then it leads nowhere.
    const std::vector<Found> now = chain_in(directory);
    if (!now.empty() && now.back().holder.token == own.token) {
      claim.emplace(Claim(directory, own.token, std::exchange(draft.file, -1)));
      return Outcome::taken;
    }
    ::unlink(name.c_str());
  }
  throw core::Error("other processes keep claiming and releasing it");
}

std::optional<Holder> Claim::find(const fs::path& directory, bool lock_is_free) {
  const std::vector<Found> chain = chain_in(directory);
  if (chain.empty()) return std::nullopt;
  const Holder own = Holder::own();
  const Found& last = chain.back();
  if (has_ended(last, own, lock_is_free)) return std::nullopt;
  const bool knows_life = last.is_readable && last.holder.is_on_machine_of(own);
  const bool is_silent = std::time(nullptr) - last.touched >= longest_silence;
  return is_silent && !knows_life ? std::nullopt : std::optional(last.holder);
}

Claim::Claim(fs::path directory, std::string token, int file)
    : directory_(std::move(directory)),
      token_(std::move(token)),
      sign_(std::make_unique<SignOfLife>(file)) {}

Claim::Claim(Claim&&) noexcept = default;

Claim::~Claim() {
  if (!sign_) return;
  if (sign_->owner != ::getpid()) {  // a fork of the holder, which has no such thread
    (void)sign_.release();
    return;
  }
  try {
    const std::vector<Found> chain = chain_in(directory_);
    if (chain.empty() || chain.back().holder.token != token_) return;
    for (const Found& found : chain) ::unlink(found.path.c_str());  // the first one gives it free
  } catch (const core::Error&) {
    // The claim stays, of a process that others see has ended.
  }
}

bool Claim::is_lost(std::string& to) const {
  const std::vector<Found> chain = chain_in(directory_);
  if (!chain.empty() && chain.back().holder.token == token_) return false;
  to = chain.empty() ? "nobody" : chain.back().holder.text();
  return true;
}

}  // namespace weft::experiments
