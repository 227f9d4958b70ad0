#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace weft::experiments {

/// Lines at the foot of a terminal that are redrawn in place, with messages above them. A file
/// gets the messages alone and never a control character.
class LiveText {
 public:
  /// `columns` of the terminal at the moment, which may change; 0 at the start: there is none.
  LiveText(std::ostream& out, std::function<int()> columns);
  LiveText(std::ostream& out, int columns) : LiveText(out, [columns] { return columns; }) {}
  LiveText(const LiveText&) = delete;
  LiveText& operator=(const LiveText&) = delete;

  bool is_live() const { return live_; }
  void message(std::string_view text);
  /// Replaces the live lines, each cut to the width; does nothing where there is no terminal.
  void show(std::vector<std::string> lines);
  /// Leaves the live lines as they are; what follows comes below them.
  void leave();

 private:
  void erase();
  void draw();

  std::ostream& out_;
  std::function<int()> columns_;
  bool live_;
  std::vector<std::string> lines_;
  std::vector<std::size_t> drawn_;  ///< the length of each line on the screen
};

}  // namespace weft::experiments
