#include "data/text/json_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"

namespace weft::data {
namespace {

using Json = nlohmann::json;

constexpr int deepest = 64;
constexpr std::size_t largest = std::size_t(1) << 30;

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

}  // namespace

Json parse_json(std::string_view text, const std::string& where,
                const std::vector<std::string_view>& wanted) {
  const auto keep = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > deepest)
      refuse(where, "is nested more than ", deepest, " deep, which no data set is");
    return event != Json::parse_event_t::key ||
           std::ranges::find(wanted, parsed.get_ref<const std::string&>()) != wanted.end();
  };
  if (text.size() > largest)
    refuse(where, "has ", text.size() >> 20, " MiB, and JSON of more than ", largest >> 20,
           " MiB is not read at once: divide it into several files");
  try {
    return Json::parse(text, keep);
  } catch (const Json::parse_error& error) {
    std::string reason = error.what();
    if (const std::size_t end = reason.find("] "); end != std::string::npos)
      reason.erase(0, end + 2);
    refuse(where, "is no valid JSON (", reason, "): correct the file");
  }
}

const std::string& json_string(const Json& object, const char* name, const std::string& where) {
  return member(object, name, where, "text", &Json::is_string).get_ref<const std::string&>();
}

const Json& json_array(const Json& object, const char* name, const std::string& where) {
  return member(object, name, where, "list", &Json::is_array);
}

}  // namespace weft::data
