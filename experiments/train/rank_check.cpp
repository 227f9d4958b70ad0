#include "experiments/train/rank_check.h"

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
  const std::vector<std::string> hosts = core::gather(ranks, core::host_name());
  const auto here = Index(std::ranges::count(hosts, hosts[std::size_t(ranks.rank())]));
  core::set_threads(0);
  const Index visible = core::threads(), online = Index(::sysconf(_SC_NPROCESSORS_ONLN));
  return visible < online ? visible : std::max<Index>(1, visible / here);
}

}  // namespace weft::experiments
