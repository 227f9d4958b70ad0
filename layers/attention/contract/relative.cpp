#include "layers/attention/contract/relative.h"

#include <algorithm>
#include <cmath>

#include "autograd/ops.h"
#include "core/error.h"
#include "layers/attention/contract/shared_tables.h"

namespace weft::layers {
namespace {

using autograd::Init;
using autograd::Inventory;
using autograd::Parameter;

constexpr double deviation = 0.02;

template <class Label>
std::vector<std::int32_t> label_offsets(Index past, Index future, const Label& label) {
  std::vector<std::int32_t> labels;
  for (Index offset = -past; offset <= future; ++offset)
    labels.push_back(std::int32_t(label(offset)));
  return labels;
}

/// A learned key and a learned value for each offset, those beyond `clip` alike; all heads share.
class Shaw final : public RelativePositions {
 public:
  Shaw(Index clip, Index head_width)
      : clip_(clip),
        keys_({2 * clip + 1, head_width}, Init::normal(deviation)),
        values_({2 * clip + 1, head_width}, Init::normal(deviation)) {}

  Terms terms(const Pass& pass, Index past, Index future) const override {
    return {past,
            label_offsets(past, future,
                          [&](Index offset) { return std::clamp(offset, -clip_, clip_) + clip_; }),
            autograd::as_variable(pass, keys_),
            autograd::as_variable(pass, values_),
            {}};
  }
  void visit(Inventory& inventory) override {
    inventory.add("keys", keys_);
    inventory.add("values", values_);
  }

 private:
  Index clip_;
  Parameter keys_, values_;
};

/// One learned number for each head and bucket of offsets, shared by the layers.
class T5 final : public RelativePositions {
 public:
  T5(const RelativeSettings& settings, const AttentionSite& site)
      : settings_(settings),
        causal_(site.causal),
        bias_(site.shared->lend(core::message_of("t5_bias", site.first_head),
                                {site.heads, settings.buckets}, Init::normal(deviation))) {}

  Terms terms(const Pass& pass, Index past, Index future) const override {
    return {past,
            label_offsets(past, future,
                          [&](Index offset) {
                            return t5_bucket(offset, causal_, settings_.buckets,
                                             settings_.bucket_distance);
                          }),
            {},
            {},
            autograd::as_variable(pass, bias_)};
  }

 private:
  RelativeSettings settings_;
  bool causal_;
  const Parameter& bias_;
};

/// Transformer-XL: keys made from sinusoids of the distance by a learned matrix, and one learned
/// shift each for queries that meet keys and for queries that meet distances.
class TransformerXl final : public RelativePositions {
 public:
  TransformerXl(Index width, Index columns)
      : width_(width),
        weight_({columns, width}, Init::normal(deviation)),
        content_({1, columns}, Init::zeros()),
        place_({1, columns}, Init::zeros()) {}

  Terms terms(const Pass& pass, Index past, Index future) const override {
    return {past,
            label_offsets(past, future, [&](Index offset) { return offset + past; }),
            autograd::matmul(Var(sinusoids(past, future)), autograd::as_variable(pass, weight_),
                             false, true),
            {},
            {}};
  }
  HeadBlock content(const Pass&, const HeadBlock& q) const override { return shift(q, content_); }
  HeadBlock place(const Pass&, const HeadBlock& q) const override { return shift(q, place_); }
  void visit(Inventory& inventory) override {
    inventory.add("weight", weight_);
    inventory.add("content_shift", content_);
    inventory.add("place_shift", place_);
  }

 private:
  static HeadBlock shift(const HeadBlock& q, const Parameter& by) {
    return {autograd::add_positions(autograd::slice(q.matrix, q.first, by.shape()[1]), by, 1), 0};
  }

  /// Of the distances past .. -future, sines in the first half of the columns and cosines in the
  /// second: [past + future + 1, W]
  Tensor sinusoids(Index past, Index future) const {
    const Index half = (width_ + 1) / 2;
    Tensor table({past + future + 1, width_});
    Real* out = table.write().data();
    for (Index distance = past; distance >= -future; --distance)
      for (Index c = 0; c < width_; ++c) {
        const double angle =
            double(distance) / std::pow(10000.0, 2 * double(c % half) / double(width_));
        *out++ = Real(c < half ? std::sin(angle) : std::cos(angle));
      }
    return table;
  }

  Index width_;
  Parameter weight_, content_, place_;
};

}  // namespace

std::int32_t t5_bucket(Index offset, bool causal, Index buckets, Index distance) {
  std::int32_t first = 0;
  if (!causal) {
    buckets /= 2;
    if (offset > 0) first = std::int32_t(buckets);
  }
  const Index away = causal ? std::max<Index>(0, -offset) : std::abs(offset);
  const Index exact = buckets / 2;
  if (away < exact) return first + std::int32_t(away);
  // The smallest distance of bucket exact + b is exact * ratio^(b / (buckets - exact)).
  const double ratio = double(distance) / double(exact);
  std::int32_t bucket = std::int32_t(exact);
  while (bucket + 1 < buckets) {
    const double power = double(bucket + 1 - exact) / double(buckets - exact);
    if (double(away) < double(exact) * std::pow(ratio, power) * (1 - 1e-12)) break;
    ++bucket;
  }
  return first + bucket;
}

void RelativeSettings::fields(core::Fields& field) {
  field.when("positions", {"shaw"}, [&] {
    field.integer("relative_clip", clip, "larger offsets share one key and one value",
                  core::between(1, 1 << 20));
  });
  field.when("positions", {"t5"}, [&] {
    field.integer("relative_buckets", buckets, "buckets of offsets, an even number",
                  core::between(4, 4096));
    field.integer("relative_distance", bucket_distance,
                  "distances from here on share the last bucket", core::at_least(2));
    if (buckets % 2 != 0) field.problem("relative_buckets", "must be even");
    if (bucket_distance <= buckets / 2)
      field.problem("relative_distance",
                    core::message_of("must be above half of ", buckets,
                                     " buckets, those with one distance each"));
  });
}

std::shared_ptr<RelativePositions> make_relative(const RelativeSettings& settings,
                                                 const AttentionSite& site) {
  if (settings.kind == PositionKind::shaw)
    return std::make_shared<Shaw>(settings.clip, site.head_width);
  if (settings.kind == PositionKind::t5) {
    core::require(site.shared, "t5 positions: the site lends no tables that layers share");
    return std::make_shared<T5>(settings, site);
  }
  if (settings.kind == PositionKind::xl)
    return std::make_shared<TransformerXl>(site.width, site.heads * site.head_width);
  return nullptr;
}

}  // namespace weft::layers
