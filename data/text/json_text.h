#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace weft::data {

/// JSON that a user gave. What is wrong with it, or nested deeper than any data set is, is a data
/// error that begins with `where`.
nlohmann::json parse_json(std::string_view text, const std::string& where);

/// The text under `name` of an object; an error that begins with `where` when it is missing or no
/// text.
const std::string& json_string(const nlohmann::json& object, const char* name,
                               const std::string& where);
/// The array under `name`, likewise.
const nlohmann::json& json_array(const nlohmann::json& object, const char* name,
                                 const std::string& where);

}  // namespace weft::data
