#include "layers/attention/lists/attention.h"

namespace weft::layers {
namespace {

using Law = HeadForm::Law;

/// A block in the form in which it is compared: a matrix of its own, or the block itself.
struct Formed {
  Formed(const HeadForm& form, const ListedProblem& problem, const HeadBlock& block, Index length)
      : heads(heads_of(block)) {
    if (form.law == Law::given) return;
    made = form_heads(form, heads, problem.sequences.batch * length, problem.heads,
                      problem.head_width);
    heads = {made.data(), made.shape().back()};
  }
  Tensor made;
  ConstHeads heads;
};

/// Where the gradient of a formed block is gathered: in memory of its own, or in place.
struct FormedGradient {
  FormedGradient(const HeadForm& form, const Formed& formed, Heads target)
      : own(form.law == Law::given ? Tensor() : Tensor(formed.made.shape())), heads(target) {
    if (own.size() > 0) heads = {own.write().data(), own.shape().back()};
  }
  Tensor own;
  Heads heads;
};

void set_zero(const ListedProblem& problem, Index tokens, Heads x) {
  for (Index t = 0; t < tokens; ++t)
    std::fill_n(x.data + t * x.stride, problem.heads * problem.head_width, Real(0));
}

/// The blocks' gradients in the op's pullback.
class ListedPullback {
 public:
  ListedPullback(const ListedProblem& problem, const ListedForms& forms,
                 const std::vector<HeadBlock>& blocks)
      : problem_(problem), forms_(forms), blocks_(blocks) {}

  void run(const Tensor& out, const Tensor& log_sums, const Tensor& dout, Heads dq, Heads dk,
           Heads dv) const {
    const Sequences& s = problem_.sequences;
    const HeadBlock& key_block = blocks_[forms_.keys_from_queries ? 0 : 1];
    const Formed q(forms_.queries, problem_, blocks_[0], s.queries);
    const Formed k = problem_.shared_keys ? q : Formed(forms_.keys, problem_, key_block, s.keys);
    const FormedGradient to_q(forms_.queries, q, dq), to_k(forms_.keys, k, dk);
    const Index width = out.shape().back();
    listed_backward(problem_,
                    {q.heads,
                     k.heads,
                     heads_of(blocks_.back()),
                     {out.data(), width},
                     {dout.data(), width},
                     log_sums.data()},
                    to_q.heads, to_k.heads, dv);
    add(forms_.queries, blocks_[0], s.queries, to_q.own, dq, true);
    if (!problem_.shared_keys)
      add(forms_.keys, key_block, s.keys, to_k.own, dk, !forms_.keys_from_queries);
  }

 private:
  /// Pulls a form's gradient back to its block, whose gradient is `fresh` or holds some already.
  void add(const HeadForm& form, const HeadBlock& block, Index length, const Tensor& gradient,
           Heads to, bool fresh) const {
    if (gradient.size() == 0) return;
    if (fresh) set_zero(problem_, problem_.sequences.batch * length, to);
    pull_back_heads(form, heads_of(block), gradient, problem_.heads, problem_.head_width, to);
  }

  const ListedProblem& problem_;
  const ListedForms& forms_;
  const std::vector<HeadBlock>& blocks_;
};

}  // namespace

/// Saves: the blocks' matrices, the output and a log-sum for each softmax.
Var listed_attention(ListedProblem problem, const ListedForms& forms,
                     const std::vector<HeadBlock>& blocks) {
  problem.shared_keys = forms.keys_from_queries && forms.queries == forms.keys;
  const Sequences& s = problem.sequences;
  const Index width = problem.heads * problem.head_width;
  Tensor out({s.batch * s.queries, width});
  Tensor log_sums({problem.lanes(), problem.log_sums_per_lane()});
  {
    const HeadBlock& key_block = blocks[forms.keys_from_queries ? 0 : 1];
    const Formed q(forms.queries, problem, blocks[0], s.queries);
    const Formed k = problem.shared_keys ? q : Formed(forms.keys, problem, key_block, s.keys);
    listed_forward(problem, q.heads, k.heads, heads_of(blocks.back()), {out.write().data(), width},
                   log_sums.write().data());
  }
  const HeadGradients gradients(blocks, width);
  const Tensor kept = out;
  return autograd::record("listed_attention", std::move(out), gradients.sources(),
                          [problem, forms, gradients, blocks, kept, log_sums](Tensor dout) {
                            autograd::Gradients d = gradients.allocate();
                            ListedPullback(problem, forms, blocks)
                                .run(kept, log_sums, dout, gradients.heads(d, 0),
                                     gradients.heads(d, forms.keys_from_queries ? 0 : 1),
                                     gradients.heads(d, blocks.size() - 1));
                            return d;
                          });
}

Index listed_saved_bytes(const ListedProblem& problem) {
  const Index rows = problem.sequences.batch * problem.sequences.queries * problem.heads;
  return (rows * problem.head_width + problem.lanes() * problem.log_sums_per_lane()) *
         Index(sizeof(Real));
}

}  // namespace weft::layers
