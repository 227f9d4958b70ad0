// Attention over a pattern written in the config: a list of atoms, of which a key needs one.
//   [[attention.NAME.atoms]]
//   kind = "band"
//   left = 127
#include <optional>

#include "core/error.h"
#include "layers/attention/drawn/attention.h"
#include "layers/attention/pattern/attention.h"
#include "layers/attention/pattern/global_tokens.h"
#include "layers/attention/pattern/window.h"

namespace weft::layers {
namespace {

/// Reads one number of an atom.
Index number(core::Fields& field, std::string_view key, std::string_view help, Index value,
             Index least) {
  field.integer(key, value, help, core::at_least(double(least)));
  return value;
}

Pattern read_band(core::Fields& field, const AttentionSite&) {
  const Index left = number(field, "left", "keys before the token's own", 127, 0);
  const Index right = number(field, "right", "keys after the token's own", 0, 0);
  return band_pattern(left, right);
}

Pattern read_dilated(core::Fields& field, const AttentionSite& site) {
  const Index left = number(field, "left", "keys before the token's own", 63, 0);
  const Index right = number(field, "right", "keys after the token's own", 0, 0);
  const Index dilation = number(field, "dilation", "distance from key to key", 4, 1);
  check_distance_fits(field, "dilation", dilation, site);
  return dilated_pattern(left, right, dilation);
}

Pattern read_block_local(core::Fields& field, const AttentionSite&) {
  const Index block = number(field, "block", "tokens of a block", 128, 1);
  const Index back =
      number(field, "back", "earlier blocks that a token reads besides its own", 0, 0);
  return block_local_pattern(block, back);
}

Pattern read_strided(core::Fields& field, const AttentionSite& site) {
  const Index stride =
      number(field, "stride", "the last stride keys, then every stride-th before them", 32, 1);
  check_distance_fits(field, "stride", stride, site);
  return strided_pattern(stride);
}

Pattern read_fixed(core::Fields& field, const AttentionSite& site) {
  const Index stride = number(field, "stride", "tokens of a block", 32, 1);
  field.renamed("c", "summary_columns");
  Index columns = number(field, "summary_columns", "columns at the end of each block", 4, 1);
  check_distance_fits(field, "stride", stride, site);
  if (columns > stride) {
    field.problem("summary_columns",
                  core::message_of(columns, " columns do not fit into a stride of ", stride));
    columns = stride;
  }
  return fixed_pattern(stride, columns);
}

Pattern read_global(core::Fields& field, const AttentionSite& site) {
  std::vector<Index> positions = {0};
  GlobalMode mode = GlobalMode::both;
  read_global_positions(field, positions, site);
  read_global_mode(field, mode);
  return global_pattern(positions, mode);
}

/// An atom by name, with what reads its numbers. `random` is not among them: its blocks are drawn
/// for each site.
struct AtomKind {
  std::string_view name;
  Pattern (*read)(core::Fields& field, const AttentionSite& site);
};

constexpr AtomKind atom_kinds[] = {
    {"band", read_band},       {"dilated", read_dilated}, {"block_local", read_block_local},
    {"strided", read_strided}, {"fixed", read_fixed},     {"global", read_global}};

Pattern read_atom(core::Fields& field, const AttentionSite& site, const std::string& kind) {
  Pattern chosen = full_pattern();
  for (const AtomKind& atom : atom_kinds)
    field.when("kind", {atom.name}, [&] {
      const Pattern read = atom.read(field, site);
      if (kind == atom.name) chosen = read;
    });
  return chosen;
}

}  // namespace

AttentionPlan configure_pattern(core::Fields& field, const AttentionSite& typical) {
  Pattern pattern;
  std::optional<DrawnBlocks::Settings> drawn;
  ScoreSettings scores;
  const auto atoms =
      field.tables("atoms",
                   "which keys a token reads: a list of atoms, tables with a kind and its numbers; "
                   "a key is read if any atom selects it; without atoms, all keys");
  for (const auto& atom : atoms) {
    std::string kind = "full";
    atom->choice(
        "kind", kind, "which keys the atom selects",
        {"full", "band", "dilated", "block_local", "global", "strided", "fixed", "random"});
    const Pattern named = read_atom(*atom, typical, kind);
    DrawnBlocks::Settings blocks;
    atom->when("kind", {"random"}, [&] { blocks.fields(*atom, "blocks", typical); });
    if (kind != "random") {
      pattern = united(std::move(pattern), named);
      continue;
    }
    if (drawn) atom->problem("kind", "a pattern has one random atom at most");
    drawn = blocks;
  }
  if (atoms.empty()) pattern = full_pattern();
  scores.list_first(field);
  scores.fields(field);
  pattern = scores.with_first(std::move(pattern));
  const auto make = [=](const AttentionSite& site) -> std::unique_ptr<Attention> {
    if (drawn) return std::make_unique<DrawnAttention>(site, pattern, *drawn, scores);
    return std::make_unique<PatternAttention>(site, std::vector<Pattern>{pattern}, scores);
  };
  return {make, scores.complete({.summary = "softmax over the keys that a list of atoms names",
                                 .chunks = !drawn,
                                 .keys_per_token = "what the atoms name",
                                 .decode_state = "each key and value until its last reader"})};
}

}  // namespace weft::layers
