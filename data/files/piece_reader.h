#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/real.h"

namespace weft::data {

using core::Index;

/// A file that tokens came from.
struct TextOrigin {
  std::string name;  ///< without its folder
  Index bytes = 0;   ///< of the text, unpacked
  std::string fingerprint;
};

/// Reads files piece by piece, once or several times, and reports how far it has come.
class PieceReader {
 public:
  using Progress = std::function<void(double)>;
  /// Gets a piece and the byte of the text where it begins.
  using Take = std::function<void(std::string_view, Index)>;

  /// `progress` gets the share that is done where each of the files is read `passes` times.
  explicit PieceReader(const std::vector<std::string>& paths, int passes = 1,
                       Progress progress = {});

  /// The whole of a file, unpacked where it is compressed; a file that is empty, or not what it was
  /// when it was read before, is an Error (Fault::data).
  TextOrigin read(const std::string& path, const Take& take);

  /// Bytes of those of the files that are not compressed.
  Index plain_bytes() const { return plain_; }

 private:
  void check_unchanged(const std::string& path, const TextOrigin& origin);

  Progress progress_;
  Index plain_ = 0;
  double all_ = 0, before_ = 0;  ///< bytes of all files in all passes, and of those read
  std::map<std::string, std::string> fingerprints_;
};

}  // namespace weft::data
