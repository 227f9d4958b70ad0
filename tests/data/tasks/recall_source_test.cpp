#include "data/tasks/recall_source.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/error.h"

namespace weft::data::recall_source_test {
namespace {

const RecallSource standard({}, 128);
const Index payload = standard.payload();

bool is_key(const RecallSource& source, Token symbol) { return symbol >= source.symbols(); }

/// Calls visit(position, key, distance) for every event whose key stands in the sequence; distance
/// is 0 at the key's first use.
template <class Visit>
void for_each_event(const RecallSource& source, const RecallDraw& drawn, Visit visit) {
  std::map<Token, Index> used_at;
  for (Index at = 0; at < Index(drawn.symbols.size()); ++at) {
    const Token key = drawn.symbols[std::size_t(at)];
    if (!is_key(source, key)) continue;
    visit(at, key, used_at.contains(key) ? at - used_at[key] : 0);
    used_at[key] = at;
  }
}

TEST(RecallSource, a_key_is_followed_by_its_payload_and_repeats_it_at_every_later_use) {
  for (std::uint64_t i = 0; i < 200; ++i) {
    const RecallDraw drawn = draw_sequence(standard, core::Rng(i));
    ASSERT_EQ(drawn.symbols.size(), 129u);
    EXPECT_FALSE(is_key(standard, drawn.symbols[0]));
    for_each_event(standard, drawn, [&](Index at, Token, Index distance) {
      for (Index p = at + 1; p <= std::min<Index>(at + payload, 128); ++p) {
        const Token symbol = drawn.symbols[std::size_t(p)];
        EXPECT_FALSE(is_key(standard, symbol));
        if (distance > 0) {
          EXPECT_EQ(symbol, drawn.symbols[std::size_t(p - distance)]);
        }
      }
    });
  }
}

TEST(RecallSource, distances_mark_the_recalled_symbols_and_no_others) {
  for (std::uint64_t i = 0; i < 200; ++i) {
    const RecallDraw drawn = draw_sequence(standard, core::Rng(i));
    std::vector<Token> expected(129, 0);
    for_each_event(standard, drawn, [&](Index at, Token, Index distance) {
      for (Index p = at + 1; p <= std::min<Index>(at + payload, 128); ++p) {
        expected[std::size_t(p)] = Token(distance);
      }
    });
    EXPECT_EQ(drawn.distances, expected);
  }
}

TEST(RecallSource, symbols_between_events_follow_the_chain) {
  for (std::uint64_t i = 0; i < 100; ++i) {
    const RecallDraw drawn = draw_sequence(standard, core::Rng(i));
    Index in_payload = 0;
    for (std::size_t p = 1; p < drawn.symbols.size(); ++p) {
      if (is_key(standard, drawn.symbols[p])) {
        EXPECT_EQ(in_payload, 0) << "an event inside another";
        in_payload = payload;
      } else if (in_payload > 0) {
        --in_payload;
      } else {
        const auto next = standard.chain().successors(drawn.symbols[p - 1]);
        EXPECT_NE(std::ranges::find(next, drawn.symbols[p]), next.end());
      }
    }
  }
}

TEST(RecallSource, probabilities_sum_to_one_at_every_position_and_are_never_negative) {
  for (const Index keys : {1, 2, 8, 40}) {
    RecallSettings settings;
    settings.keys = keys;
    const RecallSource source(settings, 200);
    std::vector<double> p(static_cast<std::size_t>(source.vocabulary()));
    for (std::uint64_t i = 0; i < 50; ++i) {
      RecallSequence sequence(source);
      for (const Token symbol : draw_sequence(source, core::Rng(i)).symbols) {
        sequence.distribution(p);
        ASSERT_NEAR(std::reduce(p.begin(), p.end()), 1, 1e-12);
        ASSERT_GE(*std::ranges::min_element(p), 0);
        ASSERT_GT(p[std::size_t(symbol)], 0);
        sequence.append(symbol);
      }
    }
  }
}

/// Which key an event at the end of `symbols` uses, found the long way: by trying every distance.
std::vector<double> key_shares_by_trial(const RecallSource& source,
                                        std::span<const Token> symbols) {
  std::map<Token, Index> ages;
  for (std::size_t p = 0; p < symbols.size(); ++p) {
    if (is_key(source, symbols[p])) ages[symbols[p]] = Index(symbols.size() - p);
  }
  std::vector<double> shares(std::size_t(source.keys()), 0.0);
  double total = 0;
  for (Index d = source.payload() + 1; d <= source.length(); ++d) {
    const double weight = 1 / (double(d) * std::sqrt(double(source.length() + 1 - d)));
    total += weight;
    Token nearest = -1;
    Index oldest = 0;
    for (const auto& [key, age] : ages) {
      oldest = std::max(oldest, age);
      const auto ratio = [d](Index a) {
        return std::max(double(a) / double(d), double(d) / double(a));
      };
      const bool nearer = nearest < 0 || ratio(age) < ratio(ages[nearest]) * (1 - 1e-12);
      const bool tie = nearest >= 0 && std::abs(ratio(age) / ratio(ages[nearest]) - 1) < 1e-12;
      if (nearer || (tie && age < ages[nearest])) nearest = key;
    }
    if (d > oldest && Index(ages.size()) < source.keys()) {
      for (Index key = 0; key < source.keys(); ++key) {
        if (!ages.contains(Token(source.symbols() + key))) {
          shares[std::size_t(key)] += weight / double(source.keys() - Index(ages.size()));
        }
      }
    } else {
      shares[std::size_t(nearest - source.symbols())] += weight;
    }
  }
  for (double& share : shares) share /= total;
  return shares;
}

TEST(RecallSource, key_probabilities_are_those_of_trying_every_distance) {
  std::vector<double> p(static_cast<std::size_t>(standard.vocabulary()));
  for (std::uint64_t i = 0; i < 20; ++i) {
    const RecallDraw drawn = draw_sequence(standard, core::Rng(i));
    RecallSequence sequence(standard);
    Index payload_left = 0;
    for (std::size_t at = 0; at < drawn.symbols.size(); ++at) {
      if (at > 0 && payload_left == 0) {
        sequence.distribution(p);
        const auto shares = key_shares_by_trial(standard, std::span(drawn.symbols).first(at));
        for (std::size_t key = 0; key < shares.size(); ++key) {
          ASSERT_NEAR(p[std::size_t(standard.symbols()) + key], standard.event() * shares[key],
                      1e-12)
              << "position " << at;
        }
      }
      payload_left =
          is_key(standard, drawn.symbols[at]) ? payload : std::max<Index>(payload_left - 1, 0);
      sequence.append(drawn.symbols[at]);
    }
  }
}

TEST(RecallSource, a_first_payload_is_uniform_and_a_later_one_certain) {
  RecallSettings settings;
  settings.symbols = 26;
  settings.keys = 8;
  settings.payload = 3;
  const RecallSource source(settings, 128);
  RecallSequence sequence(source);
  std::vector<double> p(34);
  for (const Token symbol : {0, 30, 5, 6, 7, 30}) sequence.append(symbol);
  EXPECT_EQ(sequence.distance(), 4);
  for (const Token symbol : {5, 6, 7}) {
    sequence.distribution(p);
    EXPECT_EQ(p[std::size_t(symbol)], 1);
    sequence.append(symbol);
  }
  EXPECT_EQ(sequence.distance(), 0);
  sequence.append(31);
  sequence.distribution(p);
  for (std::size_t i = 0; i < 34; ++i) EXPECT_EQ(p[i], i < 26 ? 1.0 / 26 : 0.0);
}

TEST(RecallSource, short_sequences_occur_as_often_as_their_probabilities_say) {
  RecallSettings settings;
  settings.symbols = settings.keys = settings.successors = 2;
  settings.payload = 1;
  settings.gap = 1;
  const RecallSource source(settings, 4);
  std::map<std::vector<Token>, int> seen;
  constexpr int draws = 200000;
  for (std::uint64_t i = 0; i < draws; ++i)
    ++seen[draw_sequence(source, core::Rng(5).fold(i)).symbols];

  double total = 0, chi_squared = 0;
  std::vector<double> p(4);
  for (const auto& [symbols, count] : seen) {
    RecallSequence sequence(source);
    double probability = 1;
    for (const Token symbol : symbols) {
      sequence.distribution(p);
      probability *= p[std::size_t(symbol)];
      sequence.append(symbol);
    }
    total += probability;
    const double expected = probability * draws;
    chi_squared += (count - expected) * (count - expected) / expected;
  }
  const double freedom = double(seen.size()) - 1;
  EXPECT_GT(seen.size(), 50u);
  EXPECT_NEAR(total, 1, 1e-9) << "the sequences that occur are not all there are";
  EXPECT_LT(std::abs(chi_squared - freedom), 5 * std::sqrt(2 * freedom));
}

TEST(RecallSource, distances_spread_log_uniformly_up_to_the_length) {
  std::map<int, double> octaves;
  double recalled = 0, all = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    for (const Token distance : draw_sequence(standard, core::Rng(17).fold(i)).distances) {
      ++all;
      if (distance == 0) continue;
      ++recalled;
      ++octaves[int(std::log2(distance))];
      ASSERT_LE(distance, 128);
      ASSERT_GT(distance, payload);
    }
  }
  EXPECT_GT(recalled / all, 0.25);
  for (const int octave : {2, 3, 4, 5, 6}) {  // five octaves from 4 to 128: a fifth each
    EXPECT_GT(octaves[octave] / recalled, 0.12) << (1 << octave);
    EXPECT_LT(octaves[octave] / recalled, 0.28) << (1 << octave);
  }
}

TEST(RecallSource, bits_of_a_sequence_are_its_negative_log_probability) {
  std::vector<double> p(static_cast<std::size_t>(standard.vocabulary()));
  const RecallDraw drawn = draw_sequence(standard, core::Rng(3));
  RecallSequence sequence(standard);
  double bits = 0;
  for (std::size_t i = 0; i < drawn.symbols.size(); ++i) {
    sequence.distribution(p);
    if (i > 0) bits -= std::log2(p[std::size_t(drawn.symbols[i])]);
    sequence.append(drawn.symbols[i]);
  }
  EXPECT_NEAR(drawn.bits, bits, 1e-9);
}

TEST(RecallSource, without_events_the_bits_are_the_entropy_of_the_chain) {
  RecallSettings settings;
  settings.gap = 1e12;
  const RecallSource source(settings, 128);
  double bits = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) bits += draw_sequence(source, core::Rng(i)).bits;
  EXPECT_NEAR(bits / 128000, source.chain().entropy(), 0.01);
}

TEST(RecallSource, refuses_a_length_in_which_nothing_can_return) {
  EXPECT_THROW(RecallSource({}, 7), core::Error);
  EXPECT_NO_THROW(RecallSource({}, 8));
}

}  // namespace
}  // namespace weft::data::recall_source_test
