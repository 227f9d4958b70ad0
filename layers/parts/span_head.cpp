#include "layers/parts/span_head.h"

#include <algorithm>
#include <deque>
#include <limits>

#include "core/error.h"
#include "core/parallel.h"

namespace weft::layers {
namespace {

/// The span with the largest sum of logits. For every end the best start among the `longest`
/// positions up to it: a queue holds the starts that can still become best, the best in front.
SpanChoice best_span(const Real* logits, Index first, Index last, Index longest) {
  SpanChoice choice{first, first, -std::numeric_limits<double>::infinity()};
  std::deque<Index> starts;
  for (Index end = first; end <= last; ++end) {
    while (!starts.empty() && logits[2 * starts.back()] < logits[2 * end]) starts.pop_back();
    starts.push_back(end);
    if (starts.front() <= end - longest) starts.pop_front();
    const double score = double(logits[2 * starts.front()]) + double(logits[2 * end + 1]);
    if (score > choice.score) choice = {starts.front(), end, score};
  }
  return choice;
}

Index count_answered(const core::Tokens& answers) {
  const Index each = answers.shape()[1] * 2;
  Index counted = 0;
  for (Index b = 0; b < answers.shape()[0]; ++b) {
    const auto own = answers.read().subspan(std::size_t(b * each), std::size_t(each));
    counted += std::ranges::any_of(own, [](core::Token t) { return t != core::no_target; });
  }
  return counted;
}

}  // namespace

Var SpanHead::loss(const Var& h, const core::Tokens& documents, const core::Tokens& answers,
                   Real share) const {
  const Var each = nats(h, documents, answers);
  const Index counted = count_answered(answers);
  core::require(counted > 0 || share == 0, "span loss: no sequence has an answer");
  return autograd::scale(autograd::sum(each), share / Real(std::max<Index>(1, counted)));
}

std::vector<SpanChoice> SpanHead::choose(const Tensor& h, const core::Tokens& documents,
                                         const core::Tokens& answers, Index longest) const {
  core::require(longest >= 1, "span: answers of at most ", longest, " tokens");
  const Tensor scores = logits(Var(h)).value();
  const Index batch = documents.shape()[0], length = scores.shape()[0] / batch;
  std::vector<SpanChoice> choices(static_cast<std::size_t>(batch));
  core::parallel_for(batch, 1, [&](Index b, Index) {
    const auto document = documents.read().subspan(std::size_t(2 * b), 2);
    choices[std::size_t(b)] =
        best_span(scores.data() + 2 * b * length, document[0], document[1], longest);
  });
  const auto nats_of = [&](const core::Tokens& spans) {
    return autograd::span_nats(Var(scores), documents, spans).value();
  };
  std::vector<core::Token> best;
  for (const SpanChoice& choice : choices)
    best.insert(best.end(), {core::Token(choice.start), core::Token(choice.end)});
  const Tensor found = nats_of({{batch, 1, 2}, best});
  const Tensor none = nats_of({{batch, 1, 2}, std::vector<core::Token>(best.size(), 0)});
  const Tensor nats = answers.size() > 0 ? nats_of(answers) : Tensor({batch}, 0);
  for (std::size_t b = 0; b < choices.size(); ++b) {
    choices[b].score = -double(found.read()[b]);
    choices[b].none = -double(none.read()[b]);
    choices[b].nats = float(nats.read()[b]);
  }
  return choices;
}

bool lists_answer(const core::Tokens& answers, Index sequence, Index start, Index end) {
  const Index listed = answers.shape()[1];
  const auto own =
      answers.read().subspan(std::size_t(2 * sequence * listed), std::size_t(2 * listed));
  for (std::size_t a = 0; a < own.size(); a += 2)
    if (own[a] == start && own[a + 1] == end) return true;
  return false;
}

}  // namespace weft::layers
