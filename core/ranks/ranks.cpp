#include "core/ranks/ranks.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "core/counters.h"
#include "core/error.h"

namespace weft::core {
namespace {

/// The number in a variable of the environment, or `otherwise`.
Index number_in(const char* variable, Index otherwise) {
  const char* text = std::getenv(variable);
  if (!text) return otherwise;
  Index number = otherwise;
  std::from_chars(text, text + std::strlen(text), number);
  return number;
}

bool is_set(const char* variable) { return std::getenv(variable) != nullptr; }

std::unique_ptr<Ranks>& joined() {
  static std::unique_ptr<Ranks> all = std::make_unique<OneRank>();
  return all;
}

}  // namespace

std::unique_ptr<Transfer> Ranks::begin(std::vector<Outgoing> out, std::vector<Incoming> in,
                                       int channel) {
  for (const Outgoing& message : out) {
    require(message.to >= 0 && message.to < count() && message.to != rank(), "ranks: rank ", rank(),
            " of ", count(), " sends to ", message.to);
    counters().sent_bytes += Index(message.bytes.size());
    ++counters().messages;
  }
  for (const Incoming& message : in)
    require(message.from >= 0 && message.from < count() && message.from != rank(), "ranks: rank ",
            rank(), " of ", count(), " receives from ", message.from);
  return start(std::move(out), std::move(in), channel);
}

void Ranks::exchange(std::vector<Outgoing> out, std::vector<Incoming> in, int channel) {
  begin(std::move(out), std::move(in), channel)->wait();
}

std::unique_ptr<Transfer> OneRank::start(std::vector<Outgoing>, std::vector<Incoming>, int) {
  struct Nothing final : Transfer {
    bool done() const override { return true; }
    void wait() override {}
  };
  return std::make_unique<Nothing>();
}

Ranks& one_rank() {
  static OneRank alone;
  return alone;
}

Ranks& ranks() { return *joined(); }

Launch launch_environment() {
  Launch launch;
  launch.by_mpi = is_set("OMPI_COMM_WORLD_SIZE") || is_set("PMIX_RANK") || is_set("PMI_SIZE");
  // srun says how many tasks a step has; mpirun inside an allocation knows better.
  launch.count = number_in("SLURM_STEP_NUM_TASKS", 1);
  launch.count = number_in("PMI_SIZE", launch.count);
  launch.count = number_in("OMPI_COMM_WORLD_SIZE", launch.count);
  launch.rank = number_in("SLURM_PROCID", 0);
  launch.rank = number_in("PMIX_RANK", launch.rank);
  launch.rank = number_in("PMI_RANK", launch.rank);
  launch.rank = number_in("OMPI_COMM_WORLD_RANK", launch.rank);
  if (launch.count <= 1) launch.rank = 0;
  return launch;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown host";
}

void start_ranks() {
  const Launch launch = launch_environment();
  // One process alone needs no MPI, whose start takes longer than that of all else.
  if (launch.count == 1) return;
  std::unique_ptr<Ranks> started = launch.by_mpi ? start_mpi() : nullptr;
  const Index found = started ? started->count() : 1;
  if (found != launch.count) {
    const bool has_mpi = !launch.by_mpi || started;
    throw Error(
        Fault::usage,
        message_of("started ", launch.count, " times, but MPI ",
                   has_mpi ? message_of("sees ", found, found == 1 ? " process" : " processes")
                           : std::string("is not part of this weft"),
                   ": each would train by itself"),
        has_mpi ? "Start it with the mpirun of the MPI that weft was built with (Open MPI of "
                  "Debian: mpirun.openmpi), or with srun --mpi=pmix"
                : "Install libopenmpi-dev and build weft again (WEFT_MPI=ON), or start one "
                  "process");
  }
  if (found > 1) joined() = std::move(started);
}

void end_ranks() { joined() = std::make_unique<OneRank>(); }

}  // namespace weft::core
