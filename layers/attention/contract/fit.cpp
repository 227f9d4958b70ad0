#include "layers/attention/contract/fit.h"

#include "core/error.h"

namespace weft::layers {

std::string why_unfit(const AttentionTraits& traits, const AttentionSite& site) {
  if (site.causal && !traits.causal)
    return "reads later tokens and has no causal form; set model.causal = false or take another "
           "attention (weft list attentions)";
  if (!site.causal && !traits.bidirectional)
    return "has a causal form only; set model.causal = true or take another attention (weft list "
           "attentions)";
  return "";
}

void check_input(std::string_view kind, const Attention& attention, const AttentionInput& input,
                 Index heads, Index head_width) {
  const Sequences& s = input.sequences;
  const auto projections = attention.projections();
  core::require(input.blocks.size() == projections.size(), kind, " attention: needs ",
                projections.size(), " projections, got ", input.blocks.size());
  for (std::size_t i = 0; i < projections.size(); ++i) {
    const core::Shape& shape = input.blocks[i].matrix.shape();
    const Index first = input.blocks[i].first;
    const Index columns = projections[i].columns(heads, head_width);
    const Index length = projections[i].side == Projection::Side::queries ? s.queries : s.keys;
    core::require(shape.rank() == 2 && shape[0] == s.batch * length, kind,
                  " attention: ", projections[i].name, " of shape ", shape, " is not ", s.batch,
                  " sequences of length ", length);
    core::require(first >= 0 && first + columns <= shape[1], kind,
                  " attention: ", projections[i].name, " at columns [", first, ", ",
                  first + columns, ") of shape ", shape);
  }
  if (!s.key_lengths) return;
  core::require(Index(s.key_lengths->size()) == s.batch, kind,
                " attention: ", s.key_lengths->size(), " key lengths for ", s.batch, " sequences");
  for (const Index length : *s.key_lengths)
    core::require(length >= 0 && length <= s.keys, kind, " attention: a key length of ", length,
                  " for ", s.keys, " keys");
}

void require_causal_form(std::string_view kind, const Sequences& sequences) {
  core::require(
      sequences.causal && sequences.queries == sequences.keys, kind,
      " attention: has a causal form over one sequence only; take another attention (weft "
      "list attentions)");
}

}  // namespace weft::layers
