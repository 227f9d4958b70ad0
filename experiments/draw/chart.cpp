#include "experiments/draw/chart.h"

#include <algorithm>
#include <cmath>

#include "experiments/console/number_text.h"
#include "experiments/draw/chart_labels.h"
#include "experiments/draw/markup.h"

namespace weft::experiments {
namespace {

constexpr double width = 440, height = 300;
constexpr double top = 14, bottom = 48, plot_height = height - top - bottom;
constexpr double digit_width = 7;  // of a tick's text
constexpr int y_ticks = 5;
constexpr double least_margin = 22;
constexpr double point = 5;               // radius of marks that no line joins
constexpr std::size_t longest_name = 25;  // letters next to a line
constexpr std::size_t many_marks = 60;    // of a series: its line alone is easier to read

std::string number(double value) { return format_fixed(value, 1); }

bool positive_or_linear(double value, Axis::Scale scale) {
  return std::isfinite(value) && (scale == Axis::Scale::linear || value > 0);
}

bool is_drawn(const Chart& chart, const ChartMark& mark) {
  return positive_or_linear(mark.x, chart.x_scale) && positive_or_linear(mark.y, chart.y_scale);
}

double below(const Chart& chart, const ChartMark& mark) {
  return std::min(mark.y, std::max(mark.y - mark.deviation, chart.least));
}
double above(const Chart& chart, const ChartMark& mark) {
  return std::max(mark.y, std::min(mark.y + mark.deviation, chart.most));
}

Axis axis_of(const Chart& chart, bool vertical) {
  std::vector<double> values;
  for (const ChartSeries& series : chart.series)
    for (const ChartMark& mark : series.marks) {
      if (!is_drawn(chart, mark)) continue;
      values.push_back(vertical ? mark.y : mark.x);
      if (vertical && std::isfinite(mark.deviation)) {
        values.push_back(below(chart, mark));
        values.push_back(above(chart, mark));
      }
    }
  if (vertical)
    for (const Chart::Level& level : chart.levels) values.push_back(level.y);
  Axis axis(vertical ? chart.y_scale : chart.x_scale, values);
  if (vertical) axis.end_at(chart.least, chart.most);
  return axis;
}

/// Room on the left for the labels of ticks and the title.
double left_of(const Axis& axis) {
  std::size_t letters = 0;
  for (const Axis::Tick& tick : axis.ticks(y_ticks))
    letters = std::max(letters, letters_of(tick.text));
  return 30 + digit_width * double(letters);
}

/// Room to the right for the names of lines and levels.
double margin_of(const Chart& chart) {
  double widest = 0;
  const auto count = [&](const std::string& name) {
    widest = std::max(widest, name_width(shortened(name, longest_name)));
  };
  for (const Chart::Level& level : chart.levels) count(level.name);
  for (const ChartSeries& series : chart.series)
    if (chart.joined && !series.marks.empty()) count(series.name);
  return std::max(least_margin, widest == 0 ? 0 : 16 + widest);
}

/// Draws one chart; the members are where things are.
class Drawing {
 public:
  Drawing(const Chart& chart, Medium medium)
      : chart_(chart),
        medium_(medium),
        x_axis_(axis_of(chart, false)),
        y_axis_(axis_of(chart, true)),
        left_(left_of(y_axis_)),
        right_(width - margin_of(chart)) {}

  std::string svg() {
    out_ = "<svg" + paint(medium_, "chart") + " xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"" +
           " viewBox=\"0 0 " + number(width) + " " + number(height) + "\" aria-label=\"" +
           escaped(chart_.title) + "\"";
    if (medium_ == Medium::file)
      out_ += " width=\"" + number(width) + "\" height=\"" + number(height) + "\" font-family=\"" +
              file_font + "\" font-size=\"12px\"";
    out_ += ">\n";
    if (medium_ == Medium::file)
      out_ += "<rect" + paint(medium_, "ground") + " width=\"100%\" height=\"100%\"/>\n";
    axes();
    place_end_labels();
    for (std::size_t i = 0; i < chart_.levels.size(); ++i) draw_level(i);
    draw_front();
    for (std::size_t i = 0; i < chart_.series.size(); ++i) draw_series(i);
    return out_ + "</svg>\n";
  }

 private:
  double x(double value) const { return left_ + (right_ - left_) * x_axis_.place(value); }
  double y(double value) const {
    const double place = y_axis_.place(value);
    return top + plot_height * (chart_.y_falls ? place : 1 - place);
  }
  double bounded_y(double value) const {
    return positive_or_linear(value, chart_.y_scale) ? std::clamp(y(value), top, top + plot_height)
                                                     : top + plot_height;
  }

  void line(const char* kind, double x1, double y1, double x2, double y2, std::size_t colour = 0) {
    out_ += "<line" + paint(medium_, kind, colour) + " x1=\"" + number(x1) + "\" y1=\"" +
            number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) + "\"/>\n";
  }

  void text(const char* kind, double at_x, double at_y, const std::string& words,
            const std::string& more = "", std::size_t colour = 0) {
    out_ += "<text" + paint(medium_, kind, colour) + " x=\"" + number(at_x) + "\" y=\"" +
            number(at_y) + "\"" + more + ">" + escaped(words) + "</text>\n";
  }

  void axes() {
    for (const Axis::Tick& tick : y_axis_.ticks(y_ticks)) {
      line("grid", left_, y(tick.value), right_, y(tick.value));
      text("tick", left_ - 7, y(tick.value) + 4, tick.text, " text-anchor=\"end\"");
    }
    const double ground = top + plot_height;
    const int wanted = right_ - left_ > 280 ? 6 : 4;
    for (const Axis::Tick& tick :
         chart_.x_ticks.empty() ? x_axis_.ticks(wanted, chart_.x_whole) : chart_.x_ticks) {
      line("notch", x(tick.value), ground, x(tick.value), ground + 4);
      text("tick", x(tick.value), ground + 17, tick.text, " text-anchor=\"middle\"");
    }
    line("axis", left_, ground, right_, ground);
    text("name", (left_ + right_) / 2, height - 9, chart_.x_title, " text-anchor=\"middle\"");
    const std::string turned = " text-anchor=\"middle\" transform=\"rotate(-90 13 " +
                               number(top + plot_height / 2) + ")\"";
    text("name", 13, top + plot_height / 2, chart_.y_title, turned);
  }

  void draw_level(std::size_t i) {
    const Chart::Level& level = chart_.levels[i];
    line("level", left_, y(level.y), right_ + 4, y(level.y));
    text("tick", right_ + 12, level_at_[i] + 4, level.name);
  }

  void draw_front() {
    if (chart_.front.size() < 2) return;
    out_ += "<polyline" + paint(medium_, "front") + " points=\"" + path_of(chart_.front) + "\"/>\n";
  }

  std::string path_of(const std::vector<ChartMark>& marks) const {
    std::string points;
    for (const ChartMark& mark : marks)
      if (is_drawn(chart_, mark)) points += number(x(mark.x)) + "," + number(y(mark.y)) + " ";
    return points;
  }

  /// Names of lines and levels are to the right of their ends, where no line crosses them.
  void place_end_labels() {
    std::vector<double> places;
    for (const Chart::Level& level : chart_.levels) places.push_back(y(level.y));
    for (std::size_t i = 0; i < chart_.series.size(); ++i) {
      const bool named = chart_.joined && !chart_.series[i].name.empty();
      const ChartMark* const last = named ? last_of(i) : nullptr;
      places.push_back(last ? y(last->y) : std::numeric_limits<double>::quiet_NaN());
    }
    push_apart(places, top, top + plot_height + 8);
    const auto levels = places.begin() + std::ptrdiff_t(chart_.levels.size());
    level_at_.assign(places.begin(), levels);
    label_at_.assign(levels, places.end());
  }

  const ChartMark* last_of(std::size_t i) const {
    const ChartMark* last = nullptr;
    for (const ChartMark& mark : chart_.series[i].marks)
      if (is_drawn(chart_, mark)) last = &mark;
    return last;
  }

  void draw_series(std::size_t i) {
    const ChartSeries& series = chart_.series[i];
    out_ += "<g class=\"series c" + std::to_string(series.colour % series_colours) + "\">\n";
    if (chart_.joined) {
      draw_band(series);
      out_ += "<polyline" + paint(medium_, "line", series.colour) +
              (series.colour >= series_colours ? " stroke-dasharray=\"5 3\"" : "") + " points=\"" +
              path_of(series.marks) + "\"/>\n";
    }
    for (const ChartMark& mark : series.marks)
      if (is_drawn(chart_, mark)) draw_mark(series, mark);
    if (const ChartMark* last = last_of(i)) draw_name(i, *last);
    out_ += "</g>\n";
  }

  void draw_name(std::size_t i, const ChartMark& last) {
    const ChartSeries& series = chart_.series[i];
    if (series.name.empty()) return;
    if (chart_.joined) {
      line("lead", x(last.x) + 4, y(last.y), right_ + 9, label_at_[i], series.colour);
      text("label", right_ + 12, label_at_[i] + 4, shortened(series.name, longest_name), "",
           series.colour);
    } else {
      const std::string name = shortened(series.name, longest_name);
      const LabelBox box = beside_.place(name, x(last.x), y(last.y), point, left_, width);
      text("label", box.x, box.y, name, "", series.colour);
    }
  }

  void draw_band(const ChartSeries& series) {
    std::string edge;  // above from left to right, then below and back
    const auto add = [&](const ChartMark& mark, double (*end)(const Chart&, const ChartMark&)) {
      if (is_drawn(chart_, mark) && std::isfinite(mark.deviation))
        edge += number(x(mark.x)) + "," + number(bounded_y(end(chart_, mark))) + " ";
    };
    for (const ChartMark& mark : series.marks) add(mark, above);
    for (auto mark = series.marks.rbegin(); mark != series.marks.rend(); ++mark) add(*mark, below);
    if (!edge.empty())
      out_ += "<polygon" + paint(medium_, "band", series.colour) + " points=\"" + edge + "\"/>\n";
  }

  void draw_mark(const ChartSeries& series, const ChartMark& mark) {
    const bool many = series.marks.size() > many_marks;
    const double at_x = x(mark.x), at_y = y(mark.y);
    const double r = !chart_.joined ? point : many ? 1.3 : 2.6;
    if (!chart_.joined && std::isfinite(mark.deviation))
      line("bar", at_x, bounded_y(below(chart_, mark)), at_x, bounded_y(above(chart_, mark)),
           series.colour);
    out_ += "<path" + paint(medium_, "mark", series.colour) +
            (many && chart_.joined ? " style=\"stroke:none\"" : "") + " d=\"" +
            shape(series.colour, at_x, at_y, r) + "\"><title>" +
            escaped(mark.title.empty() ? series.name : mark.title) + "</title></path>\n";
  }

  /// Shapes distinguish series where colours do not.
  static std::string shape(std::size_t colour, double x, double y, double r) {
    const auto at = [](const char* step, double px, double py) {
      return step + number(px) + " " + number(py);
    };
    switch (colour % 4) {
      case 0:
        return at("M", x - r, y) + at("a", r, r) + at(" 0 1 0 ", 2 * r, 0) + at("a", r, r) +
               at(" 0 1 0 ", -2 * r, 0) + "z";
      case 1:
        return at("M", x - r, y - r) + at("l", 2 * r, 0) + at("l", 0, 2 * r) + at("l", -2 * r, 0) +
               "z";
      case 2:
        return at("M", x, y - 1.3 * r) + at("L", x + 1.3 * r, y) + at("L", x, y + 1.3 * r) +
               at("L", x - 1.3 * r, y) + "z";
      default:
        return at("M", x, y - 1.3 * r) + at("L", x + 1.2 * r, y + r) + at("L", x - 1.2 * r, y + r) +
               "z";
    }
  }

  const Chart& chart_;
  Medium medium_;
  Axis x_axis_, y_axis_;
  double left_, right_;
  std::vector<double> level_at_, label_at_;
  PlacedLabels beside_;
  std::string out_;
};

}  // namespace

std::size_t Chart::drawn_marks() const {
  std::size_t count = 0;
  for (const ChartSeries& one : series)
    for (const ChartMark& mark : one.marks) count += is_drawn(*this, mark);
  return count;
}

std::string draw(const Chart& chart) { return Drawing(chart, Medium::page).svg(); }

std::string svg_file(const Chart& chart) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + Drawing(chart, Medium::file).svg();
}

}  // namespace weft::experiments
