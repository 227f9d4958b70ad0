#include "experiments/console/live_text.h"

#include <ostream>
#include <utility>

namespace weft::experiments {

void LiveText::message(std::string_view text) {
  erase();
  out_ << text << '\n';
  draw();
}

void LiveText::show(std::vector<std::string> lines) {
  if (!is_live()) return;
  erase();
  lines_ = std::move(lines);
  draw();
}

void LiveText::leave() {
  lines_.clear();
  drawn_ = 0;
}

void LiveText::erase() {
  if (drawn_ > 0) out_ << "\033[" << drawn_ << "A\r\033[J";
  drawn_ = 0;
}

void LiveText::draw() {
  for (const std::string& line : lines_) out_ << line.substr(0, std::size_t(columns_ - 1)) << '\n';
  drawn_ = lines_.size();
  out_ << std::flush;
}

}  // namespace weft::experiments
