#pragma once

#include "data/solvable/solvable.h"

namespace weft::data {

/// The group whose elements are multiplied: the permutations of two, three or five things.
enum class GroupName { z2, s3, s5 };

/// The settings of data.kind = "group".
struct GroupSettings {
  GroupName group = GroupName::s3;
  Index held_out = 256;  ///< sequences in the validation split, and as many in the test split

  void fields(core::Fields& fields, Index length);
};

/// A finite group by its table of products. Elements are permutations, numbered in lexicographic
/// order, so that the identity is 0.
class PermutationGroup {
 public:
  explicit PermutationGroup(Index things);

  Index size() const { return size_; }
  /// The element that does `first`, then `second`.
  Token product(Token second, Token first) const {
    return products_[std::size_t(second) * std::size_t(size_) + std::size_t(first)];
  }

 private:
  Index size_;
  std::vector<Token> products_;  // [second, first]
};

/// State tracking. Tokens x_t are elements drawn uniformly; the target at every place is the
/// product of all so far, y_t = x_t after y_{t-1} with y_{-1} the identity.
class Group final : public Solvable {
 public:
  Group(const GroupSettings& settings, Index length, Index batch, std::uint64_t seed);

  std::optional<std::string> scored_part() const override { return "products"; }
  std::string fingerprint() const override;

 private:
  void draw(const core::Rng& stream, BatchRows& rows, Index row) const override;

  GroupSettings settings_;
  PermutationGroup group_;
};

}  // namespace weft::data
