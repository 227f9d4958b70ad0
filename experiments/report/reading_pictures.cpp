#include "experiments/report/reading_pictures.h"

#include "core/error.h"
#include "core/files/durable_file.h"
#include "experiments/draw/markup.h"
#include "experiments/run/run_config.h"
#include "experiments/show/typical_tile.h"

namespace weft::experiments {
namespace {

constexpr Index longest = 256;

/// The thumbnails of a config, one for each head group that it has.
std::string figures_of(const RunConfig& config, const std::string& name) {
  if (config.model.is_star()) return "";
  const Index length = std::min(config.data.length, longest);
  std::string figures;
  for (const std::string& attention : config.model.attention_names())
    for (const layers::HeadGroupPlan& plan : config.attention.at(attention)) {
      const layers::AttentionSite site = config.model.site(length);
      const std::string own = attention == name ? "" : ", " + attention;
      figures += "<figure class=\"thumbnail\"><figcaption>" + escaped(name + own) +
                 "</figcaption>" + draw(typical_tile(plan, site, length)) + "</figure>\n";
    }
  return figures;
}

}  // namespace

std::string reading_pictures(const ComparedTask& task) {
  std::string figures;
  for (const ComparedRow& row : task.rows) {
    if (row.done.empty()) continue;
    const std::filesystem::path& path = row.done[0]->config;
    if (!std::filesystem::exists(path)) continue;
    const std::string text = core::read_text_file(path);
    try {
      figures += figures_of(RunConfig::from_text(text, path.filename()), row.name);
    } catch (const core::Error&) {
      continue;  // of another version: the scores are shown without it
    }
  }
  if (figures.empty()) return "";
  return "<h3>What a head can read</h3>\n<p class=\"soft\">Queries from top to bottom, keys from "
         "left "
         "to right, before any training. The stronger the colour, the more is read; what is blank "
         "is not read.</p>\n<div "
         "class=\"tiles\">\n" +
         figures + "</div>\n";
}

}  // namespace weft::experiments
