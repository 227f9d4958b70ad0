#include "data/dataset.h"

#include "data/plain_words.h"

namespace weft::data {

std::string_view name_of(Split split) {
  switch (split) {
    case Split::training:
      return "training";
    case Split::validation:
      return "validation";
    case Split::test:
      break;
  }
  return "test";
}

std::vector<std::string> Dataset::words(std::span<const Token> tokens) const {
  return plain_words(decode(tokens));
}

std::optional<std::string> Dataset::reference(Split, Index) const { return {}; }

std::optional<Spelling> Dataset::spelling() const { return {}; }

std::optional<double> Dataset::floor_bits(Split) const { return {}; }

std::optional<double> Dataset::chance() const { return {}; }

std::vector<std::string> Dataset::class_names() const { return {}; }

std::vector<Baseline> Dataset::baselines(Split) const { return {}; }

std::vector<std::string> Dataset::remarks() const { return {}; }

std::vector<BitsBaseline> Dataset::bits_baselines(Split) const { return {}; }

std::optional<core::ImageForm> Dataset::image() const { return {}; }

bool Dataset::predicts_next() const { return true; }

std::optional<std::string> Dataset::scored_part() const { return {}; }

}  // namespace weft::data
