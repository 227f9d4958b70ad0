#include "layers/parts/memory/memory_feed_forward.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"

namespace weft::layers {
namespace {

void keep_last(std::span<Real> value, std::span<const Real> statistics) {
  std::ranges::copy(statistics, value.begin());
}

/// The numbers of real rows; null when all are.
autograd::RowNumbers real_rows(const Sequences& sequences) {
  if (!sequences.key_lengths) return nullptr;
  auto rows = std::make_shared<std::vector<Index>>();
  for (Index b = 0; b < sequences.batch; ++b)
    for (Index t = 0; t < (*sequences.key_lengths)[std::size_t(b)]; ++t)
      rows->push_back(b * sequences.queries + t);
  return rows;
}

}  // namespace

void MemorySettings::fields(core::Fields& field) {
  field.integer("memory_keys", keys, "keys of each half (C); the memory has C x C slots",
                core::between(1, 32768));
  field.integer("memory_heads", heads, "heads that read the memory", core::between(1, 1024));
  field.integer("memory_top", top, "slots that a head reads", core::between(1, 65536));
  field.integer("memory_query", query, "columns of a head's query, both halves together",
                core::between(2, 65536));
  field.choice(
      "memory_norm", norm,
      "of the queries: layer, each half by itself; batch reads the future in training",
      {{"layer", QueryNorm::layer}, {"batch", QueryNorm::batch}, {"none", QueryNorm::none}});
  field.number("memory_lr", rate, "learning rate of the values, whatever the schedule",
               core::between(0, 1000));
  if (query % 2 != 0) field.problem("memory_query", "has two halves: an even number");
  if (top > keys * keys)
    field.problem("memory_top", core::message_of("the memory has ", keys * keys, " slots only"));
}

MemoryFeedForward::MemoryFeedForward(Index width, const MemorySettings& settings, Init query)
    : settings_(settings),
      query_({settings.heads * settings.query, width}, query),
      keys_({settings.heads, 2, settings.keys, settings.query / 2},
            Init::uniform(1 / std::sqrt(double(settings.query) / 2))),
      values_({settings.keys * settings.keys, width}, Init::normal(1 / std::sqrt(double(width))),
              autograd::RowSparse{settings.rate}),
      use_(Tensor({settings.keys * settings.keys}, 0), keep_last) {
  core::require(settings.query % 2 == 0 && settings.top <= settings.keys * settings.keys,
                "memory: queries of ", settings.query, " columns that read ", settings.top, " of ",
                settings.keys * settings.keys, " slots");
  using QueryNorm = MemorySettings::QueryNorm;
  const bool batch = settings.norm == QueryNorm::batch;
  if (!batch) query_bias_.emplace(core::Shape{settings.heads * settings.query}, Init::zeros());
  if (settings.norm != QueryNorm::none)
    norm_.emplace(batch ? settings.heads * settings.query : settings.query / 2,
                  batch ? NormKind::batch : NormKind::layer);
}

Var MemoryFeedForward::queries(const Pass& pass, const Var& x) const {
  const Var q = autograd::linear(x, query_, query_bias_ ? &*query_bias_ : nullptr);
  if (!norm_) return q;
  if (settings_.norm == MemorySettings::QueryNorm::batch) return norm_->forward(pass, q);
  const Index half = settings_.query / 2;
  const Var halves = autograd::reshape(q, {q.value().size() / half, half});
  return autograd::reshape(norm_->forward(pass, halves), q.shape());
}

Var MemoryFeedForward::read(const Pass& pass, const Var& x) const {
  const Var q = queries(pass, x);
  const auto slots = pass.decide("slots", [&] { return search_slots(q.value(), tables()); });
  propose_use(pass, *slots);
  return product_memory(q, slots, tables());
}

Var MemoryFeedForward::forward(const Pass& pass, const Var& x, const Sequences& sequences) const {
  const autograd::RowNumbers real = real_rows(sequences);
  if (!real) return read(pass, x);
  return autograd::scatter_rows(read(pass, autograd::gather_rows(x, real)), real,
                                x.shape().front());
}

void MemoryFeedForward::propose_use(const Pass& pass, const Slots& slots) const {
  if (!pass.training() || pass.replaying()) return;
  Tensor counts({settings_.keys * settings_.keys}, 0);
  Real* reads = counts.write().data();
  for (const std::int32_t slot : slots) reads[slot] += 1;
  pass.propose(use_, std::move(counts));
}

Index MemoryFeedForward::weights() const {
  return query_.shape().size() + keys_.shape().size() +
         settings_.heads * settings_.top * values_.shape()[1];
}

std::vector<autograd::Metric> MemoryFeedForward::metrics() const {
  const auto counts = use_.value().read();
  const double reads = std::accumulate(counts.begin(), counts.end(), 0.0);
  if (reads == 0) return {};
  const double slots = double(counts.size());
  double hit = 0, bits = 0;
  for (const Real count : counts) {
    if (count == 0) continue;
    hit += 1;
    bits += double(count) / reads * std::log2(double(count) / reads * slots);
  }
  return {{"slots_hit", hit / slots}, {"unevenness", bits}};
}

void MemoryFeedForward::visit(Inventory& inventory) {
  inventory.add("query.weight", query_);
  if (query_bias_) inventory.add("query.bias", *query_bias_);
  if (norm_) inventory.enter("norm", *norm_);
  inventory.add("keys", keys_);
  inventory.add("values", values_);
  inventory.add("use", use_);
  inventory.add_hooks("use", {[] {}, [this] { return metrics(); }});
}

}  // namespace weft::layers
