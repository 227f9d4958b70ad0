#include "layers/attention/clusters/routing_settings.h"

#include <charconv>
#include <cmath>

#include "core/error.h"

namespace weft::layers {
namespace {

constexpr Index most_clusters = 65535;

/// The number that a text is, or 0.
Index number_in(const std::string& text) {
  Index number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

}  // namespace

void RoutingSettings::fields(core::Fields& field) {
  using Start = CentroidSettings::Start;
  field.choice("mode", mode,
               "strict: a token joins its nearest centroid, nothing leaks; paper: each centroid "
               "takes its nearest tokens of the whole sequence, including later ones",
               {{"strict", Mode::strict}, {"paper", Mode::paper}});
  field.text(
      "clusters", clusters,
      "clusters of a head: a number, or \"sqrt\" for the square root of the training length");
  field.renamed("window", "chunk");
  field.integer("chunk", chunk,
                "strict: tokens of a chunk, of which a token reads its own and the one before; "
                "paper: tokens that a centroid takes",
                core::between(1, 65536));
  field.flag("shared", shared, "keys are the queries; if false, keys have a separate projection");
  field.choice("normalise", normalise,
               "layernorm: tokens are normalised to zero mean and unit variance; l2: to unit "
               "length to choose clusters, and not at all for scores",
               {{"layernorm", Normalise::layernorm}, {"l2", Normalise::l2}});
  field.flag("unit_keys", unit_keys, "normalise = \"l2\": keys at unit length");
  field.number("scale", scale, "factor of the scores; 0 means 1 / sqrt(head width)",
               core::at_least(0));
  field.choice(
      "self", self,
      "a token reads itself only if it reads no other key (fallback), or like any key (scored)",
      {{"fallback", Self::fallback}, {"scored", Self::scored}});
  field.number("count_eps", count_eps, "paper: added to the number of clusters that took a token",
               core::between(0, 1));
  field.number("decay", decay, "decay of the centroids' moving average", core::between(0, 1));
  field.choice("update", update, "centroids move towards their members' mean, or their plain sum",
               {{"mean", Update::mean}, {"sum", Update::sum}});
  field.choice("init", init,
               "initial centroids: random, ten rounds of k-means from tokens of the first batch, "
               "or tokens chosen far apart",
               {{"normal", Start::normal}, {"sample", Start::sample}, {"kmeans++", Start::spread}});
  field.integer("reseed_after", reseed_after,
                "steps after which an idle cluster splits the largest; 0: never",
                core::between(0, 1'000'000));
  field.number("commitment", commitment, "weight of the loss that draws tokens to their centroids",
               core::between(0, 1e6));
  const Index number = number_in(clusters);
  if (clusters != "sqrt" && (number < 1 || number > most_clusters))
    field.problem("clusters", core::message_of("\"", clusters, "\" is neither \"sqrt\" nor a ",
                                               "number from 1 to ", most_clusters));
  if (unit_keys && normalise != Normalise::l2)
    field.problem("unit_keys", "means something with normalise = \"l2\" only");
  if (count_eps > 0 && !paper())
    field.problem("count_eps", "means something in mode = \"paper\" only");
}

AttentionTraits RoutingSettings::traits() const {
  return {.summary = "softmax over tokens of the same learned cluster (Routing Transformer)",
          .exact = false,
          .cross = !shared,
          .leaks = paper(),
          .adaptive = true,
          .bf16 = true,
          .separate_keys = !shared,
          .keys_per_token = "at most 2 chunk; paper: chunk for each cluster that takes it",
          .decode_state = "every key and value, and the clusters' members"};
}

Index RoutingSettings::cluster_count(Index length) const {
  const Index number = number_in(clusters);
  return number > 0
             ? number
             : std::clamp<Index>(Index(std::lround(std::sqrt(double(length)))), 1, most_clusters);
}

CentroidSettings RoutingSettings::centroids(Index heads, Index width, Index length) const {
  return {.heads = heads,
          .clusters = cluster_count(length),
          .width = width,
          .form = normalise == Normalise::l2 ? HeadForm{HeadForm::Law::unit, 0}
                                             : HeadForm{HeadForm::Law::standard, Real(1e-6)},
          .decay = decay,
          .sums = update == Update::sum,
          .separate_keys = !shared,
          .start = init,
          .reseed_after = reseed_after};
}

ListedForms RoutingSettings::forms() const {
  const HeadForm standard{HeadForm::Law::standard, Real(1e-6)}, unit{HeadForm::Law::unit, 0};
  if (normalise == Normalise::l2) return {{}, unit_keys ? unit : HeadForm{}, shared};
  return {standard, standard, shared};
}

}  // namespace weft::layers
