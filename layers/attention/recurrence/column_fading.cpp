#include "layers/attention/recurrence/column_fading.h"

#include "layers/attention/fittings/gates.h"
#include "layers/attention/recurrence/attention.h"
#include "layers/attention/recurrence/starts.h"

namespace weft::layers {

void ColumnFadingSettings::fields(core::Fields& field) {
  list_conv(field, conv);
  field.integer("rank", rank,
                "rank of the products of two matrices that compute decays and output gate; 0: the "
                "width of a head",
                core::between(0, 65536));
  field.number("floor", floor,
               "the strongest decay of a token, as a logarithm; 0: no bound, -e^A softplus instead",
               core::between(-1e4, 0));
  list_chunk_of(field, chunk);
}

ColumnFading::ColumnFading(const ColumnFadingSettings& settings, const AttentionSite& site)
    : floor_(Real(settings.floor)),
      columns_(site.heads * site.head_width),
      map_(site.width, columns_,
           {.rank = settings.rank_at(site), .bias = true, .start = start_of_steps()}),
      log_rate_({site.heads}, settings.floor == 0 ? start_of_rates() : autograd::Init::zeros()) {}

Var ColumnFading::decays(const Var& x) const {
  const Var y = map_.forward(x);
  return floor_ == 0 ? scale_heads(softplus(y), log_rate_, -1)
                     : logistic(scale_heads(y, log_rate_, 1), floor_);
}

Cost ColumnFading::cost(Index tokens) const {
  Cost cost = map_.cost(tokens);
  cost.saved_bytes += 2 * tokens * columns_ * Index(sizeof(Real));
  return cost;
}

void ColumnFading::visit(autograd::Inventory& inventory) {
  inventory.enter("fading", map_);
  inventory.add("log_rate", log_rate_);
}

}  // namespace weft::layers
