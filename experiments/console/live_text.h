#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace weft::experiments {

/// Lines at the foot of a terminal that are drawn anew in place, with messages above them. A file
/// gets the messages alone and never a control character.
class LiveText {
 public:
  /// `columns` of the terminal; 0: there is none.
  LiveText(std::ostream& out, int columns) : out_(out), columns_(columns) {}
  LiveText(const LiveText&) = delete;
  LiveText& operator=(const LiveText&) = delete;

  bool is_live() const { return columns_ > 0; }
  void message(std::string_view text);
  /// Replaces the live lines, each cut to the width; does nothing where there is no terminal.
  void show(std::vector<std::string> lines);
  /// Leaves the live lines as they are; what follows comes below them.
  void leave();

 private:
  void erase();
  void draw();

  std::ostream& out_;
  int columns_;
  std::vector<std::string> lines_;
  std::size_t drawn_ = 0;
};

}  // namespace weft::experiments
