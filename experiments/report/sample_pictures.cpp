#include "experiments/report/sample_pictures.h"

#include <algorithm>

#include "core/files/base64.h"
#include "experiments/draw/markup.h"

namespace weft::experiments {

std::string sample_pictures(const ComparedTask& task) {
  std::string figures;
  for (const ComparedRow& row : task.rows) {
    const auto shown =
        std::ranges::find_if(row.done, [](const TrialRecord* t) { return !t->sample.empty(); });
    if (shown == row.done.end()) continue;
    figures += "<figure><figcaption>" + escaped(row.name) +
               ": held-out images, what was given of them, and the rest by the model"
               "</figcaption>\n<img class=\"sample\" alt=\"samples of " +
               escaped(row.name) + "\" src=\"data:image/png;base64," +
               core::base64((*shown)->sample) + "\"/></figure>\n";
  }
  if (figures.empty()) return "";
  return "<h3>Samples</h3>\n<div class=\"pictures\">\n" + figures + "</div>\n";
}

}  // namespace weft::experiments
