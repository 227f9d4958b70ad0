#include "layers/universal/universal_settings.h"

namespace weft::layers {
namespace {

void list_act(core::Fields& field, UniversalSettings& s) {
  field.number(
      "halt_epsilon", s.epsilon,
      "a position halts when its probabilities of halting add up to more than 1 minus this",
      core::between(0, 0.5));
  field.number("halt_price", s.price, "penalty for each step, averaged over the real positions",
               core::at_least(0));
  field.number("halt_bias", s.bias,
               "initial bias of the halting unit; above 0 most positions halt after two steps from "
               "the start, and training may not recover from that");
  field.choice("halt_combine", s.combine,
               "accumulate: the weighted sum of the steps' results; mix: each step mixes its "
               "result with the previous one",
               {{"accumulate", HaltCombine::accumulate}, {"mix", HaltCombine::mix}});
  field.flag("halt_freeze", s.freeze,
             "other positions read a halted position as it was when it halted; if false, it "
             "continues to change");
}

}  // namespace

void UniversalSettings::fields(core::Fields& field) {
  field.added("steps");
  field.integer("steps", steps,
                "Universal Transformer: how often the layers run, each time with the same weights "
                "and with the step and the positions added again; 0: once, without these",
                core::between(0, 1000));
  field.when(chosen(), "model.steps above 0", [&] {
    field.choice("halting", halting,
                 "none: every position takes all steps; act: each decides when to halt, by "
                 "adaptive computation time",
                 {{"none", Halting::none}, {"act", Halting::act}});
    field.when("halting", {"act"}, [&] { list_act(field, *this); });
  });
}

}  // namespace weft::layers
