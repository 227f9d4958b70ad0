#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/real.h"

namespace weft::data {

/// Lines of files, or parts of long ones, that a tokenizer learns from.
struct SentenceSample {
  std::vector<std::string> sentences;
  core::Index bytes = 0;  ///< of these
  core::Index read = 0;   ///< bytes of all sentences of the files
};

struct SamplingOptions {
  core::Index most_bytes = 16'000'000;  ///< of the sample; where there is more, it is drawn evenly
  std::string field = {};               ///< not empty: lines are JSON, and this field is read
  /// Called now and then with the share of the files that has been read.
  std::function<void(double)> progress = {};
};

/// Reads all files, also compressed ones, in as much memory as the sample takes. The same files
/// give the same sample.
SentenceSample sample_sentences(const std::vector<std::string>& paths,
                                const SamplingOptions& options);

}  // namespace weft::data
