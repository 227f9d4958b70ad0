#include "core/ranks/ranks.h"

#ifdef WEFT_HAS_MPI

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "core/counters.h"
#include "core/error.h"

namespace weft::core {
namespace {

using Clock = std::chrono::steady_clock;

/// After what time a message that has not come is reported: WEFT_SILENCE_SECONDS, or a minute.
std::chrono::seconds longest_silence() {
  const char* given = std::getenv("WEFT_SILENCE_SECONDS");
  const int seconds = given ? std::atoi(given) : 0;
  return std::chrono::seconds(seconds > 0 ? seconds : 60);
}
/// How long the thread is waited for when it is to end all processes.
constexpr auto patience_at_end = std::chrono::seconds(10);
/// How many transfers that nobody waits for yet move at a time: enough to keep a cable busy, and
/// few enough for a short message to pass.
constexpr std::ptrdiff_t most_at_a_time = 2;
bool is_patient(int channel) { return channel != 0 && channel < first_urgent_channel; }
/// MPI counts in int; longer messages go in pieces.
constexpr std::size_t longest_message = std::size_t(1) << 30;

/// What the thread that talks to MPI and those who wait for it share.
struct Mail {
  std::mutex mutex;
  std::condition_variable changed;
};

struct MpiTransfer final : Transfer {
  MpiTransfer(std::shared_ptr<Mail> shared) : mail(std::move(shared)) {}

  bool done() const override {
    const std::lock_guard lock(mail->mutex);
    return ended;
  }
  void wait() override {
    std::unique_lock lock(mail->mutex);
    if (ended) return;
    const auto start = Clock::now();
    mail->changed.wait(lock, [this] { return ended; });
    ++counters().waits;
    counters().waited_us +=
        std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count();
  }

  std::shared_ptr<Mail> mail;
  bool ended = false;  ///< guarded by the mail's mutex
};

/// A transfer's requests, which only the thread touches.
struct Work {
  std::shared_ptr<MpiTransfer> transfer;
  std::vector<Outgoing> out;
  std::vector<Incoming> in;
  int channel;
  std::vector<MPI_Request> requests = {};
  std::vector<Index> senders = {};  ///< of the first requests, which receive
  Clock::time_point posted = {};

  void post() {
    for (const Incoming& message : in)
      for (std::size_t at = 0; at < message.bytes.size(); at += longest_message) {
        const std::size_t size = std::min(longest_message, message.bytes.size() - at);
        MPI_Irecv(message.bytes.data() + at, int(size), MPI_BYTE, int(message.from), channel,
                  MPI_COMM_WORLD, &requests.emplace_back());
        senders.push_back(message.from);
      }
    for (const Outgoing& message : out)
      for (std::size_t at = 0; at < message.bytes.size(); at += longest_message) {
        const std::size_t size = std::min(longest_message, message.bytes.size() - at);
        MPI_Isend(message.bytes.data() + at, int(size), MPI_BYTE, int(message.to), channel,
                  MPI_COMM_WORLD, &requests.emplace_back());
      }
    posted = Clock::now();
  }

  bool test() {
    int all = 0;
    MPI_Testall(int(requests.size()), requests.data(), &all, MPI_STATUSES_IGNORE);
    return all != 0;
  }

  /// The sender of a message that has not come; -1 where all have.
  Index missing() {
    for (std::size_t i = 0; i < senders.size(); ++i) {
      int come = 0;
      MPI_Request_get_status(requests[i], &come, MPI_STATUS_IGNORE);
      if (!come) return senders[i];
    }
    return -1;
  }
};

/// A transfer that its owner may drop: the thread still holds the requests.
struct Handle final : Transfer {
  explicit Handle(std::shared_ptr<MpiTransfer> shared) : transfer(std::move(shared)) {}
  ~Handle() override { transfer->wait(); }
  bool done() const override { return transfer->done(); }
  void wait() override { transfer->wait(); }
  std::shared_ptr<MpiTransfer> transfer;
};

/// One thread makes every call of MPI after the start: it posts what is begun, asks whether it has
/// come, and sleeps in between, so that the threads that compute keep the cores. (A thread inside
/// MPI_Waitall would take one for itself, and without a thread nothing moves until someone waits.)
class MpiRanks final : public Ranks {
 public:
  MpiRanks() {
    int granted = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &granted);
    require(granted >= MPI_THREAD_SERIALIZED,
            "MPI grants its calls to the first thread only; weft needs MPI_THREAD_SERIALIZED");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
    if (count_ > 1) start_thread();
  }

  ~MpiRanks() override {
    if (thread_.joinable()) {
      {
        const std::lock_guard lock(mail_->mutex);
        ending_ = true;
        mail_->changed.notify_all();
      }
      thread_.join();
    }
    MPI_Finalize();
  }

  Index rank() const override { return rank_; }
  Index count() const override { return count_; }

  void end_all(int code) override {
    std::unique_lock lock(mail_->mutex);
    abort_code_ = code;
    mail_->changed.notify_all();
    // The thread does it, and this process ends. Where the thread hangs, it can only be done from
    // here.
    mail_->changed.wait_for(lock, patience_at_end, [] { return false; });
    MPI_Abort(MPI_COMM_WORLD, code);
  }

  void on_silence(std::function<void(Index, std::chrono::seconds)> report) override {
    const std::lock_guard lock(mail_->mutex);
    report_ = std::move(report);
  }

 protected:
  std::unique_ptr<Transfer> start(std::vector<Outgoing> out, std::vector<Incoming> in,
                                  int channel) override {
    auto transfer = std::make_shared<MpiTransfer>(mail_);
    const std::lock_guard lock(mail_->mutex);
    begun_.push_back({transfer, std::move(out), std::move(in), channel});
    mail_->changed.notify_all();
    return std::make_unique<Handle>(std::move(transfer));
  }

 private:
  /// Signals are for the thread that trains.
  void start_thread() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { work(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  /// Takes over what was begun; sleeps while there is nothing to do.  -> false: it is over
  bool take_begun() {
    std::unique_lock lock(mail_->mutex);
    if (under_way_.empty() && patient_.empty())
      mail_->changed.wait(lock, [this] { return ending_ || abort_code_ || !begun_.empty(); });
    if (abort_code_) {
      lock.unlock();
      MPI_Abort(MPI_COMM_WORLD, *abort_code_);
    }
    while (!begun_.empty()) {
      (is_patient(begun_.front().channel) ? patient_ : urgent_)
          .push_back(std::move(begun_.front()));
      begun_.pop_front();
    }
    return !(ending_ && urgent_.empty() && patient_.empty() && under_way_.empty());
  }

  void post(std::deque<Work>& queue) {
    queue.front().post();
    under_way_.push_back(std::move(queue.front()));
    queue.pop_front();
  }

  bool post_some() {
    const std::size_t before = under_way_.size();
    for (auto moving = std::ranges::count_if(under_way_, is_patient, &Work::channel);
         moving < most_at_a_time && !patient_.empty(); ++moving)
      post(patient_);
    while (!urgent_.empty()) post(urgent_);
    return under_way_.size() > before;
  }

  void work() {
    int idle = 0;
    while (take_begun()) {
      const bool posted = post_some(), finished = finish_some();
      idle = finished || posted ? 0 : idle + 1;
      if (idle == 0) continue;
      report_silence();
      // The first answers come at once or not soon.
      std::this_thread::sleep_for(std::chrono::microseconds(idle < 20 ? 5 : 100));
    }
  }

  bool finish_some() {
    const auto ended = [](Work& work) {
      if (!work.test()) return false;
      const std::lock_guard lock(work.transfer->mail->mutex);
      work.transfer->ended = true;
      work.transfer->mail->changed.notify_all();
      return true;
    };
    return std::erase_if(under_way_, ended) > 0;
  }

  /// A rank from which several messages are missing is named once in that time.
  void report_silence() {
    const Clock::time_point now = Clock::now();
    if (now - reported_ < silence_) return;
    std::vector<Index> named;
    for (Work& work : under_way_) {  // the oldest first
      if (now - work.posted < silence_) continue;
      const Index from = work.missing();
      if (from < 0 || std::ranges::find(named, from) != named.end()) continue;
      named.push_back(from);
      reported_ = now;
      const std::lock_guard lock(mail_->mutex);
      if (report_)
        report_(from, std::chrono::duration_cast<std::chrono::seconds>(now - work.posted));
    }
  }

  int rank_ = 0, count_ = 1;
  std::shared_ptr<Mail> mail_ = std::make_shared<Mail>();
  std::deque<Work> begun_;                                   ///< guarded by the mail's mutex
  bool ending_ = false;                                      ///< the same
  std::optional<int> abort_code_;                            ///< the same
  std::function<void(Index, std::chrono::seconds)> report_;  ///< the same
  const std::chrono::seconds silence_ = longest_silence();
  Clock::time_point reported_ = {};    ///< the thread's own
  std::deque<Work> urgent_, patient_;  ///< the thread's own, not yet posted
  std::vector<Work> under_way_;        ///< the thread's own
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Ranks> start_mpi() { return std::make_unique<MpiRanks>(); }

}  // namespace weft::core

#else

namespace weft::core {

std::unique_ptr<Ranks> start_mpi() { return nullptr; }

}  // namespace weft::core

#endif
