#include <algorithm>
#include <cmath>

#include "autograd/ops.h"
#include "core/error.h"
#include "core/parallel.h"

namespace weft::autograd {
namespace {

/// The positions of one sequence that both softmaxes run over: 0 and the document's.
struct Places {
  Index first, last;

  template <class Visit>
  void visit(Visit use) const {
    use(Index(0));
    for (Index t = first; t <= last; ++t) use(t);
  }
  bool hold(Index start, Index end) const {
    return (start == 0 && end == 0) || (first <= start && start <= end && end <= last);
  }
};

/// One sequence: its logits [T, 2], and the listed answers, two numbers each.
struct SpanRow {
  const Real* logits;
  Places places;
  std::vector<std::pair<Index, Index>> answers;

  /// ln of the sum of exponentials of one column.
  double log_total(Index column) const {
    double top = logits[column], total = 0;
    places.visit([&](Index t) { top = std::max(top, double(logits[2 * t + column])); });
    places.visit([&](Index t) { total += std::exp(double(logits[2 * t + column]) - top); });
    return top + std::log(total);
  }

  /// -ln sum over answers of p(start) p(end), and its gradient for an upstream gradient of 1, by
  /// logits: p(t) less the share of the answers that begin (end) at t in that sum.
  double nats(Real* gradient) const {
    if (answers.empty()) return 0;
    const double starts = log_total(0), ends = log_total(1);
    std::vector<double> logs;
    for (const auto& [start, end] : answers)
      logs.push_back(double(logits[2 * start]) - starts + double(logits[2 * end + 1]) - ends);
    const double top = std::ranges::max(logs);
    double total = 0;
    for (const double log : logs) total += std::exp(log - top);
    const double found = top + std::log(total);
    if (!gradient) return -found;
    places.visit([&](Index t) {
      gradient[2 * t] = Real(std::exp(double(logits[2 * t]) - starts));
      gradient[2 * t + 1] = Real(std::exp(double(logits[2 * t + 1]) - ends));
    });
    for (std::size_t a = 0; a < answers.size(); ++a) {
      const Real share = Real(std::exp(logs[a] - found));
      gradient[2 * answers[a].first] -= share;
      gradient[2 * answers[a].second + 1] -= share;
    }
    return -found;
  }
};

std::vector<SpanRow> rows_of(const Tensor& logits, const core::Tokens& documents,
                             const core::Tokens& answers) {
  const core::Shape& listed = answers.shape();
  const Index batch = documents.shape()[0];
  core::require(documents.shape().rank() == 2 && documents.shape()[1] == 2 && batch > 0 &&
                    listed.rank() == 3 && listed[0] == batch && listed[2] == 2 &&
                    logits.shape().rank() == 2 && logits.shape()[1] == 2 &&
                    logits.shape()[0] % batch == 0,
                "span_nats: logits ", logits.shape(), ", documents ", documents.shape(),
                ", answers ", listed);
  const Index length = logits.shape()[0] / batch;
  std::vector<SpanRow> rows;
  for (Index b = 0; b < batch; ++b) {
    const auto document = documents.read().subspan(std::size_t(2 * b), 2);
    SpanRow row{logits.data() + 2 * b * length, {document[0], document[1]}, {}};
    core::require(document[0] >= 1 && document[0] <= document[1] && document[1] < length,
                  "span_nats: a document at ", document[0], " .. ", document[1],
                  " in a sequence of ", length);
    const auto own =
        answers.read().subspan(std::size_t(2 * b * listed[1]), std::size_t(2 * listed[1]));
    for (std::size_t a = 0; a < own.size(); a += 2) {
      if (own[a] == core::no_target) continue;
      core::require(row.places.hold(own[a], own[a + 1]), "span_nats: an answer at ", own[a], " .. ",
                    own[a + 1], " for a document at ", document[0], " .. ", document[1]);
      row.answers.emplace_back(own[a], own[a + 1]);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

/// Sums run in double over the positions in order.
/// Saves: the gradient of the logits for upstream gradients of 1.
Var span_nats(const Var& logits, const core::Tokens& documents, const core::Tokens& answers) {
  const std::vector<SpanRow> rows = rows_of(logits.value(), documents, answers);
  const Index batch = Index(rows.size()), each = logits.value().size() / batch;
  Tensor y({batch}, 0), gradient(logits.tape() ? logits.shape() : Shape{0}, 0);
  Real *nats = y.write().data(), *own = logits.tape() ? gradient.write().data() : nullptr;
  core::parallel_for(batch, 1, [&](Index b, Index) {
    nats[b] = Real(rows[std::size_t(b)].nats(own ? own + b * each : nullptr));
  });
  return record("span_nats", std::move(y), {logits}, [gradient, each](Tensor dy) mutable {
    Real* all = gradient.write().data();
    for (Index b = 0; b < dy.size(); ++b)
      for (Index i = 0; i < each; ++i) all[b * each + i] *= dy.data()[b];
    return Gradients{std::move(gradient)};
  });
}

}  // namespace weft::autograd
