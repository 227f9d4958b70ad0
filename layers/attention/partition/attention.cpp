#include "layers/attention/partition/attention.h"

namespace weft::layers {

/// Saves: the projections, the output and a log-sum for each node and head.
Var partition_attention(const PartitionProblem& problem, const std::vector<HeadBlock>& blocks,
                        const Var& table) {
  const Sequences& s = problem.sequences;
  const Index width = problem.heads * problem.head_width;
  const auto inputs = [blocks, table] {
    return PartitionInputs{heads_of(blocks[0]), heads_of(blocks[1]), heads_of(blocks[2]),
                           table.value().data()};
  };
  Tensor out({s.batch * s.queries, width}), log_sums({problem.lanes(), s.queries});
  partition_forward(problem, inputs(), {out.write().data(), width}, log_sums.write().data());
  const HeadGradients gradients(blocks, width);
  std::vector<Var> sources = gradients.sources();
  sources.push_back(table);
  const Tensor kept = out;
  return autograd::record(
      "partition_attention", std::move(out), sources,
      [problem, inputs, gradients, table, kept, log_sums, width](const Tensor& dout) {
        autograd::Gradients d = gradients.allocate();
        const Heads dq = gradients.heads(d, 0), dk = gradients.heads(d, 1),
                    dv = gradients.heads(d, 2);
        d.emplace_back(table.shape());
        partition_backward(problem, inputs(), {kept.data(), width}, {dout.data(), width},
                           log_sums.data(), {dq, dk, dv, d.back().write().data()});
        return d;
      });
}

}  // namespace weft::layers
