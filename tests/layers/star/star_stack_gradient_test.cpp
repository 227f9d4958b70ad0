#include "core/error.h"
#include "layers/star/relay_attention.h"
#include "layers/star/ring_attention.h"
#include "layers/star/star_stack.h"
#include "tests/gradient_check.h"
#include "tests/layers/drawn_weights.h"

namespace weft::layers::star_stack_gradient_test {
namespace {

using tests::check_gradient;
using tests::random_tensor;

Sequences padded(Index length, std::vector<Index> real) {
  Sequences sequences = Sequences::self(Index(real.size()), length, false);
  sequences.key_lengths = std::make_shared<const std::vector<Index>>(std::move(real));
  return sequences;
}

TEST(RingAttentionGradient, agrees_with_differences_in_every_ring_and_at_every_short_length) {
  for (const StarRing ring : {StarRing::open, StarRing::cyclic, StarRing::zero}) {
    SCOPED_TRACE(int(ring));
    const Sequences sequences = padded(6, {6, 1, 2, 3, 4});
    check_gradient("ring_attention",
                   [&](const Pass&, const std::vector<Var>& x) {
                     return ring_attention({sequences, 2, ring}, x[0], x[1], x[2], x[3]);
                   },
                   {random_tensor({30, 6}, 1), random_tensor({30, 12}, 2),
                    random_tensor({30, 12}, 3), random_tensor({5, 12}, 4)});
  }
}

TEST(RelayAttentionGradient, agrees_with_differences) {
  const Sequences sequences = padded(5, {5, 1, 3});
  check_gradient("relay_attention",
                 [&](const Pass&, const std::vector<Var>& x) {
                   return relay_attention(sequences, 3, x[0], x[1], x[2]);
                 },
                 {random_tensor({3, 6}, 1), random_tensor({3, 12}, 2), random_tensor({15, 12}, 3)});
}

TEST(StarStackGradient, agrees_with_differences_in_every_form_also_when_cycles_run_again) {
  for (const StarNorm norm : {StarNorm::post, StarNorm::reference})
    for (const bool tie : {false, true})
      for (const bool recompute : {false, true}) {
        SCOPED_TRACE(core::message_of(int(norm), tie, recompute));
        StarStack star({3, 6, 2, Real(0.2)}, {StarRing::cyclic, norm, tie});
        DrawnWeights<StarStack> drawn(star);
        const Sequences sequences = padded(5, {5, 2});
        check_gradient(
            "star",
            [&](const Pass& pass, const std::vector<Var>& x) {
              const auto [h, s] = star.run(pass, x[0], sequences, recompute);
              const auto real = std::vector<Index>{5, 2};
              return autograd::concat({autograd::mean_rows(h, real), s});
            },
            {random_tensor({10, 6}, 1)}, drawn.arena());
      }
}

}  // namespace
}  // namespace weft::layers::star_stack_gradient_test
