#include "tests/experiments/squad_sample.h"

#include <nlohmann/json.hpp>

namespace weft::experiments {

std::string squad_sample(const std::string& prefix) {
  nlohmann::json data = nlohmann::json::array();
  for (const std::string place : {"north", "south"}) {
    const std::string context =
        "the " + place + " gate is red and the " + place + " tower is old, they say";
    nlohmann::json questions = {{{"id", prefix + place + "-gate"},
                                 {"question", "gate is"},
                                 {"answers", {{{"text", "red"}, {"answer_start", 18}}}}},
                                {{"id", prefix + place + "-moat"},
                                 {"question", "moat is"},
                                 {"answers", nlohmann::json::array()},
                                 {"is_impossible", true}}};
    data.push_back(
        {{"title", place}, {"paragraphs", {{{"context", context}, {"qas", questions}}}}});
  }
  return nlohmann::json{{"data", data}}.dump();
}

}  // namespace weft::experiments
