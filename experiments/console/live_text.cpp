#include "experiments/console/live_text.h"

#include <algorithm>
#include <ostream>
#include <utility>

namespace weft::experiments {

LiveText::LiveText(std::ostream& out, std::function<int()> columns)
    : out_(out), columns_(std::move(columns)), live_(columns_() > 0) {}

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
  drawn_.clear();
}

/// A terminal that has become narrower shows a line in several rows.
void LiveText::erase() {
  if (drawn_.empty()) return;
  const auto columns = std::size_t(std::max(columns_(), 1));
  std::size_t rows = 0;
  for (const std::size_t length : drawn_)
    rows += std::max<std::size_t>(1, (length + columns - 1) / columns);
  out_ << "\033[" << rows << "A\r\033[J";
  drawn_.clear();
}

void LiveText::draw() {
  const auto most = std::size_t(std::max(columns_(), 2) - 1);
  for (const std::string& line : lines_) {
    out_ << line.substr(0, most) << '\n';
    drawn_.push_back(std::min(line.size(), most));
  }
  out_ << std::flush;
}

}  // namespace weft::experiments
