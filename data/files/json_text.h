#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace weft::data {

/// JSON that a user gave. What is wrong with it, or nested deeper than any data set is, is a data
/// error that begins with `where`. Of objects only the members named in `wanted` are kept, so that
/// nothing else takes memory.
nlohmann::json parse_json(std::string_view text, const std::string& where,
                          const std::vector<std::string_view>& wanted);

/// The same for an object of texts, such as one line of many: what its members nest is not kept.
nlohmann::json parse_record(std::string_view text, const std::string& where,
                            const std::vector<std::string_view>& wanted);

/// The text under `name` of an object; an error that begins with `where` when it is missing or no
/// text.
const std::string& json_string(const nlohmann::json& object, const char* name,
                               const std::string& where);
/// The array under `name`, likewise.
const nlohmann::json& json_array(const nlohmann::json& object, const char* name,
                                 const std::string& where);

}  // namespace weft::data
