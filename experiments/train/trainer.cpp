#include "experiments/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>

#include "autograd/shard.h"
#include "core/error.h"
#include "core/ranks/collectives.h"
#include "experiments/train/run_model.h"

namespace weft::experiments {

using autograd::ParameterArena;
using core::Real;

namespace {

core::Stretch own_units(const core::Ranks& ranks, const TrainSettings& train) {
  const Index units = train.units().count();
  const std::string advice =
      train.chunks > 1 ? core::message_of("chunks: set train.chunks=", ranks.count(),
                                          " or a multiple that divides data.length")
                       : core::message_of(units == 1 ? "shard" : "shards",
                                          " of the batch: set train.shards=", ranks.count(),
                                          " or a multiple that divides train.batch");
  core::require(ranks.count() <= units, ranks.count(), " processes cannot share ", units, " ",
                advice);
  return core::shards_of(ranks.rank(), ranks.count(), units);
}

/// A chunk that is recorded, and waits for its turn in the sweep.
struct RecordedChunk {
  explicit RecordedChunk(const autograd::TapeOptions& options) : tape(options) {}
  autograd::Tape tape;
  autograd::Journal journal;
  autograd::Var loss;
};

}  // namespace

Trainer::Trainer(const RunConfig& config, core::Ranks& ranks)
    : Trainer(config, make_dataset(config), ranks) {}

Trainer::Trainer(const RunConfig& config, std::unique_ptr<data::Dataset> dataset,
                 core::Ranks& ranks)
    : ranks_(ranks),
      config_(config),
      dataset_(std::move(dataset)),
      model_(make_model(config, shape_of(config, *dataset_))),
      own_(own_units(ranks, config.train)),
      slices_(0, ranks.count()),
      tree_(own_),
      link_(ranks, config.train.units()) {
  model_->visit(inventory_);
  arena_ = std::make_unique<ParameterArena>(inventory_, ParameterArena::Use::training,
                                            config.train.precision);
  arena_->initialise(core::Rng(std::uint64_t(config.seed)).fold("parameters"));
  slices_ = core::Slices(arena_->dense_size(), ranks.count());
  terms_ = std::make_unique<ShardTerms>(inventory_, *arena_);
  optimizer_ = config.optim.make_optimizer(*arena_);
  exchange_ = std::make_unique<optim::Exchange>(ranks, slices_, tree_, units().count(), *arena_);
  if (!ranks.alone()) {
    arena_->set_watch(inventory_, *exchange_);
    optimizer_->share(exchange_->sharing());
  }
  if (model_->recurrent())
    for (Index s = own_.begin; s < own_.end; ++s)
      memory_.push_back(model_->memory(config.train.batch / shards()));
}

/// The rows of a micro-batch that this rank reads.
core::Stretch Trainer::rows() const {
  const Index each = config_.train.batch / shards();
  const core::Stretch own = units().shards_of(own_);
  return {own.begin * each, own.end * each};
}

/// What a unit reads of this rank's rows of a micro-batch.
data::Batch Trainer::part_of(const data::Batch& batch, Index unit) const {
  const Index each = config_.train.batch / shards();
  const Index shard = units().shard_of(unit) - units().shard_of(own_.begin);
  data::Batch part = data::rows_of(batch, {shard * each, (shard + 1) * each});
  if (units().chunks > 1) part = data::columns_of(part, columns().of(units().chunk_of(unit)));
  return part;
}

Trainer::Portions Trainer::cut(const std::vector<data::Batch>& batches) const {
  std::vector<Index> counted;
  Portions portions(std::size_t(own_.size()));
  for (std::size_t m = 0; m < batches.size(); ++m) {
    counted.push_back(0);
    for (Index s = 0; s < own_.size(); ++s) {
      auto& own = portions[std::size_t(s)];
      own.push_back(
          {step_ * config_.train.accumulate + Index(m), part_of(batches[m], own_.begin + s), 0});
      counted[m] += model_->counted(own.back().batch);
    }
  }
  core::add_everywhere(ranks_, counted);
  for (auto& own : portions)
    for (std::size_t m = 0; m < batches.size(); ++m) own[m].counted = counted[m];
  return portions;
}

/// `link`: to the other chunks, where sequences are cut; null for a chunk by itself.
autograd::Var Trainer::record_loss(Index unit, const Portion& portion, autograd::Tape& tape,
                                   autograd::Journal& journal, layers::StreamMemory& memory,
                                   core::ChunkLink* link) const {
  if (!portion.batch.continues) memory.forget();
  core::Rng stream =
      core::Rng(std::uint64_t(config_.seed)).fold("training").fold(std::uint64_t(portion.number));
  if (units().count() > 1) stream = stream.fold(std::uint64_t(unit));
  const autograd::Pass pass(tape, stream, journal);
  autograd::set_shard(journal, unit);
  layers::Reading reading{portion.batch, model_->recurrent() ? &memory : nullptr, portion.counted,
                          units().count()};
  if (units().chunks > 1)
    reading.chunk = std::make_shared<const layers::ChunkPlace>(
        layers::ChunkPlace{columns(), units().chunk_of(unit), link});
  return model_->loss(pass, reading, Real(1) / Real(config_.train.accumulate));
}

double Trainer::run_micro_batch(Index unit, const Portion& portion, autograd::Journal& journal,
                                layers::StreamMemory& memory,
                                const autograd::TapeOptions& options) const {
  autograd::Tape tape(options);
  const autograd::Var loss = record_loss(unit, portion, tape, journal, memory, nullptr);
  const double value = core::scalar(loss.value());
  if (std::isfinite(value)) tape.sweep(loss);
  journal.forget_decisions();
  return value;
}

/// Of the next pass. The last one of a step is followed: from it gradients are sent as its sweep
/// completes them, and those of other units with the sums that they end.
autograd::TapeOptions Trainer::options_of(bool last, autograd::Profile* profile) {
  if (profile) profile->restart();
  autograd::TapeOptions options{.profile = profile};
  if (ranks_.alone() || !last) return options;
  exchange_->follow_last_pass();
  options.watch = exchange_.get();
  return options;
}

void Trainer::take_term(Index unit, double loss, const autograd::Journal& journal) {
  terms_->take(unit, loss, journal);
  if (!tree_.at_last()) tree_.take(arena_->gradients().first(std::size_t(arena_->dense_size())));
}

/// Leaves the last shard's gradients in the arena.
void Trainer::run_shard(Index shard, const std::vector<Portion>& portions,
                        layers::StreamMemory& memory, autograd::Profile* profile,
                        const std::function<void()>& poll) {
  arena_->zero_gradients();
  autograd::Journal journal;
  double loss = 0;
  for (std::size_t m = 0; m < portions.size() && std::isfinite(loss); ++m) {
    if (poll && (m > 0 || shard > own_.begin)) poll();
    const bool last = tree_.at_last() && m + 1 == portions.size();
    loss += run_micro_batch(shard, portions[m], journal, memory, options_of(last, profile));
  }
  take_term(shard, loss, journal);
}

/// The chunks of a row shard that this rank has: forward from left to right, then the sweep from
/// right to left, which is the order of units. A sweep runs also where the loss is not finite, as
/// other chunks wait for what it sends.
void Trainer::run_chunks(Index shard, const Portions& portions, autograd::Profile* profile,
                         const std::function<void()>& poll) {
  const core::Stretch own = units().units_in(shard, own_);
  link_.enter(shard);
  std::deque<RecordedChunk> recorded;  // in the order of units
  layers::StreamMemory none;
  for (Index unit = own.end; unit-- > own.begin;) {
    if (poll && unit + 1 < own_.end) poll();
    RecordedChunk& chunk = recorded.emplace_front(options_of(unit + 1 == own_.end, profile));
    chunk.loss = record_loss(unit, portions[std::size_t(unit - own_.begin)][0], chunk.tape,
                             chunk.journal, none, &link_);
  }
  for (Index unit = own.begin; unit < own.end; ++unit, recorded.pop_front()) {
    if (poll) poll();
    if (profile) profile->restart();
    RecordedChunk& chunk = recorded.front();
    const double loss = core::scalar(chunk.loss.value());
    arena_->zero_gradients();
    chunk.tape.sweep(std::move(chunk.loss));
    chunk.journal.forget_decisions();
    take_term(unit, loss, chunk.journal);
  }
}

Trainer::Step Trainer::step(autograd::Profile* profile, const std::function<void()>& poll) {
  const Index micro = config_.train.accumulate;
  auto batches = std::move(prefetch_);  // it comes back when the step is made
  if (!batches)
    batches = std::make_unique<data::Prefetch>(*dataset_, step_ * micro, micro + 1, rows());
  std::vector<data::Batch> read;
  for (Index m = 0; m < micro; ++m) {
    if (poll) poll();
    read.push_back(batches->next());
  }
  const Portions portions = cut(read);
  std::vector<layers::StreamMemory> memory = memory_;
  memory.resize(std::size_t(own_.size()));
  tree_.restart();
  terms_->restart();
  const core::Stretch shards = units().shards_of(own_);
  for (Index s = shards.begin; s < shards.end; ++s) {
    if (units().chunks > 1)
      run_chunks(s, portions, profile, poll);
    else
      run_shard(s, portions[std::size_t(s - own_.begin)], memory[std::size_t(s - own_.begin)],
                profile, poll);
  }
  exchange_->begin_rest();
  Step result{.loss = terms_->join(ranks_), .report = {}};
  exchange_->finish();
  link_.finish();
  if (!std::isfinite(result.loss)) explain_divergence("loss");
  result.report = optim::take_step(*optimizer_, *arena_, config_.optim, step_, total_steps());
  if (!result.report.applied) explain_divergence("gradient norm");
  terms_->commit();
  inventory_.constrain();
  if (model_->recurrent()) memory_ = std::move(memory);
  prefetch_ = std::move(batches);
  ++step_;
  return result;
}

/// Runs the step again and says where; of several ranks the first that finds a place.
void Trainer::explain_divergence(const char* what) const {
  const Index micro = config_.train.accumulate;
  std::string found;
  try {
    std::vector<data::Batch> read;
    for (Index m = 0; m < micro; ++m) read.push_back(dataset_->training(step_ * micro + m, rows()));
    const Portions portions = cut(read);
    for (Index s = 0; s < own_.size(); ++s) {
      autograd::Journal journal;
      layers::StreamMemory memory;
      if (model_->recurrent()) memory = memory_[std::size_t(s)];
      for (const Portion& portion : portions[std::size_t(s)])
        run_micro_batch(own_.begin + s, portion, journal, memory, {.check_finite = true});
    }
  } catch (const core::Error& error) {
    found = error.what();
  }
  const std::vector<std::string> all = core::gather(ranks_, found);
  const auto first = std::ranges::find_if(all, [](const auto& text) { return !text.empty(); });
  const std::string where = core::message_of("step ", step_, ": the ", what, " is not finite; ");
  const core::Error sums(core::Fault::diverged,
                         where + "every op by itself is finite: sums of gradients overflowed");
  if (first == all.end()) throw core::EndedTogether(sums, ranks_.is_first());
  throw core::EndedTogether({core::Fault::diverged, where + *first,
                             "Lower optim.lr, raise optim.warmup or lower optim.clip, and resume "
                             "from the last checkpoint"},
                            ranks_.is_first());
}

Index Trainer::tokens_per_step() const {
  return config_.train.batch * config_.train.accumulate * config_.data.length;
}

Index Trainer::scored_pairs_per_step() const {
  return model_->attention_cost(config_.train.batch).scored_pairs * config_.train.accumulate;
}

double Trainer::useful_flops(Index scored_pairs) const {
  const Index head_width = config_.model.width / config_.model.heads;
  return 6.0 * double(model_->matrix_weights()) * model_->rows_per_token() *
             double(tokens_per_step()) +
         12.0 * double(head_width) * double(scored_pairs);
}

Index Trainer::total_steps() {
  if (total_steps_ > 0) return total_steps_;
  const TrainSettings& train = config_.train;
  const auto steps_for = [](double budget, double per_step) {
    return std::max<Index>(1, Index(std::ceil(budget / per_step)));
  };
  if (train.steps > 0) return total_steps_ = train.steps;
  if (train.tokens > 0)
    return total_steps_ = steps_for(double(train.tokens), double(tokens_per_step()));
  if (train.flops > 0) return total_steps_ = steps_for(train.flops, useful_flops_per_step());
  // Time: that of the first rank.
  std::vector<double> seconds{seconds_of_micro_batch()};
  core::broadcast<double>(ranks_, seconds);
  return total_steps_ =
             steps_for(train.minutes * 60, seconds[0] * double(train.accumulate * own_.size()));
}

/// Forward and backward of one shard, the gradients thrown away: the best of a few.
double Trainer::seconds_of_micro_batch() {
  const Portions portions = cut({dataset_->training(0, rows())});
  double best = 1e300;
  for (Index i = 0; i < 4; ++i) {
    autograd::Journal journal;
    const auto start = std::chrono::steady_clock::now();
    layers::StreamMemory memory;
    if (model_->recurrent()) memory = memory_.front();
    run_micro_batch(own_.begin, portions[0][0], journal, memory, {});
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count());
  }
  arena_->zero_gradients();
  return best;
}

Index Trainer::fixed_bytes() const {
  return (2 * arena_->size() + tree_.arrays() * arena_->dense_size()) * Index(sizeof(Real)) +
         arena_->rounded_bytes() + optimizer_->bytes();
}

}  // namespace weft::experiments
