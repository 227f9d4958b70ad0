#include "experiments/draw/chart.h"

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <cmath>
#include <functional>
#include <set>
#include <sstream>

#include "experiments/draw/chart_labels.h"
#include "experiments/draw/markup.h"
#include "experiments/draw/picture_file.h"

namespace weft::experiments::chart_test {
namespace {

using Tree = boost::property_tree::ptree;

/// How many elements of a class a well-formed text holds; throws when it is not well-formed.
int count(const std::string& text, const std::string& kind) {
  std::istringstream stream(text);
  Tree root;
  boost::property_tree::read_xml(stream, root);
  int found = 0;
  const std::function<void(const Tree&)> walk = [&](const Tree& node) {
    found += node.get<std::string>("<xmlattr>.class", "") == kind;
    for (const auto& child : node) walk(child.second);
  };
  walk(root);
  return found;
}

Chart some_chart() {
  return {.title = "a <b> & \"c\"",
          .x_title = "x",
          .y_title = "y",
          .series = {{"one", 0, {{1, 2, 0.5}, {2, 3, 0.5}, {3, NAN}}}, {"two <&>", 11, {{1, 5}}}},
          .levels = {{4, "floor"}}};
}

TEST(Chart, every_finite_mark_is_drawn_and_nothing_else) {
  const Chart chart = some_chart();
  EXPECT_EQ(chart.drawn_marks(), 3u);
  EXPECT_EQ(count(draw(chart), "mark"), 3);
  EXPECT_EQ(count(draw(chart), "band"), 1);
  EXPECT_EQ(count(draw(chart), "label"), 2);
  EXPECT_EQ(count(draw(chart), "level"), 1);
  EXPECT_EQ(draw(chart).find("nan"), std::string::npos);
}

TEST(Chart, points_of_a_series_share_one_name) {
  Chart chart = some_chart();
  chart.joined = false;
  EXPECT_EQ(count(draw(chart), "mark"), 3);
  EXPECT_EQ(count(draw(chart), "label"), 2);
}

TEST(Chart, a_log_scale_leaves_out_what_it_cannot_show) {
  Chart chart = some_chart();
  chart.joined = false;
  chart.x_scale = Axis::Scale::log;
  chart.series[0].marks[0].x = 0;
  EXPECT_EQ(count(draw(chart), "mark"), 2);
}

TEST(Chart, a_file_of_its_own_is_whole) {
  EXPECT_EQ(count(svg_file(some_chart()), "mark"), 3);
  EXPECT_EQ(count(draw(Chart{.title = "", .x_title = "", .y_title = "", .series = {}}), "mark"), 0);
}

TEST(Chart, a_file_carries_every_colour_as_an_attribute_and_a_page_none) {
  const std::string file = svg_file(some_chart()), page = draw(some_chart());
  for (const char* const needs_css : {"var(", "<style", "currentColor"})
    EXPECT_EQ(file.find(needs_css), std::string::npos) << needs_css;
  EXPECT_NE(file.find("stroke=\"" + light_colour("c0") + "\""), std::string::npos);
  EXPECT_NE(file.find("fill=\"" + light_colour("c1") + "\""), std::string::npos);
  EXPECT_NE(file.find("width=\"440"), std::string::npos);
  EXPECT_EQ(page.find("fill=\"#"), std::string::npos);
  EXPECT_NE(picture_style().find("prefers-color-scheme:dark"), std::string::npos);
}

TEST(Chart, a_band_ends_where_values_end) {
  Chart chart = some_chart();
  chart.levels = {{-9, "below"}, {9, "above"}};
  chart.series = {{"one", 0, {{1, 2, 5}, {2, 2, 5}}}};
  const auto bottom = [&] {
    const std::string svg = draw(chart);
    const std::size_t from = svg.find("points=", svg.find("class=\"band\"")) + 8;
    double lowest = 0;
    std::istringstream points(svg.substr(from, svg.find('"', from) - from));
    for (std::string pair; points >> pair;)
      lowest = std::max(lowest, std::stod(pair.substr(pair.find(',') + 1)));
    return lowest - std::stod(svg.substr(svg.find(" y1=", svg.find("class=\"axis\"")) + 5));
  };
  const double unbounded = bottom();
  chart.least = 1.9;
  EXPECT_LT(bottom(), unbounded);
  // An axis of what cannot be negative has no negative tick.
  chart = {.title = "",
           .x_title = "",
           .y_title = "",
           .series = {{"a", 0, {{1, 0}, {2, 0}}}},
           .least = 0};
  EXPECT_EQ(draw(chart).find(">-"), std::string::npos) << draw(chart);
}

TEST(Chart, no_name_is_placed_over_another) {
  std::vector<double> places = {50, 50, 52, NAN, 51};
  push_apart(places, 0, 300);
  std::vector<double> sorted;
  for (const double place : places)
    if (std::isfinite(place)) sorted.push_back(place);
  std::ranges::sort(sorted);
  ASSERT_EQ(sorted.size(), 4u);
  for (std::size_t i = 1; i < sorted.size(); ++i) EXPECT_GE(sorted[i] - sorted[i - 1], 13);
}

TEST(Chart, the_name_of_a_level_is_beside_the_curves_not_among_them) {
  const std::string svg = draw(some_chart());
  const std::size_t axis = svg.find(" x2=", svg.find("class=\"axis\""));
  const std::size_t name = svg.rfind("<text", svg.find(">floor<"));
  EXPECT_GT(std::stod(svg.substr(svg.find(" x=", name) + 4)), std::stod(svg.substr(axis + 5)));
}

TEST(Chart, the_name_of_a_line_ends_inside_the_picture_whatever_its_letters) {
  constexpr double picture = 440, widest = 12.5, bold = 8.2;  // of letters in bold, 12 pixels
  for (const auto& [name, letter] : {std::pair{"mmmmmmmm", widest}, {"aaaaaaaaaaaa", bold}}) {
    Chart chart = some_chart();
    chart.series = {{name, 0, {{1, 2}, {2, 3}}}};
    const std::string svg = draw(chart);
    const std::size_t text = svg.rfind("<text", svg.find(std::string(">") + name));
    const double begin = std::stod(svg.substr(svg.find(" x=", text) + 4));
    EXPECT_LE(begin + letter * double(std::string(name).size()), picture) << name;
  }
}

TEST(Chart, ticks_differ_from_each_other_at_any_scale) {
  for (const double middle : {0.0, 43.12, 1e-4, 12'000.0, 3e6})
    for (const double spread : {1e-3, 0.02, 0.9}) {
      const Axis axis(Axis::Scale::linear, {middle - spread * middle, middle, middle + 1e-9});
      std::set<std::string> texts;
      for (const Axis::Tick& tick : axis.ticks(6)) texts.insert(tick.text);
      EXPECT_EQ(texts.size(), axis.ticks(6).size()) << middle << " " << spread;
      EXPECT_GE(texts.size(), 2u) << middle << " " << spread;
    }
  for (const Axis::Tick& tick : Axis(Axis::Scale::linear, {0.0, 1.0, 2.0}).ticks(6, true))
    EXPECT_EQ(tick.value, std::round(tick.value));
}

TEST(Picture, pdf_and_png_come_from_librsvg_or_say_how_to_get_it) {
  try {
    EXPECT_TRUE(convert_picture(svg_file(some_chart()), "pdf").starts_with("%PDF"));
    EXPECT_TRUE(convert_picture(svg_file(some_chart()), "png").starts_with("\x89PNG"));
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("librsvg"), std::string::npos) << error.what();
  }
}

TEST(Markup, is_escaped_whatever_the_bytes) {
  EXPECT_EQ(escaped("<a href=\"x\">&\n"), "&lt;a href=&quot;x&quot;&gt;&amp; ");
  EXPECT_EQ(escaped("\xffé\xc3"), "\xEF\xBF\xBDé\xEF\xBF\xBD");
  EXPECT_EQ(escaped_lines("a\n<"), "a\n&lt;");
  EXPECT_EQ(shortened("größe", 3), "gr…");
  EXPECT_EQ(shortened("größe", 5), "größe");
}

TEST(Chart, ticks_stand_at_round_numbers_inside_the_values) {
  const Axis linear(Axis::Scale::linear, {0.0, 1.0});
  const auto ticks = linear.ticks(5);
  ASSERT_EQ(ticks.size(), 3u);
  EXPECT_EQ(ticks[1].text, "0.5");
  const Axis log(Axis::Scale::log, {128.0, 512.0});
  EXPECT_EQ(log.ticks(6).front().text, "128");
  EXPECT_EQ(log.ticks(6).back().text, "512");
  const Axis speeds(Axis::Scale::log, {14'000.0, 150'000.0});
  EXPECT_EQ(speeds.ticks(6).front().text, "20k");
  EXPECT_EQ(speeds.ticks(6).back().text, "100k");
  EXPECT_NEAR(log.place(256), 0.5, 1e-12);
  EXPECT_GE(Axis(Axis::Scale::log, {14'000.0, 31'000.0}).ticks(6).size(), 3u);
  EXPECT_EQ(tick_text(12500), "12.5k");
}

}  // namespace
}  // namespace weft::experiments::chart_test
