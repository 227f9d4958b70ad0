#include "experiments/report/chart.h"

#include <algorithm>
#include <cmath>

#include "experiments/console/number_text.h"

namespace weft::experiments {
namespace {

constexpr double width = 560, height = 340;
constexpr double left = 62, right = 128, top = 16, bottom = 50;
constexpr double plot_width = width - left - right, plot_height = height - top - bottom;
constexpr double line_height = 13, letter = 6.3;
constexpr double point = 5;  // radius of marks that no line joins
constexpr std::size_t colours = 10;

std::string number(double value) { return format_fixed(value, 1); }

bool positive_or_linear(double value, Axis::Scale scale) {
  return std::isfinite(value) && (scale == Axis::Scale::linear || value > 0);
}

bool is_drawn(const Chart& chart, const ChartMark& mark) {
  return positive_or_linear(mark.x, chart.x_scale) && positive_or_linear(mark.y, chart.y_scale);
}

Axis axis_of(const Chart& chart, bool vertical) {
  std::vector<double> values;
  for (const ChartSeries& series : chart.series)
    for (const ChartMark& mark : series.marks) {
      if (!is_drawn(chart, mark)) continue;
      values.push_back(vertical ? mark.y : mark.x);
      if (vertical && std::isfinite(mark.deviation)) {
        values.push_back(mark.y - mark.deviation);
        values.push_back(mark.y + mark.deviation);
      }
    }
  if (vertical)
    for (const Chart::Level& level : chart.levels) values.push_back(level.y);
  return {vertical ? chart.y_scale : chart.x_scale, values};
}

struct Box {
  double x, y, w;

  bool meets(const Box& other) const {
    return x < other.x + other.w && other.x < x + w && std::abs(y - other.y) < line_height;
  }
};

/// Draws one chart; the members are where things are.
class Drawing {
 public:
  explicit Drawing(const Chart& chart)
      : chart_(chart), x_axis_(axis_of(chart, false)), y_axis_(axis_of(chart, true)) {}

  std::string svg() {
    out_ = "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 " +
           number(width) + " " + number(height) + "\" aria-label=\"" + escaped(chart_.title) +
           "\">\n";
    axes();
    for (const Chart::Level& level : chart_.levels) draw_level(level);
    draw_front();
    place_end_labels();
    for (std::size_t i = 0; i < chart_.series.size(); ++i) draw_series(i);
    return out_ + "</svg>\n";
  }

 private:
  double x(double value) const { return left + plot_width * x_axis_.place(value); }
  double y(double value) const {
    const double place = y_axis_.place(value);
    return top + plot_height * (chart_.y_falls ? place : 1 - place);
  }
  double bounded_y(double value) const {
    return positive_or_linear(value, chart_.y_scale) ? std::clamp(y(value), top, top + plot_height)
                                                     : top + plot_height;
  }

  void line(const char* kind, double x1, double y1, double x2, double y2) {
    out_ += std::string("<line class=\"") + kind + "\" x1=\"" + number(x1) + "\" y1=\"" +
            number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) + "\"/>\n";
  }

  void text(const char* kind, double at_x, double at_y, const std::string& words,
            const std::string& more = "") {
    out_ += std::string("<text class=\"") + kind + "\" x=\"" + number(at_x) + "\" y=\"" +
            number(at_y) + "\"" + more + ">" + escaped(words) + "</text>\n";
  }

  void axes() {
    for (const Axis::Tick& tick : y_axis_.ticks(5)) {
      line("grid", left, y(tick.value), left + plot_width, y(tick.value));
      text("tick", left - 8, y(tick.value) + 4, tick.text, " text-anchor=\"end\"");
    }
    for (const Axis::Tick& tick : x_axis_.ticks(6)) {
      line("notch", x(tick.value), top + plot_height, x(tick.value), top + plot_height + 4);
      text("tick", x(tick.value), top + plot_height + 17, tick.text, " text-anchor=\"middle\"");
    }
    line("axis", left, top + plot_height, left + plot_width, top + plot_height);
    text("name", left + plot_width / 2, height - 10, chart_.x_title, " text-anchor=\"middle\"");
    const std::string turned = " text-anchor=\"middle\" transform=\"rotate(-90 14 " +
                               number(top + plot_height / 2) + ")\"";
    text("name", 14, top + plot_height / 2, chart_.y_title, turned);
  }

  void draw_level(const Chart::Level& level) {
    line("level", left, y(level.y), left + plot_width, y(level.y));
    text("tick", left + plot_width - 4, y(level.y) - 5, level.name, " text-anchor=\"end\"");
  }

  void draw_front() {
    if (chart_.front.size() < 2) return;
    out_ += "<polyline class=\"front\" points=\"" + path_of(chart_.front) + "\"/>\n";
  }

  std::string path_of(const std::vector<ChartMark>& marks) const {
    std::string points;
    for (const ChartMark& mark : marks)
      if (is_drawn(chart_, mark)) points += number(x(mark.x)) + "," + number(y(mark.y)) + " ";
    return points;
  }

  /// Names of lines stand to the right of their ends, pushed apart where they would overlap.
  void place_end_labels() {
    label_at_.assign(chart_.series.size(), std::numeric_limits<double>::quiet_NaN());
    if (!chart_.joined) return;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < chart_.series.size(); ++i)
      if (const ChartMark* last = last_of(i)) label_at_[i] = y(last->y), order.push_back(i);
    std::ranges::sort(order, {}, [&](std::size_t i) { return label_at_[i]; });
    double lowest = top;
    for (const std::size_t i : order) {
      label_at_[i] = std::max(label_at_[i], lowest);
      lowest = label_at_[i] + line_height;
    }
    double highest = top + plot_height + 8;
    for (auto i = order.rbegin(); i != order.rend(); ++i) {
      label_at_[*i] = std::min(label_at_[*i], highest);
      highest = label_at_[*i] - line_height;
    }
  }

  const ChartMark* last_of(std::size_t i) const {
    const ChartMark* last = nullptr;
    for (const ChartMark& mark : chart_.series[i].marks)
      if (is_drawn(chart_, mark)) last = &mark;
    return last;
  }

  void draw_series(std::size_t i) {
    const ChartSeries& series = chart_.series[i];
    out_ += "<g class=\"series c" + std::to_string(series.colour % colours) + "\">\n";
    if (chart_.joined) {
      draw_band(series);
      out_ += std::string("<polyline class=\"line\"") +
              (series.colour >= colours ? " stroke-dasharray=\"5 3\"" : "") + " points=\"" +
              path_of(series.marks) + "\"/>\n";
    }
    for (const ChartMark& mark : series.marks)
      if (is_drawn(chart_, mark)) draw_mark(series, mark);
    if (const ChartMark* last = last_of(i)) draw_name(i, *last);
    out_ += "</g>\n";
  }

  void draw_name(std::size_t i, const ChartMark& last) {
    const ChartSeries& series = chart_.series[i];
    if (chart_.joined) {
      line("lead", x(last.x) + 4, y(last.y), left + plot_width + 10, label_at_[i]);
      text("label", left + plot_width + 13, label_at_[i] + 4, series.name);
    } else {
      label_beside(series.name, x(last.x), y(last.y));
    }
  }

  void draw_band(const ChartSeries& series) {
    std::string above, below;
    for (const ChartMark& mark : series.marks) {
      if (!is_drawn(chart_, mark) || !std::isfinite(mark.deviation)) continue;
      above += number(x(mark.x)) + "," + number(bounded_y(mark.y + mark.deviation)) + " ";
      below = number(x(mark.x)) + "," + number(bounded_y(mark.y - mark.deviation)) + " " + below;
    }
    if (!above.empty()) out_ += "<polygon class=\"band\" points=\"" + above + below + "\"/>\n";
  }

  void draw_mark(const ChartSeries& series, const ChartMark& mark) {
    const double at_x = x(mark.x), at_y = y(mark.y), r = chart_.joined ? 2.6 : point;
    if (!chart_.joined && std::isfinite(mark.deviation))
      line("bar", at_x, bounded_y(mark.y - mark.deviation), at_x,
           bounded_y(mark.y + mark.deviation));
    out_ += "<path class=\"mark\" d=\"" + shape(series.colour, at_x, at_y, r) + "\"><title>" +
            escaped(mark.title.empty() ? series.name : mark.title) + "</title></path>\n";
  }

  /// Shapes tell series apart where colours do not.
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

  /// The name of a series' last point on the side where it meets no other name.
  void label_beside(const std::string& name, double at_x, double at_y) {
    const double r = point, w = letter * double(name.size());
    const std::vector<Box> sides = {
        {at_x + r + 4, at_y + 4, w},     {at_x - r - 4 - w, at_y + 4, w},
        {at_x - w / 2, at_y - r - 5, w}, {at_x - w / 2, at_y + r + 13, w},
        {at_x + r + 2, at_y - r - 8, w}, {at_x + r + 2, at_y + r + 14, w}};
    const auto fits = [&](const Box& box) {
      return box.x > left &&
             std::ranges::none_of(names_, [&](const Box& b) { return b.meets(box); });
    };
    const auto free = std::ranges::find_if(sides, fits);
    const Box box = free == sides.end() ? sides.front() : *free;
    names_.push_back(box);
    names_.push_back({at_x - r, at_y + 4, 2 * r});
    text("label", box.x, box.y, name);
  }

  const Chart& chart_;
  Axis x_axis_, y_axis_;
  std::vector<double> label_at_;
  std::vector<Box> names_;
  std::string out_;
};

}  // namespace

std::size_t Chart::drawn_marks() const {
  std::size_t count = 0;
  for (const ChartSeries& one : series)
    for (const ChartMark& mark : one.marks) count += is_drawn(*this, mark);
  return count;
}

std::string draw(const Chart& chart) { return Drawing(chart).svg(); }

std::string svg_file(const Chart& chart) {
  std::string svg = draw(chart);
  svg.insert(svg.find('\n') + 1,
             "<style>" + chart_style() + "svg{background:var(--paper)}</style>\n");
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + svg;
}

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  return safe;
}

}  // namespace weft::experiments
