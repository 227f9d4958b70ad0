#include "data/text/split_files.h"

#include <numeric>

#include "core/error.h"
#include "data/shuffle.h"

namespace weft::data {

bool SplitFiles::divided() const {
  return train_path.empty() && validation_path.empty() && test_path.empty();
}

void SplitFiles::require_one_way() const {
  core::require(divided() != path.empty(),
                "data: give either data.path or data.train_path and its siblings");
}

void SplitFiles::list_paths(core::Fields& fields, const char* path_help) {
  fields.text("path", path, path_help);
  fields.text("train_path", train_path, "instead of path: the file of the training split");
  fields.text("validation_path", validation_path, "the file of the validation split");
  fields.text("test_path", test_path, "the file of the test split");
}

void SplitFiles::check_paths(core::Fields& fields, const char* wanted) const {
  if (divided()) {
    if (path.empty()) fields.problem("path", core::message_of("is missing: name ", wanted));
    return;
  }
  if (!path.empty())
    fields.problem("path", "cannot be combined with paths of single splits: remove one");
  if (train_path.empty())
    fields.problem("train_path", "is missing, although other splits have paths");
}

void SplitFiles::list_fractions(core::Fields& fields, const char* order) {
  fields.numbers("fractions", fractions,
                 core::message_of("shares of training, validation and test, ", order),
                 core::between(0, 1));
  if (fractions.size() != 3) {
    fields.problem("fractions", "needs three numbers: training, validation, test");
  } else if (std::reduce(fractions.begin(), fractions.end()) > 1 + 1e-9) {
    fields.problem("fractions", "must not add up to more than 1");
  }
}

std::vector<std::size_t> divide_groups(const std::vector<core::Index>& groups, core::Index count,
                                       const std::vector<double>& fractions,
                                       const core::Rng& order) {
  core::require(fractions.size() == 3,
                "data.fractions needs three numbers: training, validation, test");
  if (groups.empty()) return {};
  const Shuffle shuffled(count, order);
  std::vector<std::size_t> splits;
  for (const core::Index group : groups) {
    const double share = (double(shuffled[group]) + 0.5) / double(count);
    std::size_t split = 0;
    for (double end = fractions[0]; split < 3 && share >= end;)
      if (++split < 3) end += fractions[split];
    splits.push_back(split);
  }
  return splits;
}

}  // namespace weft::data
