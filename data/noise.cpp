#include "data/noise.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "data/batch_rows.h"
#include "data/fingerprint.h"
#include "data/windows.h"

namespace weft::data {
namespace {

/// Symbols print as the characters from U+0100 on: all visible, none a control character.
Alphabet visible_characters(Index count) {
  std::vector<char32_t> characters(static_cast<std::size_t>(count));
  std::iota(characters.begin(), characters.end(), char32_t(0x100));
  return Alphabet(std::move(characters));
}

}  // namespace

Noise::Noise(const NoiseSettings& settings, Index length, Index batch, std::uint64_t seed)
    : settings_(settings),
      length_(length),
      batch_(batch),
      seed_(seed),
      alphabet_(visible_characters(settings.symbols)) {}

Batch Noise::draw(const core::Rng& stream, Index first_sequence, Index sequences) const {
  BatchRows rows(batch_, length_);
  for (Index row = 0; row < sequences; ++row) {
    const core::Rng own = stream.fold(std::uint64_t(first_sequence + row));
    const auto inputs = rows.inputs(row), targets = rows.targets(row);
    Token next = Token(own.below(0, settings_.symbols));
    for (std::size_t t = 0; t < inputs.size(); ++t) {
      inputs[t] = next;
      targets[t] = next = Token(own.below(t + 1, settings_.symbols));
    }
  }
  return std::move(rows).finish();
}

Batch Noise::training(Index number) const {
  return draw(core::Rng(seed_).fold("noise"), number * batch_, batch_);
}

Index Noise::evaluation_batches(Split, Index stride) const {
  check_stride(stride, length_);
  return (settings_.held_out + batch_ - 1) / batch_;
}

Batch Noise::evaluation(Split split, Index number, Index stride) const {
  core::require(number >= 0 && number < evaluation_batches(split, stride), "noise: there is no ",
                name_of(split), " batch ", number);
  const Index first = number * batch_;
  return draw(core::Rng(0).fold(name_of(split)), first,
              std::min(batch_, settings_.held_out - first));
}

std::optional<double> Noise::floor_bits(Split) const {
  return std::log2(double(settings_.symbols));
}

std::string Noise::fingerprint() const {
  return fingerprint_of(
      core::message_of("noise ", settings_.symbols, ' ', settings_.held_out, ' ', length_));
}

}  // namespace weft::data
