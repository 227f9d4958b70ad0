#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <vector>

#include "data/tokens/token_runs.h"

namespace weft::data {

/// Runs in files, so that memory does not depend on how long they are. The files have no names:
/// they are gone when this object or the process is.
class TokenFiles final : public TokenRuns {
 public:
  /// In the folder of `path`.
  explicit TokenFiles(std::filesystem::path path) : path_(std::move(path)) {}
  ~TokenFiles() override;
  TokenFiles(const TokenFiles&) = delete;
  TokenFiles& operator=(const TokenFiles&) = delete;

  void begin(Index vocabulary, Index least) override;

  Index width() const { return width_; }
  /// How many different tokens there are.
  Index different() const;
  /// Calls take(bytes) for all tokens as they are stored, in several pieces.
  void read(const std::function<void(std::span<const std::byte>)>& take);

 private:
  struct Run {
    int file = -1;
    PackedTokens last;  ///< not yet written
  };

  void store(Split split, std::span<const Token> tokens) override;
  void write(Run& run);
  [[noreturn]] void refuse(int error) const;

  std::filesystem::path path_;
  Index width_ = 1;
  std::vector<Run> runs_;
  std::vector<bool> seen_;
};

}  // namespace weft::data
