#include "core/rng.h"

#include <cmath>
#include <numbers>

#include "core/parallel.h"

namespace weft::core {
namespace {

using Words = std::array<std::uint32_t, 4>;

/// Philox 4x32 with ten rounds (Salmon et al., SC 2011).
Words philox(std::uint64_t key, std::uint64_t low, std::uint64_t high) {
  constexpr std::uint64_t multiplier0 = 0xD2511F53, multiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t weyl0 = 0x9E3779B9, weyl1 = 0xBB67AE85;
  Words x{std::uint32_t(low), std::uint32_t(low >> 32), std::uint32_t(high),
          std::uint32_t(high >> 32)};
  std::uint32_t k0 = std::uint32_t(key), k1 = std::uint32_t(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = multiplier0 * x[0], b = multiplier1 * x[2];
    x = {std::uint32_t(b >> 32) ^ x[1] ^ k0, std::uint32_t(b), std::uint32_t(a >> 32) ^ x[3] ^ k1,
         std::uint32_t(a)};
    k0 += weyl0;
    k1 += weyl1;
  }
  return x;
}

std::uint64_t join(std::uint32_t low, std::uint32_t high) {
  return std::uint64_t(high) << 32 | low;
}

/// The upper half of the counter keeps derived keys apart from drawn numbers.
constexpr std::uint64_t drawing = 0, deriving = 1;

}  // namespace

Rng Rng::fold(std::uint64_t part) const {
  const Words w = philox(key_, part, deriving);
  return Rng(join(w[0], w[1]));
}

Rng Rng::fold(std::string_view name) const {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : name) hash = (hash ^ std::uint8_t(c)) * 0x100000001b3;
  return fold(hash);
}

Words Rng::block(std::uint64_t i) const { return philox(key_, i, drawing); }

std::uint64_t Rng::bits(std::uint64_t i) const {
  const Words w = block(i / 2);
  return i % 2 == 0 ? join(w[0], w[1]) : join(w[2], w[3]);
}

double Rng::uniform(std::uint64_t i) const { return double(bits(i) >> 11) * 0x1p-53; }

Index Rng::below(std::uint64_t i, Index n) const {
  return Index((static_cast<unsigned __int128>(bits(i)) * std::uint64_t(n)) >> 64);
}

double Rng::normal(std::uint64_t i) const {
  const Words w = block(i);
  const double u = (double(join(w[0], w[1]) >> 11) + 0.5) * 0x1p-53;
  const double v = double(join(w[2], w[3]) >> 11) * 0x1p-53;
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

void fill_normal(std::span<Real> out, const Rng& rng, double scale) {
  parallel_for(Index(out.size()), elementwise_grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      out[std::size_t(i)] = Real(scale * rng.normal(std::uint64_t(i)));
  });
}

void fill_uniform(std::span<Real> out, const Rng& rng, double bound) {
  parallel_for(Index(out.size()), elementwise_grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      out[std::size_t(i)] = Real(bound * (2 * rng.uniform(std::uint64_t(i)) - 1));
  });
}

}  // namespace weft::core
