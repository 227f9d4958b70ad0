#include "layers/model/trunk.h"

#include <cmath>

#include "core/arrays/gemm.h"
#include "core/error.h"
#include "core/scope.h"
#include "layers/model/embed_tokens.h"
#include "layers/model/model_parts.h"

namespace weft::layers {
namespace {

std::optional<StreamOutput> streams_of(const ModelSettings& settings) {
  if (!settings.reversible) return std::nullopt;
  return settings.reversible_output;
}

ReversibleStack stack_of(const std::vector<Block>& blocks) {
  ReversibleStack stack;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (std::size_t b = 0; b < Block::names.size(); ++b) {
      const std::string name(Block::names[b]);
      stack.append("layers." + std::to_string(i) + "." + name, {i, name}, blocks[i].branches()[b]);
    }
  return stack;
}

/// Those of each layer's branches.
std::vector<Sequences> of_branches(const std::vector<Sequences>& of_layers) {
  std::vector<Sequences> all;
  for (const Sequences& own : of_layers) all.insert(all.end(), Block::names.size(), own);
  return all;
}

}  // namespace

Trunk::Trunk(const ModelSettings& settings, const AttentionPlans& plans, Index vocabulary,
             Index length, bool recompute)
    : width_(settings.width),
      streams_(streams_of(settings)),
      tokens_({vocabulary, settings.width}, Init::normal(initial_deviation)),
      positions_(make_positions(settings, length)),
      dropout_(Real(settings.dropout)),
      recompute_(recompute),
      causal_(settings.causal),
      recurrent_(settings.segment_memory) {
  const Init in = Init::normal(initial_deviation);
  const Init out = Init::normal(initial_deviation / std::sqrt(2.0 * double(settings.layers)));
  const ResidualForm form = residual_form(settings);
  AttentionSite site = settings.site(length);
  site.shared = shared_.get();
  const RelativeSettings relative = settings.relative();
  for (site.layer = 0; site.layer < settings.layers; ++site.layer) {
    const std::size_t turn = std::size_t(site.layer) % settings.attention.size();
    MultiHead attention(plans.at(settings.attention[turn]), site, in, out, positions_.rotary(),
                        &relative);
    blocks_.emplace_back(std::move(attention), make_feed_forward(settings, in, out), form);
  }
  core::require(!streams_ || form.place == NormPlace::pre,
                "model: a reversible stack needs its norms inside the branches, norm_place = pre");
  if (streams_) stack_ = stack_of(blocks_);
  if (form.place == NormPlace::pre) final_norm_.emplace(width(), form.norm);
}

Var Trunk::embed(const Pass& pass, const core::Tokens& inputs, Index first) const {
  return embed_tokens(pass, inputs, tokens_, positions_, first, dropout_);
}

Var Trunk::hidden(const Pass& pass, const core::Tokens& inputs, const core::Lengths& lengths,
                  StreamMemory* memory) const {
  core::require(inputs.shape().rank() == 2, "model: inputs of shape ", inputs.shape(),
                ", expected [batch, length]");
  Sequences sequences = Sequences::self(inputs.shape()[0], inputs.shape()[1], causal_);
  sequences.key_lengths = lengths;
  std::vector<Sequences> of_layers(blocks_.size(), sequences);
  if (memory) enter_segment(*memory, of_layers);
  const Var x = run_blocks(pass, embed(pass, inputs, 0), of_layers);
  if (memory) leave_segment(*memory, of_layers);
  const core::Scope scope("final_norm");
  return final_norm_ ? final_norm_->forward(pass.at("final_norm"), x) : x;
}

StreamMemory Trunk::memory(Index batch) const {
  std::vector<Index> rows, numbers;
  for (const Block& block : blocks_) {
    rows.push_back(block.attention().most_memory_tokens());
    numbers.push_back(block.attention().carried_numbers());
  }
  return {rows, numbers, batch, width_};
}

void Trunk::enter_segment(const StreamMemory& memory, std::vector<Sequences>& of_layers) const {
  core::require(memory.layers() == blocks_.size() && memory.batch() == of_layers[0].batch,
                "model: a memory of ", memory.layers(), " layers and ", memory.batch(),
                " streams for ", blocks_.size(), " layers and ", of_layers[0].batch, " sequences");
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    if (blocks_[i].attention().memory_tokens() > 0 || blocks_[i].attention().carried_numbers() > 0)
      of_layers[i].segment =
          std::make_shared<CarriedInput>(CarriedInput{memory.read(i), {}, {memory.state(i), {}}});
}

void Trunk::leave_segment(StreamMemory& memory, const std::vector<Sequences>& of_layers) const {
  constexpr Index slack = 64;  // spans may grow before the next segment
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (!of_layers[i].segment) continue;
    const MultiHead& attention = blocks_[i].attention();
    if (attention.memory_tokens() > 0)
      memory.append(i, of_layers[i].segment->now, attention.memory_tokens() + slack);
    if (attention.carried_numbers() > 0) memory.set_state(i, of_layers[i].segment->state.after);
  }
}

Var Trunk::run_blocks(const Pass& pass, Var x, const std::vector<Sequences>& sequences) const {
  if (streams_) return stack_.run(pass, x, x, of_branches(sequences), *streams_);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const core::Scope scope("layers", Index(i));
    const auto layer = [&block = blocks_[i], own_sequences = sequences[i]](const Pass& own,
                                                                           const Var& in) {
      return block.forward(own, in, own_sequences);
    };
    x = recompute_ ? autograd::recompute(pass.at(i), layer, x) : layer(pass.at(i), x);
  }
  return x;
}

Var Trunk::with_penalties(const Pass& pass, Var loss, Real share) const {
  std::vector<Var> all;
  for (std::size_t i = 0; i < blocks_.size(); ++i) all.push_back(blocks_[i].penalty(pass.at(i)));
  all.push_back(autograd::penalties(pass));
  return add_penalties(std::move(loss), share, all);
}

BranchStates Trunk::begin() const {
  BranchStates states;
  for (const Block& block : blocks_)
    for (const auto& branch : block.branches()) states.branches.push_back(branch->begin());
  return states;
}

Tensor Trunk::step(BranchStates& states, core::Token token) const {
  Tensor x = embed(Pass(), core::Tokens({1, 1}, {token}), states.position).value();
  if (streams_) {
    Tensor second = x;
    stack_.step(states, x, second);
    x = ReversibleStack::join(x, second, *streams_);
  } else {
    const std::span all(states.branches);
    constexpr std::size_t of_block = Block::names.size();
    for (std::size_t i = 0; i < blocks_.size(); ++i)
      x = blocks_[i].step(all.subspan(i * of_block, of_block), x, states.position);
    ++states.position;
  }
  if (final_norm_) x = final_norm_->forward(Pass(), Var(x)).value();
  return x;
}

Cost Trunk::attention_cost(const Sequences& sequences) const {
  Cost total;
  for (const Block& block : blocks_) total += block.attention().cost(sequences, recurrent_);
  return total;
}

std::vector<std::vector<double>> Trunk::spans() const {
  std::vector<std::vector<double>> all;
  for (const Block& block : blocks_) {
    all.push_back(block.attention().spans());
    if (all.back().empty()) return {};
  }
  return all;
}

Index Trunk::layer_weights() const {
  Index total = 0;
  for (const Block& block : blocks_) total += block.weights();
  return total;
}

void Trunk::visit(Inventory& inventory) {
  inventory.add("tokens.weight", tokens_);
  inventory.enter("positions", positions_);
  inventory.enter("shared", *shared_);
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    inventory.enter("layers." + std::to_string(i), blocks_[i]);
  if (final_norm_) inventory.enter("final_norm", *final_norm_);
}

}  // namespace weft::layers
