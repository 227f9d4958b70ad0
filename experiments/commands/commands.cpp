#include "experiments/commands/commands.h"

namespace weft::experiments {

std::span<const Command> all_commands() {
  static constexpr Command commands[] = {
      {"train", "train the model that a config describes, or continue a run", train_command},
      {"eval", "score a run's model on a split, every token once", eval_command},
      {"generate", "let a run's model continue a text", generate_command},
      {"config", "show every setting of a config and who set it", config_command},
      {"list", "list the attention mechanisms", list_command},
      {"bench", "measure a training step, or decoding token by token", bench_command},
      {"verify-resume", "prove that an interrupted run ends in the same bits",
       verify_resume_command},
      {"audit", "count the outputs that change when the future does", audit_command},
      {"sweep", "train every trial of an experiment, and continue it", sweep_command},
      {"report", "compare the trials of a sweep in tables and pictures", report_command},
      {"plan", "say what a run will take, and whether it fits", plan_command},
      {"export", "write a run's model as safetensors", export_command},
      {"import", "begin a run with a model from safetensors", import_command},
      {"ckpt", "list, show or verify the checkpoints of a run", ckpt_command},
      {"data", "prepare a text for training, or drop its near-duplicates", data_command},
      {"completion", "print what makes a shell complete verbs and settings", completion_command},
  };
  return commands;
}

}  // namespace weft::experiments
