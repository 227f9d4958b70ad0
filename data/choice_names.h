#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::data {

/// Values of an enum, each with its name by `name_of`, for Fields::choice.
template <class Enum>
std::vector<std::pair<std::string_view, Enum>> named(std::initializer_list<Enum> values) {
  std::vector<std::pair<std::string_view, Enum>> names;
  for (const Enum value : values) names.emplace_back(name_of(value), value);
  return names;
}

}  // namespace weft::data
