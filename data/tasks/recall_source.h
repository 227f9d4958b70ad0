#pragma once

#include <span>
#include <vector>

#include "data/tasks/markov_chain.h"
#include "data/tasks/recall_settings.h"

namespace weft::data {

/// A language whose every probability is known. Ordinary symbols (0 .. symbols - 1) follow one
/// another as a Markov chain. Now and then an event interrupts: a key (symbols .. symbols + keys -
/// 1) and its payload of a few ordinary symbols, drawn uniformly when the key is first used in a
/// sequence and repeated whenever it is used again. The chain continues from the end of the
/// payload.
///
/// Which key an event uses: a distance is drawn. If it is longer than that to the oldest key, the
/// event uses a new key, while there is one; otherwise the key whose last use is nearest by ratio.
/// A distance d is drawn with weight 1 / (d sqrt(T + 1 - d)): log-uniform, except for the root,
/// which compensates for the fewer positions of a sequence of T where a longer distance fits. So
/// the distances of repeats are log-uniform up to the sequence length, unless keys run out early.
class RecallSource {
 public:
  RecallSource(const RecallSettings& settings, Index length);

  const MarkovChain& chain() const { return chain_; }
  /// Long-run frequencies of the chain, from which a sequence's first symbol is drawn.
  std::span<const double> first() const { return first_; }
  Index symbols() const { return settings_.symbols; }
  Index keys() const { return settings_.keys; }
  Index payload() const { return settings_.payload; }
  Index vocabulary() const { return symbols() + keys(); }
  Index length() const { return length_; }
  /// The probability that an event begins where one may begin.
  double event() const { return 1 / (settings_.gap + 1); }
  /// The probability that a drawn distance is at most d.
  double reach(Index d) const;

 private:
  RecallSettings settings_;
  Index length_;
  MarkovChain chain_;
  std::vector<double> first_;
  std::vector<double> reach_;
};

/// One sequence of the language as it grows: knows the exact distribution of the next symbol.
class RecallSequence {
 public:
  explicit RecallSequence(const RecallSource& source);

  /// P(next symbol | all symbols so far).      out: [vocabulary]
  void distribution(std::span<double> out) const;
  /// How far back the next symbol is if it must be repeated from there, else 0.
  Index distance() const { return repeating_ ? age_ : 0; }
  /// Continues with a symbol that distribution() gives a chance.
  void append(Token symbol);

 private:
  void share_event(std::span<double> keys) const;
  void begin_event(Index key);

  const RecallSource* source_;
  Index position_ = 0;
  Token last_ = 0;               // the symbol from which the chain continues
  Index key_ = -1;               // the key whose payload is being given, -1 between events
  Index given_ = 0;              // how much of the payload has been given
  bool repeating_ = false;       // whether that payload is a repetition ...
  Index age_ = 0;                // ... and how far back its last use is
  std::vector<Index> recent_;    // the keys used so far, the latest first
  std::vector<Index> used_at_;   // by key: where it was used last, -1 if never
  std::vector<Token> payloads_;  // [keys, payload]
};

/// A whole drawn sequence and what the source itself knew about it.
struct RecallDraw {
  std::vector<Token> symbols;    ///< T + 1 of them: inputs, and targets one later
  std::vector<Token> distances;  ///< for each symbol, 0 where it is not a repetition
  double bits = 0;               ///< -log2 P(symbols after the first | the first)
};

RecallDraw draw_sequence(const RecallSource& source, const core::Rng& rng);

}  // namespace weft::data
