#pragma once

#include "layers/attention/contract/attention.h"

namespace weft::layers {

/// For a mechanism, in addition to Attention, if its `forward` is not linear in its values (the
/// projections whose names end in "v") or weighs their columns separately.
class SumsValues {
 public:
  virtual ~SumsValues() = default;

  /// What `forward` sums, of other values in the place of its own and before any norm or gate of
  /// the sum: linear in the values, but for what does not depend on them. values: as many columns
  /// as "v" -> [B * queries, H D]
  virtual Var weigh(const Pass& pass, AttentionInput input, const HeadBlock& values) const = 0;
  /// Whether columns of a value have weights of their own.
  virtual bool weighs_columns() const { return false; }
};

/// The groups by which a mechanism chose what tokens read: the buckets of a hash, clusters.
struct TokenGroups {
  std::string_view name = {};  ///< of one: "bucket"; empty where there are none
  Index rounds = 1, count = 0;
  std::vector<Index> queries, keys;  ///< the group of each token, [B, H, rounds, tokens]
};

/// For a mechanism that puts tokens into groups, in addition to Attention.
class GroupsTokens {
 public:
  virtual ~GroupsTokens() = default;

  /// The groups that `forward` chooses by in the same pass.
  virtual TokenGroups groups(const Pass& pass, const AttentionInput& input) const = 0;
};

/// How strongly each query reads each key: what the mechanism sums is sum_j weights_ij values_j.
///   -> [B, H, queries, keys]
/// It is read off the mechanism itself, by values that are 1 in one place, D keys at a time; a
/// mechanism needs nothing for it unless it is one of SumsValues. Rows are distributions where a
/// mechanism normalises them; where columns have weights of their own, it is their mean. Features,
/// recurrences and differences of softmaxes have weights of any sum and sign. Values that pass a
/// convolution first are what comes out of it, and a state carried from an earlier segment is left
/// out.
Tensor key_weights(const Attention& attention, const Pass& pass, AttentionInput input, Index heads,
                   Index head_width);

/// What is summed of other values: as SumsValues has it, or `forward` with them in the place of all
/// projections whose names end in "v".
Var weigh_values(const Attention& attention, const Pass& pass, AttentionInput input,
                 const HeadBlock& values);

/// Empty where the mechanism has no groups.
TokenGroups token_groups(const Attention& attention, const Pass& pass, const AttentionInput& input);

}  // namespace weft::layers
