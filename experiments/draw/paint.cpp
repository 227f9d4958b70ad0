#include "experiments/draw/paint.h"

#include <array>
#include <span>
#include <vector>

namespace weft::experiments {
namespace {

struct Colour {
  const char *name, *light, *dark;
};
constexpr Colour palette[] = {{"paper", "#fcfbf8", "#14171c"}, {"panel", "#ffffff", "#1b1f26"},
                              {"ink", "#20242b", "#e7e9ee"},   {"soft", "#667085", "#98a2b3"},
                              {"line", "#e4e2dc", "#2d333d"},  {"accent", "#2457a6", "#8ab4ff"},
                              {"c0", "#2463b4", "#6ea8ff"},    {"c1", "#c2501d", "#ff9466"},
                              {"c2", "#1b8457", "#55d19b"},    {"c3", "#8a48b5", "#cb9cf2"},
                              {"c4", "#a8790a", "#e5bd55"},    {"c5", "#0c8199", "#56cfe4"},
                              {"c6", "#bf366c", "#ff86b4"},    {"c7", "#5d6d24", "#b7ca6b"},
                              {"c8", "#6254cf", "#ab9fff"},    {"c9", "#80502f", "#d8a27c"}};

struct Property {
  const char *name, *value;  ///< $ink is a colour of the palette, $c that of the series
};
struct Look {
  const char* kind;
  std::vector<Property> properties;
};

const std::vector<Look>& looks() {
  static const std::vector<Look> all = {
      {"tick", {{"fill", "$soft"}, {"font-size", "12px"}}},
      {"name", {{"fill", "$soft"}, {"font-size", "12.5px"}}},
      {"grid", {{"stroke", "$line"}}},
      {"axis", {{"stroke", "$soft"}}},
      {"notch", {{"stroke", "$soft"}}},
      {"level", {{"stroke", "$soft"}, {"stroke-dasharray", "2 4"}}},
      {"front",
       {{"fill", "none"},
        {"stroke", "$accent"},
        {"stroke-width", "8"},
        {"stroke-opacity", ".16"},
        {"stroke-linejoin", "round"},
        {"stroke-linecap", "round"}}},
      {"line",
       {{"fill", "none"}, {"stroke", "$c"}, {"stroke-width", "1.8"}, {"stroke-linejoin", "round"}}},
      {"band", {{"fill", "$c"}, {"fill-opacity", ".13"}}},
      {"bar", {{"stroke", "$c"}, {"stroke-width", "1.5"}}},
      {"lead", {{"stroke", "$c"}, {"stroke-opacity", ".35"}}},
      {"mark", {{"fill", "$c"}, {"stroke", "$panel"}, {"stroke-width", "1"}}},
      {"label", {{"fill", "$c"}, {"font-size", "12px"}, {"font-weight", "600"}}},
      {"frame", {{"fill", "none"}, {"stroke", "$line"}}},
      {"ground", {{"fill", "$panel"}}},
      {"tile", {{"fill", "$c"}}},
      {"edge", {{"fill", "none"}, {"stroke", "$ink"}, {"stroke-width", "1.2"}}},
  };
  return all;
}

std::string with_colours(const std::string& value, std::size_t colour) {
  if (value == "$c") return light_colour("c" + std::to_string(colour % series_colours));
  return value.starts_with('$') ? light_colour(value.substr(1)) : value;
}

std::string as_variable(const std::string& value) {
  return value.starts_with('$') ? "var(--" + value.substr(1) + ")" : value;
}

std::string variables(const char* Colour::*shade) {
  std::string css = ":root{";
  for (const Colour& colour : palette)
    css += std::string("--") + colour.name + ":" + colour.*shade + ";";
  return css + "}";
}

}  // namespace

std::string light_colour(const std::string& name) {
  for (const Colour& colour : palette)
    if (name == colour.name) return colour.light;
  return "none";
}

std::string paint(Medium medium, const std::string& kind, std::size_t colour) {
  std::string text = " class=\"" + kind + "\"";
  if (medium == Medium::page) return text;
  for (const Look& look : looks())
    if (kind == look.kind)
      for (const Property& property : look.properties)
        text +=
            std::string(" ") + property.name + "=\"" + with_colours(property.value, colour) + "\"";
  return text;
}

std::string picture_style() {
  std::string css = "\n" + variables(&Colour::light) + "\n@media (prefers-color-scheme:dark){" +
                    variables(&Colour::dark) + "}\n" + R"css(
.chart{font:12px system-ui,"Segoe UI","Helvetica Neue",sans-serif;width:100%;height:auto;display:block}
.chart text{fill:var(--ink)}
)css";
  for (const Look& look : looks()) {
    css += std::string(".chart .") + look.kind + "{";
    for (const Property& property : look.properties)
      css += std::string(property.name) + ":" + as_variable(property.value) + ";";
    css += "}\n";
  }
  css += ".chart:hover .series{opacity:.22}\n.chart .series:hover{opacity:1}\n";
  for (std::size_t i = 0; i < series_colours; ++i) {
    const std::string name = "c" + std::to_string(i);
    css += "." + name + "{--c:var(--" + name + ")}";
  }
  return css + "\n";
}

}  // namespace weft::experiments
