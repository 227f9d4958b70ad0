#include "layers/model/trunk.h"

#include <algorithm>
#include <cmath>

#include "autograd/rows_alone.h"
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

/// A star has no residual stream: the tokens' own vectors must not be negligible compared with what
/// they become.
Init token_init(const ModelSettings& settings) {
  return Init::normal(settings.is_star() ? 1 / std::sqrt(double(settings.width))
                                         : initial_deviation);
}

/// Those of each layer's branches.
std::vector<Sequences> of_branches(const std::vector<Sequences>& of_layers) {
  std::vector<Sequences> all;
  for (const Sequences& own : of_layers) all.insert(all.end(), Block::names.size(), own);
  return all;
}

}  // namespace

Trunk::Trunk(const ModelSettings& settings, const AttentionPlans& plans, Index vocabulary,
             Index length, Recomputation recompute, const std::optional<core::ImageForm>& image)
    : width_(settings.width),
      streams_(streams_of(settings)),
      tokens_({vocabulary, settings.width}, token_init(settings)),
      positions_(make_positions(settings, length, image)),
      rows_(common_rows(settings.attention, plans).rule, settings.width),
      pixels_(make_pixel_number(settings, image)),
      dropout_(Real(settings.dropout)),
      recompute_(recompute),
      causal_(settings.causal),
      recurrent_(settings.segment_memory) {
  if (settings.is_star()) {
    star_.emplace(StarStack::Shape{settings.layers, settings.width, settings.heads, dropout_},
                  settings.star);
    return;
  }
  if (settings.universal.chosen())
    universal_.emplace(settings.universal, settings.width, settings.positions);
  const Init in = Init::normal(initial_deviation);
  const Init out =
      Init::normal(initial_deviation / std::sqrt(2.0 * double(settings.layers * times())));
  const ResidualForm form = residual_form(settings);
  AttentionSite site = settings.site(length);
  site.shared = shared_.get();
  if (image) site.row = image->row();
  const RelativeSettings relative = settings.relative();
  for (site.layer = 0; site.layer < settings.layers; ++site.layer) {
    const std::size_t turn = std::size_t(site.layer) % settings.attention.size();
    MultiHead attention(plans.at(settings.attention[turn]), site, in, out, positions_.rotary(),
                        &relative);
    blocks_.emplace_back(std::move(attention), make_feed_forward(settings, site.layer, in, out),
                         form);
  }
  const std::string differ = common_rows(settings.attention, plans).problem;
  core::require(differ.empty(), "model: ", differ);
  core::require(!universal_ || !rows_.present(),
                "model: steps add positions to tokens, but these layers have other rows too");
  core::require(!streams_ || form.place == NormPlace::pre,
                "model: a reversible stack needs its norms inside the branches, norm_place = pre");
  if (streams_) stack_ = stack_of(blocks_);
  if (form.place == NormPlace::pre) final_norm_.emplace(width(), form.norm);
}

Var Trunk::embed(const Pass& pass, const core::Tokens& inputs, Index first) const {
  static const Positions later(PositionKind::none, 0, 0, 0);
  return embed_tokens(pass, inputs, tokens_, universal_ ? later : positions_, first, dropout_,
                      pixels_ ? &*pixels_ : nullptr);
}

Sequences Trunk::sequences_of(const core::Tokens& inputs, const core::Lengths& lengths) const {
  core::require(inputs.shape().rank() == 2, "model: inputs of shape ", inputs.shape(),
                ", expected [batch, length]");
  if (rows_.present()) return rows_.over(inputs, lengths, causal_);
  Sequences sequences = Sequences::self(inputs.shape()[0], inputs.shape()[1], causal_);
  sequences.key_lengths = lengths;
  return sequences;
}

Var Trunk::run_rows(const Pass& pass, const core::Tokens& inputs, const Sequences& sequences,
                    StreamMemory* memory, const autograd::RowNumbers& read,
                    std::vector<float>* steps) const {
  Var x = embed(pass, inputs, sequences.chunk ? sequences.chunk->first() : 0);
  if (rows_.present()) x = rows_.spread(pass, x, sequences);
  std::vector<Sequences> of_layers(blocks_.size(), sequences);
  if (memory) enter_segment(*memory, of_layers);
  x = run_blocks(pass, x, of_layers, read, steps);
  if (read && !ends_in_read_rows()) x = autograd::gather_rows(x, read);
  if (memory) leave_segment(*memory, of_layers);
  const core::Scope scope("final_norm");
  return final_norm_ ? final_norm_->forward(pass.at("final_norm"), x) : x;
}

Var Trunk::hidden(const Pass& pass, const core::Tokens& inputs, const core::Lengths& lengths,
                  StreamMemory* memory, std::vector<float>* steps,
                  const std::shared_ptr<const ChunkPlace>& chunk) const {
  Sequences sequences = sequences_of(inputs, lengths);
  core::require(!chunk || !(star_ || universal_ || rows_.present() || memory || lengths),
                "model: sequences of this model cannot be cut into chunks");
  sequences.chunk = chunk;
  if (star_)
    return star_->run(pass, embed(pass, inputs, 0), sequences, recompute_.any()).satellites;
  if (!rows_.present()) return run_rows(pass, inputs, sequences, memory, nullptr, steps);
  const Var x = run_rows(pass, inputs, sequences, memory, rows_.read(sequences, false));
  return rows_.tokens(x, sequences, inputs.shape()[1]);
}

Encoded Trunk::encode(const Pass& pass, const core::Tokens& inputs,
                      const core::Lengths& lengths) const {
  core::require(has_root(), "model: no row of these layers represents a whole sequence");
  const Sequences sequences = sequences_of(inputs, lengths);
  if (star_) {
    const auto [satellites, relay] =
        star_->run(pass, embed(pass, inputs, 0), sequences, recompute_.any());
    return {satellites, relay};
  }
  const Var x = run_rows(pass, inputs, sequences, nullptr, rows_.read(sequences, true));
  return {rows_.tokens(x, sequences, inputs.shape()[1]), rows_.roots(x, sequences)};
}

bool Trunk::has_root() const { return star_ || rows_.present(); }

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

Var Trunk::run_blocks(const Pass& pass, Var x, const std::vector<Sequences>& sequences,
                      const autograd::RowNumbers& read, std::vector<float>* steps) const {
  if (universal_ && streams_)
    return universal_->run(pass, stack_, positions_, x, sequences[0], *streams_);
  if (universal_)
    return universal_->run(pass, blocks_, positions_, x, sequences[0], recompute_.any(), steps);
  if (streams_) return stack_.run(pass, x, x, of_branches(sequences), *streams_);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const core::Scope scope("layers", Index(i));
    const bool ends = read && i + 1 == blocks_.size();
    const auto layer = [&block = blocks_[i], own_sequences = sequences[i],
                        rows = ends ? read : nullptr](const Pass& own, const Var& in) {
      return rows ? block.forward_rows(own, in, own_sequences, rows)
                  : block.forward(own, in, own_sequences);
    };
    x = recompute_.of(Index(i)) ? autograd::recompute(pass.at(i), layer, x) : layer(pass.at(i), x);
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
  core::require(!star_, "model: a star reads whole sequences and cannot go on token by token");
  BranchStates states;
  for (Index t = 0; t < times(); ++t)
    for (const Block& block : blocks_)
      for (const auto& branch : block.branches()) states.branches.push_back(branch->begin());
  return states;
}

Tensor Trunk::step_rows(const StackRows& rows, Tensor x) const {
  if (universal_)
    return streams_ ? universal_->step(rows, stack_, positions_, x, *streams_)
                    : universal_->step(rows, blocks_, positions_, x);
  if (streams_) {
    Tensor second = x;
    stack_.step(rows, 0, x, second);
    return ReversibleStack::join(x, second, *streams_);
  }
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    x = blocks_[i].step(rows, i * Block::names.size(), x);
  return x;
}

Tensor Trunk::step(const NextTokens& tokens) const {
  const autograd::RowsAlone alone;
  StackRows rows;
  std::vector<Tensor> entering;
  auto of_tokens = std::make_shared<std::vector<Index>>();
  for (const auto& [sequence, token] : tokens) {
    const Index position = sequence->position;
    of_tokens->push_back(Index(rows.size()));
    rows.push_back({sequence, position});
    entering.push_back(embed(Pass(), core::Tokens({1, 1}, {token}), position).value());
    ++sequence->position;
    if (!rows_.present()) continue;
    for (const Index other : rows_.rule().completed_by(position)) {
      rows.push_back({sequence, other});
      entering.push_back(rows_.begin_row());
    }
  }
  const Index n = Index(rows.size());
  Var x(
      step_rows(rows, stacked_rows(n, width_, [&](Index r) { return entering[std::size_t(r)]; })));
  if (of_tokens->size() < rows.size()) x = autograd::gather_rows(x, of_tokens);
  return final_norm_ ? final_norm_->forward(Pass(), x).value() : x.value();
}

Cost Trunk::attention_cost(const Sequences& sequences) const {
  if (star_) return star_->cost(sequences);
  Cost total;
  const Sequences own = rows_.present() ? rows_.over(sequences) : sequences;
  for (Index t = 0; t < times(); ++t)
    for (const Block& block : blocks_) total += block.attention().cost(own, recurrent_);
  return total;
}

core::Traffic Trunk::chunk_traffic(const core::ChunkCut& cut, Index batch, Index from,
                                   Index to) const {
  core::Traffic sent;
  for (const Block& block : blocks_) sent += block.attention().chunk_traffic(cut, batch, from, to);
  return sent;
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
  Index total = star_ ? star_->weights() : 0;
  for (const Block& block : blocks_) total += block.weights();
  return total;
}

double Trunk::weight_rows(Index length, bool roots) const {
  if (star_) return double(layer_weights()) * star_->rows_per_token(length);
  const double rows = rows_.rows_per_token(length);
  const double read = roots ? 1 + 1 / double(length) : 1;
  const double unread =
      ends_in_read_rows() ? (rows - read) * double(blocks_.back().weights_of_rows()) : 0;
  return double(times()) * rows * double(layer_weights()) - unread;
}

void Trunk::visit(Inventory& inventory) {
  inventory.add("tokens.weight", tokens_);
  inventory.enter("positions", positions_);
  inventory.enter("rows", rows_);
  if (pixels_) inventory.enter("pixels", *pixels_);
  inventory.enter("shared", *shared_);
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    inventory.enter("layers." + std::to_string(i), blocks_[i]);
  if (star_) star_->visit(inventory);
  if (universal_) inventory.enter("universal", *universal_);
  if (final_norm_) inventory.enter("final_norm", *final_norm_);
}

}  // namespace weft::layers
