#include "data/files/json_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"

namespace weft::data {
namespace {

using Json = nlohmann::json;

constexpr int deepest = 64;
constexpr std::size_t largest = std::size_t(1) << 30;
constexpr std::size_t longest_reason = 200;  // which may repeat the text

template <class... Parts>
[[noreturn]] void refuse(const std::string& where, const Parts&... parts) {
  throw core::Error(core::Fault::data, core::message_of(where, ": ", parts...));
}

const Json& member(const Json& object, const char* name, const std::string& where, const char* kind,
                   bool (Json::*is_kind)() const noexcept) {
  if (!object.is_object()) refuse(where, "is no JSON object, which should hold \"", name, "\"");
  const auto found = object.find(name);
  if (found == object.end()) refuse(where, "has no \"", name, "\": add it, or remove the record");
  if (!((*found).*is_kind)())
    refuse(where, "\"", name, "\" is no ", kind, ": correct it, or remove the record");
  return *found;
}

/// The parser asks `keep` for every key and value whether to store it.
Json parse(std::string_view text, const std::string& where, const Json::parser_callback_t& keep) {
  if (text.size() > largest)
    refuse(where, "has ", text.size() >> 20, " MiB, and JSON of more than ", largest >> 20,
           " MiB is not read at once: divide it into several files");
  try {
    return Json::parse(text, keep);
  } catch (const Json::exception& error) {  // broken, or a number such as 1e999
    std::string reason = error.what();
    if (const std::size_t end = reason.find("] "); end != std::string::npos)
      reason.erase(0, end + 2);
    if (reason.size() > longest_reason) reason.resize(longest_reason);
    refuse(where, "is no valid JSON (", reason, "): correct the file");
  }
}

void check_depth(int depth, const std::string& where) {
  if (depth > deepest)
    refuse(where, "is nested more than ", deepest, " deep, which no data set is");
}

bool is_wanted(const Json& key, const std::vector<std::string_view>& wanted) {
  return std::ranges::find(wanted, key.get_ref<const std::string&>()) != wanted.end();
}

}  // namespace

Json parse_json(std::string_view text, const std::string& where,
                const std::vector<std::string_view>& wanted) {
  return parse(text, where, [&](int depth, Json::parse_event_t event, Json& parsed) {
    check_depth(depth, where);
    return event != Json::parse_event_t::key || is_wanted(parsed, wanted);
  });
}

Json parse_record(std::string_view text, const std::string& where,
                  const std::vector<std::string_view>& wanted) {
  return parse(text, where, [&](int depth, Json::parse_event_t event, Json& parsed) {
    check_depth(depth, where);
    if (event == Json::parse_event_t::key) return depth == 1 && is_wanted(parsed, wanted);
    return depth == 0 ? event != Json::parse_event_t::array_start : depth == 1;
  });
}

const std::string& json_string(const Json& object, const char* name, const std::string& where) {
  return member(object, name, where, "text", &Json::is_string).get_ref<const std::string&>();
}

const Json& json_array(const Json& object, const char* name, const std::string& where) {
  return member(object, name, where, "list", &Json::is_array);
}

}  // namespace weft::data
