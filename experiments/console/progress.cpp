#include "experiments/console/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ostream>

#include "experiments/console/number_text.h"

namespace weft::experiments {
namespace {

constexpr double live_seconds = 0.1;  // between two drawings of the live line

/// 1.0e-3 rather than 1.0e-03.
std::string short_exponent(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1e", value);
  std::string shown = text;
  const std::size_t sign = shown.find('e') + 1;
  if (sign + 2 < shown.size() && shown[sign + 1] == '0') shown.erase(sign + 1, 1);
  return shown;
}

std::string printable(std::string_view text) {
  std::string clean(text);
  std::ranges::replace_if(
      clean, [](unsigned char c) { return (c < 32 && c != '\n' && c != '\t') || c == 127; }, '.');
  return clean;
}

}  // namespace

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int terminal_columns(int descriptor) {
  const char* kind = std::getenv("TERM");
  if (!::isatty(descriptor) || (kind && std::string_view(kind) == "dumb")) return 0;
  winsize size{};
  const bool known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

Progress::Progress(std::ostream& out, Settings settings)
    : out_(out), settings_(std::move(settings)), live_(out, settings_.columns) {}

Progress::~Progress() { finish(); }

std::string Progress::text_of(const Line& line, double now) const {
  const double used = line.done - first_done_;
  const double eta = used > 0 ? (now - first_time_) * (1 - line.done) / used
                              : std::numeric_limits<double>::quiet_NaN();
  const std::string total = std::to_string(line.steps);
  const std::string step = std::to_string(line.step);
  std::string text = "step ";
  if (line.steps > 0)
    text +=
        std::string(total.size() - std::min(total.size(), step.size()), ' ') + step + '/' + total;
  else
    text += step;
  text += "  " + format_fixed(100 * line.done, 1) + "%  loss " + format_fixed(line.loss, 3);
  if (line.validation)
    text += "  val " + format_fixed(*line.validation, 3) + (line.best ? "*" : "");
  return text + "  lr " + short_exponent(line.lr) + "  " + format_count(line.tokens_per_s) +
         " tok/s  ETA " + format_duration(eta);
}

bool Progress::plain_line_is_due(const Line& line, double now) const {
  const bool counted = settings_.every_steps > 0 && line.step % settings_.every_steps == 0;
  return first_ || counted || now - plain_time_ >= settings_.every_seconds;
}

void Progress::update(const Line& line) {
  const double now = settings_.clock();
  if (first_) first_time_ = now, first_done_ = line.done;
  line_ = line;
  shown_ = logged_ = false;
  const bool plain = plain_line_is_due(line, now);
  if (live_.is_live() ? first_ || now - live_time_ >= live_seconds : plain) show(now);
  if (plain) log(now);
  first_ = false;
}

void Progress::show(double now) {
  const std::string text = text_of(*line_, now);
  if (live_.is_live())
    live_.show({text});
  else
    out_ << text << std::endl;
  shown_ = true;
  live_time_ = now;
}

void Progress::log(double now) {
  if (settings_.log) *settings_.log << text_of(*line_, now) << std::endl;
  logged_ = true;
  plain_time_ = now;
}

void Progress::message(std::string_view text) {
  const std::string shown = printable(text);
  live_.message(shown);
  if (settings_.log) *settings_.log << shown << std::endl;
}

void Progress::finish() {
  const double now = settings_.clock();
  if (!shown_) show(now);
  if (!logged_) log(now);
  live_.leave();
}

}  // namespace weft::experiments
