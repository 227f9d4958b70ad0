#include "experiments/train/shard_terms.h"

#include <algorithm>
#include <cstring>

namespace weft::experiments {
namespace {

/// Terms as bytes, for other ranks.
class Writer {
 public:
  template <class Number>
  void numbers(const std::vector<Number>& all) {
    const Index size = Index(all.size());
    append(&size, sizeof size);
    append(all.data(), all.size() * sizeof(Number));
  }
  void term(const ShardTerm& term) {
    numbers(std::vector<Index>{term.part.level, term.part.index});
    numbers(std::vector<double>{term.loss});
    for (const auto& sums : term.statistics) numbers(sums);
    for (const auto& own : term.sparse) {
      numbers(own.rows);
      numbers(own.gradients);
    }
  }
  std::string text;

 private:
  void append(const void* from, std::size_t bytes) {
    text.append(static_cast<const char*>(from), bytes);
  }
};

class Reader {
 public:
  Reader(const std::string& text, std::size_t states, std::size_t sparse)
      : rest_(text), states_(states), sparse_(sparse) {}

  bool at_end() const { return rest_.empty(); }
  ShardTerm term() {
    ShardTerm term;
    const auto part = numbers<Index>();
    term.part = {part[0], part[1]};
    term.loss = numbers<double>()[0];
    for (std::size_t i = 0; i < states_; ++i) term.statistics.push_back(numbers<Real>());
    for (std::size_t i = 0; i < sparse_; ++i) {
      auto rows = numbers<Index>();
      term.sparse.push_back({std::move(rows), numbers<Real>()});
    }
    return term;
  }

 private:
  template <class Number>
  std::vector<Number> numbers() {
    Index size = 0;
    take(&size, sizeof size);
    std::vector<Number> all(static_cast<std::size_t>(size));
    take(all.data(), all.size() * sizeof(Number));
    return all;
  }
  void take(void* to, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to, rest_.data(), bytes);
    rest_.remove_prefix(bytes);
  }

  std::string_view rest_;
  std::size_t states_, sparse_;
};

void add_numbers(std::vector<Real>& to, const std::vector<Real>& from) {
  if (to.empty())
    to = from;
  else
    for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
}

/// Rows of either, those of both added.
ShardTerm::Rows merged(const ShardTerm::Rows& a, const ShardTerm::Rows& b) {
  ShardTerm::Rows sum;
  std::ranges::set_union(a.rows, b.rows, std::back_inserter(sum.rows));
  if (sum.rows.empty()) return sum;
  const ShardTerm::Rows& some = a.rows.empty() ? b : a;
  const std::size_t width = some.gradients.size() / some.rows.size();
  sum.gradients.resize(sum.rows.size() * width);
  std::size_t i = 0, j = 0;
  for (std::size_t r = 0; r < sum.rows.size(); ++r) {
    Real* to = sum.gradients.data() + r * width;
    const bool in_a = i < a.rows.size() && a.rows[i] == sum.rows[r];
    const bool in_b = j < b.rows.size() && b.rows[j] == sum.rows[r];
    if (in_a) std::copy_n(a.gradients.data() + i++ * width, width, to);
    if (!in_b) continue;
    const Real* other = b.gradients.data() + j++ * width;
    for (std::size_t c = 0; c < width; ++c) to[c] = in_a ? to[c] + other[c] : other[c];
  }
  return sum;
}

}  // namespace

void add_term(ShardTerm& to, const ShardTerm& from) {
  to.loss += from.loss;
  for (std::size_t i = 0; i < to.statistics.size(); ++i)
    add_numbers(to.statistics[i], from.statistics[i]);
  for (std::size_t i = 0; i < to.sparse.size(); ++i)
    to.sparse[i] = merged(to.sparse[i], from.sparse[i]);
}

std::vector<const autograd::ParameterArena::Slot*> ShardTerms::sparse_slots() const {
  std::vector<const autograd::ParameterArena::Slot*> found;
  for (const auto& slot : arena_.slots())
    if (slot.sparse) found.push_back(&slot);
  return found;
}

void ShardTerms::take(Index shard, double loss, const autograd::Journal& journal) {
  ShardTerm term{.part = {0, shard}, .loss = loss, .statistics = {}, .sparse = {}};
  for (const auto& state : inventory_.states()) {
    term.statistics.emplace_back();
    const core::Tensor* proposed = journal.proposed(*state.state);
    if (!proposed) continue;
    const auto sums = proposed->read();
    term.statistics.back().assign(sums.begin(), sums.end());
  }
  for (const auto* slot : sparse_slots()) {
    ShardTerm::Rows own{*slot->touched, {}};
    for (const Index row : own.rows) {
      const auto gradient = arena_.row_gradient(*slot, row);
      own.gradients.insert(own.gradients.end(), gradient.begin(), gradient.end());
    }
    term.sparse.push_back(std::move(own));
  }
  core::push_part(terms_, std::move(term), add_term);
}

double ShardTerms::join(core::Ranks& ranks) {
  if (!ranks.alone()) {
    Writer writer;
    for (const ShardTerm& term : terms_) writer.term(term);
    terms_.clear();
    for (const std::string& text : core::gather(ranks, writer.text)) {
      Reader reader(text, inventory_.states().size(), sparse_slots().size());
      while (!reader.at_end()) core::push_part(terms_, reader.term(), add_term);
    }
  }
  terms_ = {core::join_all(std::move(terms_), add_term)};
  put_rows(terms_.front());
  return terms_.front().loss;
}

void ShardTerms::put_rows(const ShardTerm& sum) {
  const auto slots = sparse_slots();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const ShardTerm::Rows& own = sum.sparse[i];
    const Index width = slots[i]->shape.back();
    for (std::size_t r = 0; r < own.rows.size(); ++r)
      std::copy_n(own.gradients.begin() + Index(r) * width, width,
                  arena_.gradients().begin() + slots[i]->offset + own.rows[r] * width);
    *slots[i]->touched = own.rows;
  }
}

void ShardTerms::commit() {
  const ShardTerm& sum = terms_.front();
  const auto& states = inventory_.states();
  for (std::size_t i = 0; i < states.size(); ++i)
    if (const auto& own = sum.statistics[i]; !own.empty()) {
      core::Tensor statistics({Index(own.size())});
      std::ranges::copy(own, statistics.write().begin());
      states[i].state->absorb(statistics);
    }
}

}  // namespace weft::experiments
