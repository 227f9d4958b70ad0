#include "data/tasks/noise.h"

#include <cmath>

#include "core/error.h"
#include "data/fingerprint.h"
#include "data/plan.h"

namespace weft::data {

void NoiseSettings::fields(core::Fields& fields, Index length) {
  fields.integer("symbols", symbols, "how many symbols there are", core::between(2, 50000));
  list_stream(fields, stream, length);
  list_held_out(fields, held_out);
}

DataPlan configure_noise(core::Fields& fields, Index length) {
  NoiseSettings settings;
  settings.fields(fields, length);
  return plan_for<Noise>(settings, length, {.streams = settings.stream > 0});
}

Noise::Noise(const NoiseSettings& settings, Index length, Index batch, std::uint64_t seed)
    : Generated(length, batch, settings.held_out, visible_alphabet(settings.symbols),
                segments_of(settings.stream, length)),
      settings_(settings),
      seed_(seed) {}

core::Rng Noise::stream(Split split, Index number) const {
  const core::Rng own =
      split == Split::training ? core::Rng(seed_).fold("noise") : core::Rng(0).fold(name_of(split));
  return own.fold(std::uint64_t(number));
}

void Noise::draw(const core::Rng& stream, BatchRows& rows, Index row) const {
  const auto inputs = rows.inputs(row), targets = rows.targets(row);
  Token next = Token(stream.below(0, settings_.symbols));
  for (std::size_t t = 0; t < inputs.size(); ++t) {
    inputs[t] = next;
    targets[t] = next = Token(stream.below(t + 1, settings_.symbols));
  }
}

std::optional<double> Noise::floor_bits(Split) const {
  return std::log2(double(settings_.symbols));
}

std::string Noise::fingerprint() const {
  return fingerprint_of(
      core::message_of("noise ", settings_.symbols, ' ', settings_.held_out, ' ', length(),
                       settings_.stream > 0 ? core::message_of(" stream=", settings_.stream) : ""));
}

}  // namespace weft::data
