#include "data/solvable/group.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "data/fingerprint.h"
#include "data/plan.h"

namespace weft::data {
namespace {

/// How many things the permutations of a group permute.
Index things_of(GroupName group) {
  switch (group) {
    case GroupName::z2:
      return 2;
    case GroupName::s3:
      return 3;
    case GroupName::s5:
      break;
  }
  return 5;
}

Index factorial(Index n) { return n <= 1 ? 1 : n * factorial(n - 1); }

}  // namespace

void GroupSettings::fields(core::Fields& fields, Index) {
  fields.choice("group", group,
                "the group: z2, bits (parity); s3 and s5, permutations of 3 and 5 elements",
                {{"z2", GroupName::z2}, {"s3", GroupName::s3}, {"s5", GroupName::s5}});
  list_held_out(fields, held_out);
}

DataPlan configure_group(core::Fields& fields, Index length) {
  GroupSettings settings;
  settings.fields(fields, length);
  return plan_for<Group>(settings, length);
}

PermutationGroup::PermutationGroup(Index things) : size_(factorial(things)) {
  std::vector<Index> permutation(static_cast<std::size_t>(things));
  std::iota(permutation.begin(), permutation.end(), 0);
  std::vector<std::vector<Index>> elements;
  do {
    elements.push_back(permutation);
  } while (std::ranges::next_permutation(permutation).found);
  for (const auto& second : elements)
    for (const auto& first : elements) {
      std::ranges::transform(first, permutation.begin(),
                             [&](Index image) { return second[std::size_t(image)]; });
      const auto found = std::ranges::lower_bound(elements, permutation);
      products_.push_back(Token(found - elements.begin()));
    }
}

Group::Group(const GroupSettings& settings, Index length, Index batch, std::uint64_t seed)
    : Solvable("group",
               {settings.held_out, factorial(things_of(settings.group)),
                factorial(things_of(settings.group))},
               length, batch, seed),
      settings_(settings),
      group_(things_of(settings.group)) {}

void Group::draw(const core::Rng& stream, BatchRows& rows, Index row) const {
  const auto inputs = rows.inputs(row), targets = rows.targets(row);
  Token state = 0;
  for (std::size_t t = 0; t < inputs.size(); ++t) {
    inputs[t] = Token(stream.below(t, group_.size()));
    targets[t] = state = group_.product(inputs[t], state);
  }
}

std::string Group::fingerprint() const {
  return fingerprint_of(core::message_of("group length=", length(), " elements=", group_.size(),
                                         " held_out=", settings_.held_out));
}

}  // namespace weft::data
