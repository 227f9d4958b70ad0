// The reversible encoder and decoder against the same streams on one plain tape.
#include "core/memory.h"
#include "core/parallel.h"
#include "tests/gradient_check.h"
#include "tests/layers/model/sample_seq2seq.h"

namespace weft::layers::terraformer_contract_test {
namespace {

constexpr bool in_double = sizeof(Real) == sizeof(double);

/// Both streams with every activation kept: branch i reads one and adds to the other.
std::pair<Var, Var> run_plain(const ReversibleStack& stack, const Pass& pass, const Var& first,
                              const Var& second, const Sequences& sequences) {
  Var streams[2] = {first, second};
  for (std::size_t i = 0; i < stack.size(); ++i)
    streams[i % 2] =
        autograd::add(streams[i % 2], stack[i].forward(pass.at(i), streams[1 - i % 2], sequences));
  return {streams[0], streams[1]};
}

/// Terraformer::hidden written out by hand.
Var plain_hidden(const Terraformer& model, const Pass& pass, const Reading& reading) {
  const Index batch = reading.inputs.shape()[0], target = reading.inputs.shape()[1],
              source = reading.sources.shape()[1];
  const core::Lengths lengths = reading.source_lengths;
  std::vector<Index> joined_lengths(*lengths);
  for (Index& length : joined_lengths) length += target;
  Sequences sources = Sequences::self(batch, source, false),
            joined = Sequences::self(batch, source + target, true);
  sources.key_lengths = lengths;
  joined.key_lengths = std::make_shared<const std::vector<Index>>(joined_lengths);
  const Var x = model.embed_source(pass, reading.sources),
            y = model.embed_target(pass, reading.inputs);
  const auto [e1, e2] = run_plain(model.encoder(), pass.at("encoder"), x, x, sources);
  const auto [d1, d2] =
      run_plain(model.decoder(), pass.at("decoder"), autograd::join_rows(e1, y, lengths),
                autograd::join_rows(e2, y, lengths), joined);
  const Var mean = autograd::scale(autograd::add(d1, d2), Real(0.5));
  return model.finish(pass, autograd::rows_behind(mean, lengths, target));
}

struct Swept {
  Tensor out;
  std::vector<Real> gradients;
};

Swept run(SampleSeq2Seq& it, bool plain) {
  it.drawn.arena().zero_gradients();
  autograd::Tape tape;
  autograd::Journal journal;
  const Pass pass(tape, core::Rng(3), journal);
  const Reading reading = it.reading({4, 9, 1});
  const Var out = plain ? plain_hidden(dynamic_cast<const Terraformer&>(it.model), pass, reading)
                        : it.model.hidden(pass, reading);
  tape.sweep(out, tests::random_tensor(out.shape(), 5));
  return {out.value(), {it.drawn.arena().gradients().begin(), it.drawn.arena().gradients().end()}};
}

/// |x - y| / |y|
double distance(const std::vector<Real>& x, const std::vector<Real>& y) {
  double squares = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    squares += (double(x[i]) - double(y[i])) * (double(x[i]) - double(y[i]));
    size += double(y[i]) * double(y[i]);
  }
  return std::sqrt(squares / size);
}

TEST(Terraformer, has_the_gradients_of_two_plain_streams_with_dropout_on) {
  for (Seq2SeqForm form : every_seq2seq_form()) {
    if (!form.settings.reversible) continue;
    SCOPED_TRACE(describe(form));
    form.settings.dropout = 0.2;
    SampleSeq2Seq it(form.settings, form.sparse_projection);
    const Swept reversible = run(it, false), plain = run(it, true);
    EXPECT_TRUE(tests::same_bits(reversible.out.read(), plain.out.read()));
    EXPECT_LT(distance(reversible.gradients, plain.gradients), in_double ? 1e-9 : 1e-4);
  }
}

TEST(Terraformer, has_two_attentions_and_a_feed_forward_in_every_layer_of_the_decoder) {
  ModelSettings settings = small_seq2seq(true);
  settings.seq2seq.sru_width = 3;
  SampleSeq2Seq it(settings);
  const auto& model = dynamic_cast<const Terraformer&>(it.model);
  EXPECT_EQ(model.encoder().size(), 1u * 2);
  EXPECT_EQ(model.decoder().size(), 2u * 3);
  const Weights weights = it.drawn.weights();
  for (const std::string name :
       {"decoder.layers.1.attention0.norm.weight", "decoder.layers.1.attention1.projection.weight",
        "decoder.layers.1.feed_forward.in.weight",
        "decoder.layers.1.feed_forward.recurrent_unit.gates.weight",
        "encoder.layers.0.attention.output.weight"})
    EXPECT_TRUE(weights.contains(name)) << name;
}

TEST(Terraformer, takes_as_much_memory_at_depth_24_as_at_depth_4) {
  core::set_threads(1);  // how much of the kernels' scratch coincides depends on the threads
  const auto peak = [&](Index depth) {
    ModelSettings settings = small_seq2seq(true);
    settings.layers = settings.seq2seq.encoder_layers = depth;
    settings.width = 32;
    settings.ff = 128;
    settings.positions = PositionKind::sinusoidal;
    SampleSeq2Seq it(settings);
    const Reading reading = it.reading({9, 30}, 120);
    const Index before = core::memory_use().live;
    core::reset_memory_peak();
    it.train(reading);
    return core::memory_use().peak - before;
  };
  const Index shallow = peak(4), deep = peak(24);
  core::set_threads(0);
  EXPECT_LE(deep, shallow + shallow / 10) << shallow << " bytes at depth 4";
}

}  // namespace
}  // namespace weft::layers::terraformer_contract_test
