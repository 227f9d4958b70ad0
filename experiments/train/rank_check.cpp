#include "experiments/train/rank_check.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "core/arrays/float_products.h"
#include "core/arrays/gemm.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/ranks/collectives.h"
#include "core/simd/kernels.h"
#include "experiments/run/build_facts.h"

namespace weft::experiments {
namespace {

/// Something that ranks must have in common, and what to do where they do not.
struct Trait {
  const char* name;
  std::string own;
  std::string advice;
};

/// Of two sets of instructions the one that both machines have.
std::string common_isa(const std::vector<std::string>& all) {
  for (const char* isa : {"baseline", "avx2"})
    if (std::ranges::find(all, isa) != all.end()) return isa;
  return all.front();
}

/// How many ranks run on the machine of this one.
Index ranks_here(core::Ranks& ranks) {
  const std::vector<std::string> hosts = core::gather(ranks, core::host_name());
  return Index(std::ranges::count(hosts, hosts[std::size_t(ranks.rank())]));
}

/// The processors that a process may use; 0: itself.
Index processors_of(pid_t process) {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(process, sizeof set, &set) == 0 ? Index(CPU_COUNT(&set)) : 0;
}

}  // namespace

void require_equal_ranks(core::Ranks& ranks, const RunConfig& config,
                         const data::Dataset& dataset) {
  if (ranks.alone()) return;
  const std::vector<std::string> hosts = core::gather(ranks, core::host_name());
  const auto isas = core::gather(ranks, core::simd().isa);
  const auto cores = core::gather(ranks, core::blas_core());
  const std::array<Trait, 7> traits{
      Trait{"version", version() + " " + commit(), "start the same weft everywhere"},
      {"settings", config.identity(), "give all of them the same config"},
      {"data", dataset.fingerprint(), "give all machines the same files"},
      {"instruction set", core::simd().isa, "set WEFT_ISA=" + common_isa(isas) + " on all of them"},
      {"BLAS core", core::blas_core(),
       "set OPENBLAS_CORETYPE to one core that all have, such as " +
           *std::ranges::min_element(cores)},
      {"products", core::float_products(), "set WEFT_PRODUCTS=openblas on all of them"},
      {"bf16 library", core::bf16_library(), "install the same oneDNN everywhere"}};
  for (const Trait& trait : traits) {
    const std::vector<std::string> all = core::gather(ranks, trait.own);
    for (std::size_t r = 1; r < all.size(); ++r)
      if (all[r] != all[0])
        throw core::EndedTogether(
            {core::Fault::usage,
             core::message_of("rank ", r, " on ", hosts[r], " differs from rank 0 on ", hosts[0],
                              " in ", trait.name, ": ", all[r], " and ", all[0],
                              ", so that their bits would"),
             "To share a run, " + trait.advice},
            ranks.is_first());
  }
}

Index threads_of_rank(core::Ranks& ranks, Index configured) {
  if (ranks.alone() || configured > 0) return configured;
  const Index here = ranks_here(ranks);
  core::set_threads(0);
  const Index visible = core::threads(), online = Index(::sysconf(_SC_NPROCESSORS_ONLN));
  return visible < online ? visible : std::max<Index>(1, visible / here);
}

// mpirun starts a machine's ranks from a process of its own, which it does not bind.
std::string warn_of_binding(core::Ranks& ranks, Index configured) {
  if (ranks.alone()) return {};
  const Index here = ranks_here(ranks), bound_to = processors_of(0), all = processors_of(getppid());
  const Index wanted = configured > 0 ? configured : all / here;
  std::string own;
  if (bound_to > 0 && bound_to < all && bound_to < wanted)
    own = core::message_of(
        "rank ", ranks.rank(), " on ", core::host_name(), " is bound to ", bound_to, " of ", all,
        " processors, but ", configured > 0 ? "has " : "could use ", wanted,
        configured > 0 ? " threads" : "", ": start with mpirun --bind-to none or srun -c ", wanted);
  for (const std::string& text : core::gather(ranks, own))
    if (!text.empty()) return text;
  return {};
}

}  // namespace weft::experiments
