#include "layers/output/token_scores.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/arrays/gemm.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::layers {

using core::Index;
using core::Real;

std::vector<float> mean_steps(const std::vector<float>& steps, Index batch) {
  std::vector<float> means;
  if (steps.empty()) return means;
  const auto each = std::ptrdiff_t(steps.size()) / batch;
  for (auto own = steps.begin(); own != steps.end(); own += each) {
    const auto real = each - std::count(own, own + each, 0.0F);
    means.push_back(std::accumulate(own, own + each, 0.0F) / float(std::max<Index>(1, real)));
  }
  return means;
}

TokenScores score_tokens(const core::Tensor& h, const core::Tensor& table,
                         const core::Tokens& targets, const core::Tensor* bias) {
  const Index rows = h.shape().rows(), width = h.shape().back(), vocabulary = table.shape()[0];
  core::require(targets.size() == rows, "score_tokens: ", targets.size(), " targets for ", rows,
                " rows");
  core::require(table.shape()[1] == width, "score_tokens: h of shape ", h.shape(),
                " for a table of shape ", table.shape());
  core::require(!bias || bias->size() == vocabulary, "score_tokens: a bias of ",
                bias ? bias->size() : 0, " for a table of shape ", table.shape());
  const auto wanted = targets.read();
  for (const core::Token t : wanted)
    core::require(t == core::no_target || (t >= 0 && t < vocabulary), "score_tokens: target ", t,
                  " is outside the vocabulary of ", vocabulary);
  std::vector<float> nats(static_cast<std::size_t>(rows), 0);
  std::vector<char> correct(static_cast<std::size_t>(rows), 0);  // bytes: written from many threads
  const Index piece = std::clamp<Index>((1 << 18) / vocabulary, 16, 1024);
  core::parallel_for(rows, piece, [&](Index begin, Index end) {
    core::Tensor logits({end - begin, vocabulary});
    Real* z = logits.write().data();
    core::gemm(1, core::ConstMatrix{h.data() + begin * width, end - begin, width, width},
               core::transposed({table.data(), vocabulary, width, width}), 0,
               {z, end - begin, vocabulary, vocabulary});
    for (Index r = begin; r < end; ++r, z += vocabulary) {
      const core::Token target = wanted[std::size_t(r)];
      if (target == core::no_target) continue;
      if (bias)
        for (Index v = 0; v < vocabulary; ++v) z[v] += bias->data()[v];
      const Real top = core::simd().max(z, vocabulary), chosen = z[target];
      correct[std::size_t(r)] = chosen == top;
      const Real total = core::simd().exp_sum(z, 1, top, vocabulary);
      nats[std::size_t(r)] = float(std::log(double(total)) + double(top) - double(chosen));
    }
  });
  return {std::move(nats), std::vector<bool>(correct.begin(), correct.end())};
}

}  // namespace weft::layers
