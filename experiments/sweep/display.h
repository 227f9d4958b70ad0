#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace weft::experiments {

/// What a sweep shows. On a terminal a table that is drawn anew in place, with messages above it;
/// in a file the messages alone and never a control character.
class SweepDisplay {
 public:
  /// `columns` of the terminal; 0: none.
  SweepDisplay(std::ostream& out, int columns) : out_(out), columns_(columns) {}
  SweepDisplay(const SweepDisplay&) = delete;
  SweepDisplay& operator=(const SweepDisplay&) = delete;

  bool is_live() const { return columns_ > 0; }
  void message(const std::string& text);
  /// Replaces the table; shows nothing where there is no terminal.
  void show(std::vector<std::string> lines);

 private:
  void erase();
  void draw();

  std::ostream& out_;
  int columns_;
  std::vector<std::string> lines_;
  std::size_t drawn_ = 0;
};

}  // namespace weft::experiments
