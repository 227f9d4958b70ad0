#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/ranks/ranks.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/saved_model.h"
#include "experiments/evaluate/leak_audit.h"
#include "experiments/train/trainer.h"

namespace weft::experiments {
namespace {

LeakAudit audit_of(const CommandLine& line) {
  const Index trials = line.integer("trials"), seed = line.integer("seed");
  if (std::filesystem::is_directory(line.words()[0])) {
    const LoadedModel saved = load_saved_model(line);
    return audit_leaks(layers::as_language_model(*saved.model, "audit"), *saved.dataset, trials,
                       seed);
  }
  const RunConfig config = RunConfig::load(line.words()[0], line.overrides());
  const Trainer trainer(config);
  return audit_leaks(layers::as_language_model(trainer.model(), "audit"), trainer.dataset(), trials,
                     seed);
}

}  // namespace

int audit_command(const Arguments& arguments) {
  CommandLine line("weft audit CONFIG|RUN [section.key=value ...]",
                   "Replaces all tokens from a random position on and counts the earlier outputs "
                   "that change: a causal model has none. A config is audited with its starting "
                   "weights, a run with its newest checkpoint. Exits with 1 when something leaks.");
  line.words(1, 1000, "CONFIG or RUN");
  add_checkpoint_option(line);
  line.option("trials", "N", "sequences to try", "20")
      .option("seed", "N", "the seed for positions and tokens", "0")
      .flag("json", "print one JSON object");
  if (!line.parse(arguments)) return 0;
  if (!core::ranks().is_first()) return 0;  // one process audits
  const LeakAudit audit = audit_of(line);
  std::cout << (line.has("json") ? audit_json(audit).dump(2) + "\n" : print_audit(audit));
  return audit.clean() ? 0 : 1;
}

}  // namespace weft::experiments
