#pragma once

#include <memory>
#include <vector>

#include "autograd/inventory.h"
#include "autograd/pass.h"
#include "core/fields.h"
#include "layers/attention/contract/entmax.h"

namespace weft::layers {

using autograd::Pass;
using autograd::Var;

/// One more logit in each head's softmax, which takes weight and has no value.
enum class SinkKind { none, learned };

/// How a row of scores becomes weights that sum to one.
struct NormaliserSettings {
  enum class Kind { softmax, sparsemax, entmax15, entmax };

  Kind kind = Kind::softmax;
  double alpha = 1.5;
  bool learned = false;
  SinkKind sink = SinkKind::none;  ///< of softmax

  void fields(core::Fields& field);
  bool is_softmax() const { return kind == Kind::softmax; }
};

/// Softmax, or entmax with an alpha for each head: fixed, or learned as alpha = 1 + sigmoid(a),
/// held at 1.01 or more, below which rounding decides. Softmax may have a sink for each head, a
/// learned logit that takes its share of the weight and has no value.
class Normaliser {
 public:
  Normaliser(const NormaliserSettings& settings, Index heads);

  bool is_softmax() const { return softmax_; }
  bool is_learned() const { return parameter_ != nullptr; }
  /// One for each head; none for softmax.
  std::vector<Entmax> of_heads() const;
  /// The parameter as a variable, [H]; only where it is learned.
  Var parameter(const Pass& pass) const;
  /// The sinks' logits as a variable, [H]; empty where there are none.
  Var sinks(const Pass& pass) const;
  /// The gradient of the parameter from that of each head's alpha, [H].
  core::Tensor pull_back(const std::vector<double>& dalpha) const;

  void visit(autograd::Inventory& inventory);

 private:
  bool softmax_;
  Index heads_;
  double alpha_;
  std::unique_ptr<autograd::Parameter> parameter_, sinks_;
};

}  // namespace weft::layers
