#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::experiments {

using Arguments = std::vector<std::string>;

/// A verb of the program. `run` returns the exit code.
struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(const Arguments& arguments);
};

int train_command(const Arguments& arguments);
int eval_command(const Arguments& arguments);
int generate_command(const Arguments& arguments);
int config_command(const Arguments& arguments);
int list_command(const Arguments& arguments);
int bench_command(const Arguments& arguments);
int verify_resume_command(const Arguments& arguments);
int audit_command(const Arguments& arguments);
int sweep_command(const Arguments& arguments);
int report_command(const Arguments& arguments);
int plan_command(const Arguments& arguments);
int export_command(const Arguments& arguments);
int import_command(const Arguments& arguments);
int ckpt_command(const Arguments& arguments);
int data_command(const Arguments& arguments);
int data_prepare_command(const Arguments& arguments);
int data_dedup_command(const Arguments& arguments);
int completion_command(const Arguments& arguments);

std::span<const Command> all_commands();
/// What weft data does.
std::span<const Command> data_commands();

}  // namespace weft::experiments
