#include "data/prefetch.h"

#include <pthread.h>
#include <signal.h>

#include "core/error.h"

namespace weft::data {
namespace {

/// Blocks every signal in this thread for as long as it lives; a thread begun meanwhile keeps them
/// blocked, so that signals reach the threads that expect them.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

Prefetch::Prefetch(const Dataset& dataset, Index first_number, Index depth,
                   std::optional<core::Stretch> rows)
    : dataset_(dataset),
      depth_(std::size_t(depth)),
      rows_(rows.value_or(core::Stretch{0, dataset.batch()})) {
  core::require(depth >= 1, "prefetch: the depth must be at least 1, got ", depth);
  const SignalsBlocked blocked;
  thread_ = std::jthread([this, first_number](std::stop_token stop) { work(stop, first_number); });
}

Batch Prefetch::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !ready_.empty() || failure_; });
  if (ready_.empty()) std::rethrow_exception(failure_);
  Batch batch = std::move(ready_.front());
  ready_.pop_front();
  changed_.notify_all();
  return batch;
}

void Prefetch::work(std::stop_token stop, Index number) {
  try {
    while (true) {
      {
        std::unique_lock lock(mutex_);
        if (!changed_.wait(lock, stop, [this] { return ready_.size() < depth_; })) return;
      }
      if (stop.stop_requested()) return;
      Batch batch = dataset_.training(number++, rows_);
      const std::lock_guard lock(mutex_);
      ready_.push_back(std::move(batch));
      changed_.notify_all();
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
    changed_.notify_all();
  }
}

}  // namespace weft::data
