#include "experiments/report/sample_pictures.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "experiments/report/chart.h"

namespace weft::experiments {
namespace {

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k)
      word = word << 8 | (k < count ? std::uint8_t(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      text += k <= count ? digits[word >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace

std::string sample_pictures(const ComparedTask& task) {
  std::string figures;
  for (const ComparedRow& row : task.rows) {
    const auto shown =
        std::ranges::find_if(row.done, [](const TrialRecord* t) { return !t->sample.empty(); });
    if (shown == row.done.end()) continue;
    figures += "<figure><figcaption>" + escaped(row.name) +
               ": held-out images, what was given of them, and the rest by the model"
               "</figcaption>\n<img class=\"sample\" alt=\"samples of " +
               escaped(row.name) + "\" src=\"data:image/png;base64," + base64((*shown)->sample) +
               "\"/></figure>\n";
  }
  if (figures.empty()) return "";
  return "<h3>Samples</h3>\n<div class=\"pictures\">\n" + figures + "</div>\n";
}

}  // namespace weft::experiments
