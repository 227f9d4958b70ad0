#include "experiments/report/result_tables.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "experiments/console/number_text.h"
#include "experiments/evaluate/baselines.h"
#include "experiments/report/contrast.h"
#include "experiments/report/doubts.h"
#include "experiments/report/score_text.h"

namespace weft::experiments {
namespace {

const char* const meaning_of_differences =
    " over the seeds that both have, ± its 95 % interval by a paired t test. Better or worse: the "
    "interval excludes 0; tie: it holds 0 and stays within 0.01; undecided: neither, followed by "
    "the "
    "number of seeds with which such a test (5 %, power 80 %) finds a difference of this size.";

const char* const meaning_of_star = "* can still change: the sweep has not finished.";

std::string title_of(const std::string& metric, const ComparedTask& task) {
  if (metric == "bits") return "bits per " + task.unit;
  if (metric == "sequence_accuracy") return "whole sequences";
  return metric;
}

bool any(const ComparedTask& task, bool (*holds)(const ComparedRow&)) {
  return std::ranges::any_of(task.rows, holds);
}

std::string notes_of(const ComparedRow& row) {
  std::string text;
  for (const std::string& note : row.notes) text += (text.empty() ? "" : "; ") + note;
  return text;
}

bool has_chosen(const ComparedRow& row) { return !row.chosen.empty(); }
bool has_notes(const ComparedRow& row) { return !row.notes.empty(); }
bool is_leaking(const ComparedRow& row) { return row.leaks; }
bool is_pruned(const ComparedRow& row) { return row.pruned; }
bool is_moving(const ComparedRow& row) { return row.moving; }

/// A number that can still change.
std::string marked(const std::string& text, bool moving) {
  return moving && text != unknown_value && !text.empty() ? text + " *" : text;
}

/// "test", or "the first 100000 tokens of test, the same for all"
std::string scored_part(const ComparedTask& task) {
  if (task.eval_tokens == 0) return task.split;
  return "the first " + std::to_string(task.eval_tokens) + " tokens of " + task.split +
         ", the same for all";
}

std::vector<std::string> remarks_of(const Comparison& comparison, const ComparedTask& task) {
  std::vector<std::string> remarks;
  remarks.push_back("Each trial's best checkpoint by validation loss, scored on " +
                    scored_part(task) + "; mean ± standard deviation over n seeds.");
  if (any(task, has_chosen))
    remarks.push_back("Settings other than " + comparison.by +
                      " were chosen by validation loss too.");
  if (std::isfinite(task.floor_bits))
    remarks.push_back("The source itself leaves " + format_fixed(task.floor_bits, 4) +
                      " bits per " + task.unit + " open.");
  std::vector<data::BitsBaseline> tables;
  for (const auto& [name, bits] : task.bits_baselines) tables.push_back({name, bits});
  std::ranges::sort(tables, std::ranges::greater(), &data::BitsBaseline::bits);
  if (!tables.empty())
    remarks.push_back("Bits by tables of counts, without a model: " + print_baselines(tables) +
                      ".");
  std::vector<data::Baseline> known;
  for (const auto& [name, accuracy] : task.baselines) known.push_back({name, accuracy});
  if (task.classifies) known.push_back({"chance", task.chance});
  std::ranges::sort(known, {}, &data::Baseline::accuracy);
  if (!known.empty())
    remarks.push_back("Right without a model: " + print_baselines(known) + ".");
  else if (std::isfinite(task.chance))
    remarks.push_back("A guess recalls " + format_fixed(task.chance, 3) + ".");
  if (const ComparedRow* reference = reference_of(comparison, task))
    remarks.push_back("Δ: mean difference from " + reference->name + meaning_of_differences);
  if (any(task, is_leaking))
    remarks.push_back(
        "(leaks): lets training or attention read the future; its results do not compare with the "
        "others. The bits after it are what a token costs more where the future is cut off.");
  if (any(task, is_pruned))
    remarks.push_back("Pruned: so far behind after the first seeds that [prune] gave it no more.");
  if (any(task, is_moving)) remarks.push_back(meaning_of_star);
  if (any(task, has_notes))
    remarks.push_back("Trials that failed or have not finished are left out of every mean.");
  for (const Doubt& doubt : doubts_of(task)) remarks.push_back("Doubt: " + doubt.text + ".");
  return remarks;
}

/// The cells of a metric that nothing beats by more than seeds explain; none where that is all.
void set_off_best(const ComparedTask& task, const std::string& metric, std::size_t column,
                  Table& table) {
  const auto rows = competitors(task, metric);
  std::vector<std::size_t> ahead;
  for (const ComparedRow* row : rows)
    if (row == rows.front() ||
        contrast_of(*row, *rows.front(), metric).finding != Contrast::Finding::worse)
      ahead.push_back(std::size_t(row - task.rows.data()));
  if (ahead.size() == rows.size()) return;
  std::ranges::sort(ahead);
  for (const std::size_t row : ahead) table.best.emplace_back(row, column);
}

std::string doubts_about(const ComparedTask& task, const ComparedRow& row) {
  std::string text;
  for (const Doubt& doubt : doubts_of(task))
    if (std::ranges::find(doubt.rows, row.name) != doubt.rows.end())
      text += (text.empty() ? "" : "; ") + doubt.text;
  return text;
}

void add_values(Table& table, const ComparedTask& task, const ComparedRow& row,
                const std::string& metric, const Statistic& score) {
  const auto number = [](double value) { return std::isfinite(value) ? format_exact(value) : ""; };
  table.rows.push_back({task.name, row.name, row.chosen, metric, number(score.mean),
                        number(score.deviation), std::to_string(score.n),
                        std::to_string(row.planned), row.leaks ? "yes" : "no", notes_of(row),
                        doubts_about(task, row), row.moving ? "yes" : "no"});
}

Table values_table() {
  return {"",
          {"task", "name", "chosen", "metric", "mean", "std", "n", "planned", "leaks", "notes",
           "doubts", "can_change"},
          {},
          {}};
}

}  // namespace

Table result_table(const Comparison& comparison, const ComparedTask& task) {
  Table table{task.name, {comparison.by}, {}, remarks_of(comparison, task)};
  const bool chosen = any(task, has_chosen), notes = any(task, has_notes);
  if (chosen) table.header.push_back("chosen");
  for (const std::string& metric : task.metrics) table.header.push_back(title_of(metric, task));
  table.header.push_back("n");
  const ComparedRow* reference = reference_of(comparison, task);
  if (reference) table.header.push_back("Δ " + reference->name);
  table.header.insert(table.header.end(), {"parameters", "Gflop"});
  if (notes) table.header.push_back("missing");
  for (const ComparedRow& row : task.rows) {
    std::vector<std::string> cells{row.marked_name()};
    if (chosen) cells.push_back(marked(row.chosen, row.moving));
    for (const std::string& metric : task.metrics) {
      const auto score = row.scores.find(metric);
      cells.push_back(score == row.scores.end()
                          ? unknown_value
                          : marked(format_score(metric, score->second), row.moving));
    }
    const std::string n = std::to_string(row.done.size());
    cells.push_back(Index(row.done.size()) == row.planned ? n
                                                          : n + "/" + std::to_string(row.planned));
    if (reference)
      cells.push_back(&row == reference
                          ? unknown_value
                          : marked(text_of(contrast_of(row, *reference, task.metrics.front()),
                                           task.metrics.front()),
                                   row.moving || reference->moving));
    cells.push_back(format_count(double(row.parameters)));
    cells.push_back(format_fixed(row.flops / 1e9, 0));
    if (notes) cells.push_back(notes_of(row));
    table.rows.push_back(std::move(cells));
  }
  for (std::size_t i = 0; i < task.metrics.size(); ++i)
    set_off_best(task, task.metrics[i], i + (chosen ? 2 : 1), table);
  return table;
}

Table pair_table(const ComparedTask& task) {
  const std::string& metric = task.metrics.front();
  const auto rows = competitors(task, metric);
  Table table{task.name + ": pairs",
              {"first", "second", "difference in " + title_of(metric, task)},
              {},
              {}};
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t k = i + 1; k < rows.size(); ++k)
      table.rows.push_back({rows[i]->name, rows[k]->name,
                            marked(text_of(contrast_of(*rows[i], *rows[k], metric), metric),
                                   rows[i]->moving || rows[k]->moving)});
  table.remarks.push_back(std::string("Mean difference of the first from the second") +
                          meaning_of_differences);
  if (std::ranges::any_of(rows, [](const ComparedRow* row) { return row->moving; }))
    table.remarks.push_back(meaning_of_star);
  return table;
}

Table measured_table(const Comparison& comparison, const ComparedTask& task) {
  Table table{task.name + ": measured",
              {comparison.by, "tokens/s", "training", "peak MB"},
              {},
              {"Measured while the trials ran: compare within one sweep on one machine only."}};
  if (any(task, is_moving)) table.remarks.push_back(meaning_of_star);
  for (const ComparedRow& row : task.rows)
    table.rows.push_back(
        {row.marked_name(),
         row.tokens_per_s.n > 0 ? format_count(row.tokens_per_s.mean) : unknown_value,
         row.train_seconds.n > 0 ? format_duration(row.train_seconds.mean) : unknown_value,
         format_fixed(row.peak_bytes.mean / 1e6, 1)});
  return table;
}

Table result_values(const Comparison& comparison) {
  Table table = values_table();
  for (const ComparedTask& task : comparison.tasks)
    for (const ComparedRow& row : task.rows) {
      for (const std::string& metric : task.metrics) {
        const auto score = row.scores.find(metric);
        add_values(table, task, row, metric,
                   score == row.scores.end() ? Statistic::of({}) : score->second);
      }
      if (row.leaks) add_values(table, task, row, "leak_bits", row.leak_bits);
    }
  return table;
}

Table measured_values(const Comparison& comparison) {
  Table table = values_table();
  for (const ComparedTask& task : comparison.tasks)
    for (const ComparedRow& row : task.rows) {
      add_values(table, task, row, "tokens_per_s", row.tokens_per_s);
      add_values(table, task, row, "train_seconds", row.train_seconds);
      add_values(table, task, row, "peak_bytes", row.peak_bytes);
    }
  return table;
}

Table pair_values(const Comparison& comparison) {
  const auto number = [](double value) { return std::isfinite(value) ? format_exact(value) : ""; };
  Table table{"",
              {"task", "first", "second", "metric", "difference", "half_width", "n", "finding",
               "seeds_to_decide", "p_sign_flips", "can_change"},
              {},
              {}};
  for (const ComparedTask& task : comparison.tasks)
    for (const std::string& metric : task.metrics) {
      const auto rows = competitors(task, metric);
      for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t k = i + 1; k < rows.size(); ++k) {
          const Contrast contrast = contrast_of(*rows[i], *rows[k], metric);
          table.rows.push_back({task.name, rows[i]->name, rows[k]->name, metric,
                                number(contrast.difference.mean), number(contrast.half_width),
                                std::to_string(contrast.difference.n), name_of(contrast.finding),
                                contrast.enough ? std::to_string(*contrast.enough) : "",
                                contrast.difference.n > 1 ? number(contrast.probability) : "",
                                rows[i]->moving || rows[k]->moving ? "yes" : "no"});
        }
    }
  return table;
}

}  // namespace weft::experiments
