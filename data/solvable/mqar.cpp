#include "data/solvable/mqar.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "data/fingerprint.h"
#include "data/plan.h"
#include "data/tasks/draws.h"

namespace weft::data {

void MqarSettings::fields(core::Fields& fields, Index length) {
  fields.integer("keys", keys, "different keys", core::between(1, 25000));
  fields.integer("values", values, "different values", core::between(2, 25000));
  fields.integer("pairs", pairs, "keys in a sequence, each written with a value and asked for once",
                 core::at_least(1));
  fields.integer(
      "updates", updates,
      "how many of these keys are written again with another value; the last value counts",
      core::at_least(0));
  fields.number("power", power,
                "questions are drawn from the slots s = 0, 1 ... after the pairs with weight "
                "(s + 1)^(power - 1): 1 is uniform, 0.01 asks early",
                core::at_least(0));
  list_held_out(fields, held_out);
  if (pairs > keys)
    fields.problem("pairs", core::message_of("must be at most keys, which is ", keys));
  if (updates > pairs)
    fields.problem("updates", core::message_of("must be at most pairs, which is ", pairs));
  const Index needed = written() + 2 * pairs;
  if (length < needed)
    fields.problem("length", core::message_of("must be at least ", needed, ", so that ", pairs,
                                              " pairs, their updates and questions fit in"));
}

DataPlan configure_mqar(core::Fields& fields, Index length) {
  MqarSettings settings;
  settings.fields(fields, length);
  return plan_for<Mqar>(settings, length);
}

Mqar::Mqar(const MqarSettings& settings, Index length, Index batch, std::uint64_t seed)
    : Solvable("mqar", {settings.held_out, settings.keys + settings.values + 1, settings.values},
               length, batch, seed),
      settings_(settings),
      slots_((length - settings.written()) / 2) {
  core::require(settings.pairs >= 1 && settings.pairs <= settings.keys && settings.updates >= 0 &&
                    settings.updates <= settings.pairs && settings.values >= 2,
                "mqar: needs 1 <= pairs <= keys, 0 <= updates <= pairs and two values or more");
  core::require(slots_ >= settings.pairs, "mqar: ", settings.pairs, " pairs and ", settings.updates,
                " updates do not fit a sequence of ", length, "; make data.length at least ",
                settings.written() + 2 * settings.pairs);
}

/// Sorting by Exp(1) / weight draws without replacement in proportion to the weights.
std::vector<Index> Mqar::questions(const core::Rng& stream) const {
  std::vector<std::pair<double, Index>> order;
  for (Index slot = 0; slot < slots_; ++slot) {
    const double weight = std::pow(double(slot + 1), settings_.power - 1);
    order.emplace_back(-std::log1p(-stream.uniform(std::uint64_t(slot))) / weight, slot);
  }
  std::ranges::sort(order);
  std::vector<Index> chosen;
  for (Index i = 0; i < settings_.pairs; ++i) chosen.push_back(order[std::size_t(i)].second);
  return chosen;
}

void Mqar::draw(const core::Rng& stream, BatchRows& rows, Index row) const {
  const auto inputs = rows.inputs(row), targets = rows.targets(row),
             distances = rows.distances(row);
  const Index values = settings_.values, pairs = settings_.pairs;
  const auto value = [&](Index number) { return Token(settings_.keys + 1 + number); };
  const core::Rng noise = stream.fold("values");
  for (std::size_t t = 0; t < inputs.size(); ++t) inputs[t] = value(noise.below(t, values));

  const auto keys = choose_below(settings_.keys, pairs, stream.fold("keys"));
  std::vector<std::size_t> last(keys.size());  // where the last value of each key is
  for (std::size_t i = 0; i < keys.size(); ++i) {
    inputs[2 * i] = keys[i] + 1;
    last[i] = 2 * i + 1;
  }
  const auto again = choose_below(pairs, settings_.updates, stream.fold("updated"));
  for (std::size_t u = 0; u < again.size(); ++u) {
    const auto key = std::size_t(again[u]);
    const std::size_t place = 2 * (keys.size() + u);
    const Index old = inputs[last[key]] - value(0);
    const Index shift = 1 + stream.fold("updates").below(u, values - 1);
    inputs[place] = keys[key] + 1;
    inputs[place + 1] = value((old + shift) % values);
    last[key] = place + 1;
  }
  const auto slots = questions(stream.fold("questions"));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto place = std::size_t(settings_.written() + 2 * slots[i]);
    inputs[place] = keys[i] + 1;
    targets[place] = inputs[last[i]];
    distances[place] = Token(place - last[i]);
  }
}

std::string Mqar::fingerprint() const {
  const MqarSettings& s = settings_;
  return fingerprint_of(core::message_of(
      "mqar length=", length(), " keys=", s.keys, " values=", s.values, " pairs=", s.pairs,
      " updates=", s.updates, " power=", s.power, " held_out=", s.held_out));
}

}  // namespace weft::data
