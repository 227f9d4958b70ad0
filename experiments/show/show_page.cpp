#include "experiments/show/show_page.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "core/error.h"
#include "experiments/console/columns.h"
#include "experiments/console/number_text.h"
#include "experiments/draw/markup.h"
#include "experiments/draw/page.h"

namespace weft::experiments {
namespace {

/// Keys below this share of a query's weight are not marked.
constexpr double least_share = 0.01;
/// How strong the colour behind a key is. Up to a half, the contrast to its letters is at least 5.
constexpr double least_shade = 0.1, most_shade = 0.5;

std::string span_text(const WeightTile& tile) {
  return std::isfinite(tile.span) ? format_fixed(tile.span, 1) : "";
}

std::string caption(const ShownHead& head) {
  std::string text = "A query reads " + format_fixed(head.keys, 1) + " of " +
                     std::to_string(head.tile.keys) + " keys, " + format_fixed(head.distance, 1) +
                     " tokens away.";
  if (std::abs(head.sum - 1) > 0.005)
    text += " Its weights sum to " + format_fixed(head.sum, 2) + ".";
  if (!head.groups.empty()) text += " " + head.groups + ".";
  if (std::isfinite(head.tile.span)) text += " Span " + span_text(head.tile) + ".";
  return text;
}

Index query_of(const ShownRun& run, const ShownLayer& layer) {
  const Index last = Index(layer.query_names.size()) - 1;
  return run.query < 0 ? last : std::min(run.query, last);
}

/// The keys as a text, those that the query reads set off by how much it reads them.
std::string read_keys(const ShownLayer& layer, const ShownHead& head, Index query) {
  const WeightTile& tile = head.tile;
  const float* const row = tile.weights.data() + query * tile.keys;
  double most = 0, all = 0;
  for (Index j = 0; j < tile.keys; ++j) {
    most = std::max(most, std::abs(double(row[j])));
    all += std::abs(double(row[j]));
  }
  std::string out = "<div class=\"read\"><b>" + escaped(tile.title) + "</b> ";
  for (Index j = 0; j < tile.keys; ++j) {
    const std::string name = escaped(layer.key_names[std::size_t(j)]);
    const double weight = double(row[j]), size = std::abs(weight);
    if (!(size > least_share * all)) {
      out += name;
      continue;
    }
    out += std::string("<span class=\"key ") + (weight < 0 ? "c1" : "c0") + "\" style=\"--w:" +
           format_fixed(least_shade + (most_shade - least_shade) * size / most, 2) + "\" title=\"" +
           core::message_of("token ", j + 1, ": ", format_fixed(weight, 3)) + "\">" + name +
           "</span>";
  }
  return out + "</div>\n";
}

std::string layer_part(const ShownRun& run, const ShownLayer& layer) {
  std::set<std::string> kinds;
  for (const ShownHead& head : layer.heads) kinds.insert(head.attention);
  std::string names;
  for (const std::string& kind : kinds) names += (names.empty() ? "" : ", ") + kind;
  std::string title = layer.title;
  title[0] = char(std::toupper(static_cast<unsigned char>(title[0])));
  std::string out =
      "<h2>" + escaped(title) + ": " + escaped(names) + "</h2>\n<div class=\"tiles\">\n";
  for (std::size_t h = 0; h < layer.heads.size(); ++h) {
    const ShownHead& head = layer.heads[h];
    out += "<figure class=\"head\">" + draw(head.tile) + "<figcaption>" + escaped(caption(head)) +
           "</figcaption></figure>\n";
  }
  const Index query = query_of(run, layer);
  const std::string& name = layer.query_names[std::size_t(query)];
  out += "</div>\n<details" + std::string(run.layers.size() <= 6 ? " open=\"open\"" : "") +
         "><summary>What token " + std::to_string(query + 1) +
         (name == "·" ? "" : ", “" + escaped(name) + "”,") + " reads</summary>\n";
  for (const ShownHead& head : layer.heads) out += read_keys(layer, head, query);
  return out + "</details>\n";
}

std::string legend(const ShownRun& run) {
  bool groups = false, edges = false, negative = false;
  for (const ShownLayer& layer : run.layers)
    for (const ShownHead& head : layer.heads) {
      groups |= !head.groups.empty();
      edges |= head.tile.has_edge();
      negative |= std::ranges::any_of(head.tile.weights, [](float w) { return w < 0; });
    }
  std::string text =
      "Each square is a head: a row for each query, from the first at the top, and a column for "
      "each key. The stronger the colour, the more is read; what is blank is not read at all.";
  if (negative) text += " Weights below 0 have the second colour.";
  if (groups)
    text +=
        " The strips along a square are the groups of keys and of queries, a line for each round; "
        "tokens of one colour may read each other.";
  if (edges) text += " The line is the span: a head reads keys to its right.";
  return html_paragraph(text);
}

std::string sequence_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += name;
  constexpr std::size_t longest = 3000;
  return "<pre>" + escaped_lines(shortened(text, longest)) + "</pre>\n";
}

}  // namespace

Table reading_table(const ShownRun& run) {
  Table table{"", {"layer", "head", "attention", "keys read", "distance", "sum"}, {}, {}};
  bool spans = false, groups = false;
  for (const ShownLayer& layer : run.layers)
    for (const ShownHead& head : layer.heads) {
      spans |= std::isfinite(head.tile.span);
      groups |= !head.groups.empty();
    }
  if (spans) table.header.push_back("span");
  if (groups) table.header.push_back("groups");
  for (const ShownLayer& layer : run.layers)
    for (const ShownHead& head : layer.heads) {
      table.rows.push_back({layer.title, head.tile.title, head.attention,
                            format_fixed(head.keys, 1), format_fixed(head.distance, 1),
                            format_fixed(head.sum, 2)});
      if (spans) table.rows.back().push_back(span_text(head.tile));
      if (groups) table.rows.back().push_back(head.groups);
    }
  return table;
}

std::string reading_text(const ShownRun& run) {
  constexpr Index columns = 24;
  constexpr std::size_t abreast = 3, most = 12;
  std::string out;
  std::size_t shown = 0, all = 0;
  for (const ShownLayer& layer : run.layers) {
    all += layer.heads.size();
    for (std::size_t h = 0; h < layer.heads.size() && shown < most;) {
      std::vector<std::vector<std::string>> lines(1);
      for (std::size_t i = 0; i < abreast && h < layer.heads.size() && shown < most; ++i) {
        const ShownHead& head = layer.heads[h++];
        ++shown;
        std::istringstream rows(layer.title + ", " + head.tile.title + '\n' +
                                block_text(head.tile, columns));
        std::string row;
        for (std::size_t at = 0; std::getline(rows, row); ++at) {
          if (at == lines.size()) lines.emplace_back();
          lines[at].resize(i);
          lines[at].push_back(row);
        }
      }
      out += '\n' + format_columns(lines, 40);
    }
  }
  if (shown < all)
    out += "\nand " + format_number_of(double(all - shown), "more head") +
           ": -o page.html draws them all\n";
  return out;
}

std::string show_page(const ShownRun& run) {
  std::size_t heads = 0;
  for (const ShownLayer& layer : run.layers) heads += layer.heads.size();
  std::string out = "<h1>What " + escaped(run.name) +
                    " reads</h1>\n<div class=\"facts\"><span>step <b>" + std::to_string(run.step) +
                    "</b></span><span><b>" + std::to_string(run.sequence.inputs.size()) +
                    "</b> tokens</span><span><b>" + std::to_string(heads) +
                    "</b> heads</span><span>" + escaped(run.sequence.origin) + "</span></div>\n";
  if (run.sequence.left_out > 0)
    out += html_paragraph(format_number_of(double(run.sequence.left_out), "token") +
                          " behind these were left out.");
  out += legend(run);
  if (!run.sequence.sources.empty()) out += sequence_text(run.sequence.sources);
  out += sequence_text(run.sequence.inputs);
  for (const ShownLayer& layer : run.layers) out += layer_part(run, layer);
  out += "<details><summary>Every head in numbers</summary>\n" + html_table(reading_table(run)) +
         "</details>\n";
  return html_page("What " + run.name + " reads", out);
}

std::string show_picture(const ShownRun& run) {
  std::size_t columns = 0;
  for (const ShownLayer& layer : run.layers) columns = std::max(columns, layer.heads.size());
  std::vector<WeightTile> tiles;
  std::vector<std::string> rows;
  for (const ShownLayer& layer : run.layers) {
    rows.push_back(layer.title);
    for (const ShownHead& head : layer.heads) tiles.push_back(head.tile);
    tiles.resize(rows.size() * columns);
  }
  return svg_file(tiles, columns, rows);
}

}  // namespace weft::experiments
