#include "tests/golden/case.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"

namespace weft::golden {
namespace {

template <class T>
T value_of(const core::Hdf5File& file, const std::string& attribute) {
  const auto value = file.attribute("/", attribute);
  if (const T* found = std::get_if<T>(&value)) return *found;
  throw core::Error(core::Fault::data,
                    core::message_of("attribute ", attribute, " is of another type"));
}

}  // namespace

std::string Case::text(const std::string& attribute) const {
  return value_of<std::string>(file_, attribute);
}

Index Case::integer(const std::string& attribute) const {
  return value_of<std::int64_t>(file_, attribute);
}

double Case::number(const std::string& attribute) const {
  const auto value = file_.attribute("/", attribute);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return double(*whole);
  return value_of<double>(file_, attribute);
}

void Case::compare(const std::string& what, std::span<const Real> actual,
                   std::span<const double> expected) {
  if (actual.size() != expected.size())
    throw core::Error(core::Fault::data,
                      core::message_of(what, " has ", expected.size(), " elements, weft computed ",
                                       actual.size()));
  double difference = 0, largest = 1e-6;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double gap = std::abs(double(actual[i]) - expected[i]);
    difference =
        std::isfinite(gap) ? std::max(difference, gap) : std::numeric_limits<double>::infinity();
    largest = std::max(largest, std::abs(expected[i]));
    if (!std::isfinite(gap)) break;
  }
  const double error = difference / largest;
  if (compared_++ == 0 || error > error_) {
    error_ = error;
    worst_ = what;
  }
}

}  // namespace weft::golden
