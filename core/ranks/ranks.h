#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/real.h"

namespace weft::core {

/// Bytes for, or from, one other rank.
struct Outgoing {
  Index to;
  std::span<const std::byte> bytes;
};
struct Incoming {
  Index from;
  std::span<std::byte> bytes;
};

/// Bytes on their way. They must stay where they are until it is done.
class Transfer {
 public:
  virtual ~Transfer() = default;
  virtual bool done() const = 0;
  virtual void wait() = 0;
};

inline constexpr int first_urgent_channel = 16;

/// The processes that train one model together, seen from one of them.
class Ranks {
 public:
  virtual ~Ranks() = default;

  virtual Index rank() const = 0;
  virtual Index count() const = 0;
  bool is_first() const { return rank() == 0; }
  bool alone() const { return count() == 1; }

  /// Begins to move bytes and returns at once. What one rank sends another on a channel arrives in
  /// the order in which it was begun, and both must name the same sizes; no rank sends to itself.
  /// Channel 0, and those from `first_urgent_channel` on, are for messages that a rank waits for.
  /// Transfers on the other channels must be begun in the same order everywhere; a few of them move
  /// at a time, and urgent messages pass between them.
  std::unique_ptr<Transfer> begin(std::vector<Outgoing> out, std::vector<Incoming> in,
                                  int channel = 0);
  /// The same, and waits.
  void exchange(std::vector<Outgoing> out, std::vector<Incoming> in, int channel = 0);

  /// Ends the run of all ranks with this exit code, also of those that wait for others. Of a run
  /// of one, that is left to the caller.
  virtual void end_all(int code) = 0;
  /// Called with the number of a rank whose message has not come, and for how long it is awaited,
  /// after a minute (WEFT_SILENCE_SECONDS) and every minute after that.
  virtual void on_silence(std::function<void(Index from, std::chrono::seconds for_how_long)>) {}

 protected:
  virtual std::unique_ptr<Transfer> start(std::vector<Outgoing> out, std::vector<Incoming> in,
                                          int channel) = 0;
};

/// Thrown by all ranks where all end for one reason, which one of them reports.
class EndedTogether : public Error {
 public:
  EndedTogether(const Error& why, bool reports) : Error(why), reports_(reports) {}
  bool reports() const { return reports_; }

 private:
  bool reports_;
};

/// A run in one process.
class OneRank final : public Ranks {
 public:
  Index rank() const override { return 0; }
  Index count() const override { return 1; }
  void end_all(int) override {}

 protected:
  std::unique_ptr<Transfer> start(std::vector<Outgoing> out, std::vector<Incoming> in,
                                  int channel) override;
};

/// For work that a process does by itself, even if there are others.
Ranks& one_rank();
/// The ranks of this process: one, until a program calls `start_ranks` under a launcher.
Ranks& ranks();

/// The environment variables of a launcher.
struct Launch {
  Index rank = 0, count = 1;
  bool by_mpi = false;  ///< a launcher of MPI, to whose processes MPI may be started
};
Launch launch_environment();

/// The name of this machine.
std::string host_name();

/// Joins the ranks that a launcher started this process with. Throws a usage error where there are
/// several processes that MPI does not connect: each would train alone.
void start_ranks();
/// Leaves them, before the process ends.
void end_ranks();

/// MPI's ranks; null where weft was built without MPI.
std::unique_ptr<Ranks> start_mpi();

}  // namespace weft::core
