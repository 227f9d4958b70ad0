#include "experiments/run/train_settings.h"

#include <charconv>
#include <optional>

#include "core/error.h"
#include "experiments/console/number_text.h"

namespace weft::experiments {
namespace {

std::optional<Period> parse_period(const std::string& given) {
  const std::string text = without_kilo(given);
  double count = 0;
  const auto [rest, fault] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (fault != std::errc() || count < 0) return std::nullopt;
  std::string_view unit(rest, std::size_t(text.data() + text.size() - rest));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  if (unit == "minutes" || unit == "minute" || unit == "min" || unit == "m")
    return Period{.minutes = count};
  if ((unit.empty() || unit == "steps") && count == double(Index(count)))
    return Period{.steps = Index(count)};
  return std::nullopt;
}

/// "4GB", "512 MiB", "2.5e9"; nothing for what is no positive size.
std::optional<Index> parse_bytes(const std::string& text) {
  double count = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, fault] = std::from_chars(text.data(), end, count);
  if (fault != std::errc()) return std::nullopt;
  std::string unit(rest, end);
  std::erase(unit, ' ');
  for (const auto& [name, bytes] :
       {std::pair("", 1.0), std::pair("B", 1.0), std::pair("kB", 1e3), std::pair("KB", 1e3),
        std::pair("MB", 1e6), std::pair("GB", 1e9), std::pair("TB", 1e12), std::pair("KiB", 0x1p10),
        std::pair("MiB", 0x1p20), std::pair("GiB", 0x1p30), std::pair("TiB", 0x1p40)})
    if (unit == name && count * bytes >= 1 && count * bytes < 1e15) return Index(count * bytes);
  return std::nullopt;
}

}  // namespace

void TrainSettings::fields(core::Fields& field) {
  field.integer("steps", steps, "budget: optimizer steps (1000 when no budget is given)",
                core::at_least(0));
  field.integer("tokens", tokens, "budget: tokens read", core::between(0, 1e15));
  field.number("flops", flops, "budget: useful arithmetic by the cost model", core::at_least(0));
  field.number("minutes", minutes,
               "budget: time, converted to steps by measuring some at the start",
               core::at_least(0));
  field.integer("batch", batch, "sequences per batch", core::between(1, 1 << 20));
  field.integer("accumulate", accumulate, "batches whose gradients make one step",
                core::between(1, 1 << 20));
  field.added("shards");
  field.integer("shards", shards,
                "parts of the batch by sequences, whose gradients are added by a tree: as many "
                "processes may share a step",
                core::between(1, 1 << 16));
  if (batch % shards != 0)
    field.problem("shards", core::message_of("does not divide train.batch = ", batch));
  field.added("chunks");
  field.integer("chunks", chunks,
                "parts of each sequence, one after another, of which every process holds its own: "
                "for sequences that are too long for one machine",
                core::between(1, 128));
  field.integer("eval_every", eval_every, "steps between validations; 0: only at the end",
                core::at_least(0));
  field.integer("eval_batches", eval_batches,
                "batches of a validation during training, 0: the whole split; the final validation "
                "always uses the whole split",
                core::at_least(0));
  field.integer("patience", patience,
                "stop after this many validations without a new best; 0: never", core::at_least(0));
  field.text("checkpoint_every", checkpoint_every,
             "steps (500) or time (\"10 minutes\"); 0: never");
  field.integer("keep_last", keep_last, "newest checkpoints to keep", core::between(1, 1000));
  field.integer("keep_best", keep_best, "best checkpoints to keep", core::between(0, 1000));
  field.flag("recompute", recompute,
             "keep only each layer's input and compute the rest again in the backward pass");
  field.added("memory");
  field.text("memory", memory,
             "bytes that a training step may take, such as \"4GB\": as many layers as needed keep "
             "only their input and are computed again in the backward pass; empty: no limit");
  field.added("precision");
  field.choice("precision", precision,
               "of the factors of matrix products; bf16 sums and keeps parameters in float32",
               {{"float32", core::Precision::float32}, {"bf16", core::Precision::bf16}});
  field.flag("tensorboard", tensorboard,
             "also write the run's numbers as a TensorBoard event file");
  if ((steps > 0) + (tokens > 0) + (flops > 0) + (minutes > 0) > 1)
    field.problem(tokens > 0  ? "tokens"
                  : flops > 0 ? "flops"
                              : "minutes",
                  "only one of steps, tokens, flops and minutes can be the budget");
  if (steps == 0 && tokens == 0 && flops == 0 && minutes == 0) steps = 1000;
  if (!memory.empty() && !parse_bytes(memory))
    field.problem("memory", core::message_of("\"", memory,
                                             "\" is no number of bytes, such as \"4GB\" or "
                                             "\"512 MiB\""));
  if (!memory.empty() && recompute)
    field.problem("memory", "chooses which layers are recomputed: remove train.recompute");
  if (!parse_period(checkpoint_every))
    field.problem("checkpoint_every", core::message_of("\"", checkpoint_every,
                                                       "\" is neither steps (500) nor time "
                                                       "(\"10 minutes\")"));
}

Index TrainSettings::memory_bytes() const { return parse_bytes(memory).value_or(0); }

Period TrainSettings::checkpoint_period() const {
  return parse_period(checkpoint_every).value_or(Period{});
}

void SampleSettings::fields(core::Fields& field) {
  field.integer("tokens", tokens, "length of a sample; 0: none", core::at_least(0));
  field.text("prompt", prompt, "what a sample continues; empty: the start of the validation data");
  field.number("temperature", temperature, "divides the logits; 0: always the most probable token",
               core::at_least(0));
  field.integer("top_k", top_k, "draw among the k most probable tokens; 0: among all",
                core::at_least(0));
  field.flag("at_evaluations", at_evaluations, "also at each validation, not only at the end");
}

}  // namespace weft::experiments
