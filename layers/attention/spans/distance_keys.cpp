#include "layers/attention/spans/distance_keys.h"

#include <algorithm>

#include "autograd/ops.h"
#include "layers/attention/contract/shared_tables.h"

namespace weft::layers {

DistanceKeys::DistanceKeys(Index span, const AttentionSite& site) : span_(span) {
  const core::Shape shape{span, site.head_width};
  const auto law = autograd::Init::normal(1);
  if (site.shared) {
    keys_ = &site.shared->lend(core::message_of("distance_keys_", span), shape, law);
  } else {
    own_ = std::make_unique<autograd::Parameter>(shape, law);
    keys_ = own_.get();
  }
}

RelativePositions::Terms DistanceKeys::terms(const Pass& pass, Index past, Index future) const {
  const Index rows = std::clamp<Index>(past, 1, span_);
  std::vector<std::int32_t> labels;
  for (Index offset = -past; offset <= future; ++offset)
    labels.push_back(std::int32_t(std::clamp<Index>(-offset - 1, 0, rows - 1)));
  return {past, std::move(labels), autograd::rows_as_variable(pass, *keys_, rows), {}, {}};
}

void DistanceKeys::visit(autograd::Inventory& inventory) {
  if (own_) inventory.add("distance_keys", *own_);
}

}  // namespace weft::layers
