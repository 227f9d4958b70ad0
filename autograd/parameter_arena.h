#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "autograd/inventory.h"
#include "core/precision.h"

namespace weft::autograd {

/// The flat arrays behind a model's parameters: all values in one, all gradients in another, each
/// parameter aligned to 64 bytes, row-sparse ones after all others. The optimizer passes over the
/// flat arrays once; the model sees them as read-only tensors.
class ParameterArena {
 public:
  struct Slot {
    std::string name;
    core::Shape shape;
    core::Index offset, size;
    bool decays;
    Init init;
    std::optional<RowSparse> sparse = std::nullopt;
    /// Of a row-sparse parameter: the rows whose gradients are not zero, ascending.
    std::shared_ptr<std::vector<core::Index>> touched = nullptr;
  };
  enum class Use { inference, training };

  /// Lends values (and, for training, gradients, set to zero) to every parameter of the inventory,
  /// and for products in bf16 room for rounded matrices.
  ParameterArena(const Inventory& inventory, Use use,
                 core::Precision precision = core::Precision::float32);

  /// Tells `watch` of every access to the values from now on.  inventory: what this was made for
  void set_watch(const Inventory& inventory, PassWatch& watch);

  /// Fills each parameter by its law, from a stream keyed by its name.
  void initialise(const core::Rng& rng);
  /// Of row-sparse parameters, the rows that were touched.
  void zero_gradients();

  const std::vector<Slot>& slots() const { return slots_; }
  /// To be written to: begins a new generation of every parameter. Ask again before writing again.
  std::span<core::Real> values();
  std::span<core::Real> gradients() {
    return {gradients_.get(), gradients_ ? std::size_t(size_) : 0};
  }
  std::span<const core::Real> gradients() const {
    return {gradients_.get(), gradients_ ? std::size_t(size_) : 0};
  }
  std::span<core::Real> value(const Slot& s) {
    return values().subspan(std::size_t(s.offset), std::size_t(s.size));
  }
  /// The gradients in front of the row-sparse ones: what is passed over as a whole.
  std::span<const core::Real> dense_gradients() const {
    return gradients().first(gradients_ ? std::size_t(dense_size_) : 0);
  }
  /// The gradient of one row of a row-sparse parameter.
  std::span<const core::Real> row_gradient(const Slot& s, core::Index row) const {
    const core::Index n = s.shape.back();
    return gradients().subspan(std::size_t(s.offset + row * n), std::size_t(n));
  }
  /// How many learned numbers.
  core::Index count() const { return count_; }
  /// Elements of each flat array, padding included.
  core::Index size() const { return size_; }
  /// Bytes of the rounded matrices.
  core::Index rounded_bytes() const {
    return core::Index(rounded_.size()) * core::Index(sizeof(core::Bf16));
  }
  /// Elements in front of the row-sparse parameters.
  core::Index dense_size() const { return dense_size_; }

 private:
  std::vector<Slot> slots_;
  core::Index size_ = 0, dense_size_ = 0, count_ = 0;
  std::unique_ptr<core::Real[], void (*)(void*)> values_, gradients_;
  std::vector<core::Bf16> rounded_;
  PassWatch* watch_ = nullptr;
  std::shared_ptr<std::uint64_t> generation_ = std::make_shared<std::uint64_t>(0);
};

/// A zeroed flat array of the arena's kind, for optimizer moments.
std::unique_ptr<core::Real[], void (*)(void*)> flat_array(core::Index size);

}  // namespace weft::autograd
