#pragma once

#include <functional>
#include <string>
#include <vector>

#include "layers/attention/contract/attention.h"
#include "tests/golden/case.h"
#include "tests/layers/given_fields.h"

namespace weft::golden {

/// The mechanism `kind`, with default settings but for those given, for the shape [B, H, T, D] of
/// its queries, [B, T, D] being one head, in the precision of the case.
std::unique_ptr<layers::Attention> make_attention(const Case& golden, const std::string& kind,
                                                  const core::Shape& queries, bool causal,
                                                  const tests::Settings& settings = {});

/// A [B, H, T, D] array as a matrix of tokens, [B T, H D].
core::Tensor by_token(const std::vector<double>& numbers, const core::Shape& shape);
/// And back: a [B T, H D] matrix as a case's array of the given [B, H, T, D].
std::vector<Real> by_case(const core::Tensor& matrix, const core::Shape& shape);

/// Token by token, each sequence by itself.
/// queries: [B, H, T, D], x: the layer's input, [B T, W], or empty -> [B T, H D]
core::Tensor decode(const layers::Attention& attention,
                    const std::vector<layers::HeadBlock>& blocks, const core::Shape& queries,
                    const core::Tensor& x = {});

/// The decision of that name in a pass.
template <class Decision>
std::shared_ptr<const Decision> decided(const autograd::Pass& pass,
                                        const autograd::Journal& journal, std::string_view name) {
  return std::any_cast<std::shared_ptr<const Decision>>(
      *journal.find(pass.stream().fold(name).key()));
}

/// What a case brings beside the projections.
struct ReplayHooks {
  /// Puts decisions that the case fixes into the journal before the pass.
  std::function<void(const autograd::Pass&, autograd::Journal&)> before = nullptr;
  /// Looks at what the pass left behind.
  std::function<void(const autograd::Pass&, autograd::Journal&)> after = nullptr;
};

/// Runs the mechanism on in/NAME of each of its projections, [B, H, T, D], and compares out and
/// every grad/NAME: with each projection in a matrix of its own and, where all have one length,
/// packed in one matrix.
void replay_attention(Case& golden, const layers::Attention& attention, bool causal,
                      const ReplayHooks& hooks = {});

}  // namespace weft::golden
