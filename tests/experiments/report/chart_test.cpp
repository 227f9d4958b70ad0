#include "experiments/report/chart.h"

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <cmath>
#include <functional>
#include <sstream>

namespace weft::experiments {
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

TEST(Chart, ticks_stand_at_round_numbers_inside_the_values) {
  const Axis linear(Axis::Scale::linear, {0.0, 1.0});
  const auto ticks = linear.ticks(5);
  ASSERT_EQ(ticks.size(), 3u);
  EXPECT_EQ(ticks[1].text, "0.5");
  const Axis log(Axis::Scale::log, {128.0, 512.0});
  EXPECT_EQ(log.ticks(6).front().text, "128");
  EXPECT_EQ(log.ticks(6).back().text, "512");
  EXPECT_NEAR(log.place(256), 0.5, 1e-12);
  EXPECT_GE(Axis(Axis::Scale::log, {14'000.0, 31'000.0}).ticks(6).size(), 3u);
  EXPECT_EQ(tick_text(12500), "12.5k");
}

}  // namespace
}  // namespace weft::experiments
