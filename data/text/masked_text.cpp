#include "data/text/masked_text.h"

#include <algorithm>

#include "core/error.h"
#include "data/fingerprint.h"

namespace weft::data {

MaskedText::MaskedText(const TextSettings& settings, Index length, Index batch, std::uint64_t seed)
    : text_(settings, length, batch, seed),
      masking_(settings.hidden, text_.vocabulary()),
      settings_(settings.hidden),
      batch_(batch),
      training_(core::Rng(seed).fold("masked text")) {
  core::require(settings.sampling == TextSettings::Sampling::crops,
                "data.masking hides tokens of crops: set data.sampling = \"crops\"");
}

Batch MaskedText::read_training(Index number, core::Stretch asked) const {
  BatchRows rows(asked.size(), length());
  for (Index row = 0; row < asked.size(); ++row) {
    const core::Rng own = training_.fold(std::uint64_t(number * batch_ + asked.begin + row));
    const Index places = text_.tokens(Split::training) - length() + 1;
    text_.read(Split::training, own.below(0, places), rows.inputs(row));
    masking_.hide(rows.inputs(row), rows.targets(row), own.fold("hidden"));
  }
  return std::move(rows).finish();
}

Index MaskedText::windows(Split split) const {
  const Index size = text_.tokens(split);
  if (size < length())
    throw core::Error(
        core::Fault::data,
        core::message_of("the ", name_of(split), " split holds ", size, " ", text_.token_name(),
                         size == 1 ? "" : "s", ", less than one window of data.length = ", length(),
                         ": lower data.length, give the split a larger share in "
                         "data.fractions, or a separate file in data.",
                         name_of(split), "_path"));
  return (size + length() - 1) / length();
}

Index MaskedText::evaluation_batches(Split split, Index stride) const {
  core::require(stride == length(),
                "evaluation: hidden tokens are scored in windows that do not "
                "overlap; leave out --stride, or give it data.length, ",
                length());
  return (windows(split) + batch_ - 1) / batch_;
}

Batch MaskedText::evaluation(Split split, Index number, Index stride) const {
  core::require(number >= 0 && number < evaluation_batches(split, stride), "data: ", name_of(split),
                " batch ", number, " does not exist");
  const core::Rng all = core::Rng(0).fold("masked evaluation").fold(name_of(split));
  BatchRows rows(batch_, length());
  for (Index row = 0; row < batch_; ++row) {
    const Index window = number * batch_ + row;
    if (window >= windows(split)) break;
    const Index begin = std::min(window * length(), text_.tokens(split) - length());
    text_.read(split, begin, rows.inputs(row));
    masking_.hide(rows.inputs(row), rows.targets(row), all.fold(std::uint64_t(window)));
    const Index read_before = window * length() - begin;
    std::ranges::fill(rows.targets(row).first(std::size_t(read_before)), core::no_target);
  }
  return std::move(rows).finish();
}

std::vector<Baseline> MaskedText::baselines(Split split) const {
  std::vector<Index> counts(std::size_t(vocabulary()), 0);
  double scored = 0, kept = 0;
  for (Index i = 0; i < evaluation_batches(split, length()); ++i) {
    const Batch batch = evaluation(split, i, length());
    const auto inputs = batch.inputs.read(), targets = batch.targets.read();
    for (std::size_t t = 0; t < targets.size(); ++t) {
      if (targets[t] == core::no_target) continue;
      ++scored;
      ++counts[std::size_t(targets[t])];
      kept += inputs[t] == targets[t];
    }
  }
  std::vector<Baseline> all = {
      {"most frequent " + text_.token_name(), double(std::ranges::max(counts)) / scored}};
  if (settings_.masking == MaskingSettings::Kind::bert)
    all.push_back({"what stands there", kept / scored});
  std::ranges::sort(all, {}, &Baseline::accuracy);
  return all;
}

std::string MaskedText::decode(std::span<const Token> tokens) const {
  std::string text;
  for (auto rest = tokens; !rest.empty();) {
    const auto end = std::ranges::find(rest, masking_.mask_token());
    const auto count = std::size_t(end - rest.begin());
    text += text_.decode(rest.first(count));
    if (end != rest.end()) text += "\u2588";
    rest = rest.subspan(std::min(count + 1, rest.size()));
  }
  return text;
}

std::string MaskedText::fingerprint() const {
  return fingerprint_of(
      core::message_of(text_.fingerprint(), " masking=", name_of(settings_.masking),
                       " share=", settings_.mask_share, " span=", settings_.mask_span));
}

}  // namespace weft::data
