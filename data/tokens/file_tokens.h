#pragma once

#include <cstddef>
#include <string>

#include "data/tokens/stored_tokens.h"

namespace weft::data {

/// Tokens that stay in a file and are read from it when asked for: `size` integers of 1, 2 (without
/// a sign) or 4 bytes, one after the other from byte `begin` on. They take no memory except
/// for what the system caches of the file. A read that fails, or finds a token outside the
/// vocabulary, is an Error (Fault::data).
class FileTokens final : public StoredTokens {
 public:
  FileTokens(const std::string& path, core::Index begin, core::Index size, core::Index width,
             core::Index vocabulary);
  ~FileTokens() override;
  FileTokens(const FileTokens&) = delete;
  FileTokens& operator=(const FileTokens&) = delete;

  core::Index size() const override { return size_; }
  void read(core::Index begin, std::span<core::Token> out) const override;

 private:
  /// Fills `bytes` from byte `from` of the run.
  void fetch(core::Index from, std::span<std::byte> bytes) const;

  std::string path_;
  int file_;
  core::Index begin_, size_, width_, vocabulary_;
};

}  // namespace weft::data
