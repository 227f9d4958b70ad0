#include "experiments/checkpoint/store.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "core/files/file_seal.h"
#include "experiments/checkpoint/file.h"

namespace weft::experiments {
namespace {

namespace fs = std::filesystem;

bool holds(const std::vector<CheckpointEntry>& entries, const std::string& file) {
  return std::ranges::any_of(entries, [&](const auto& entry) { return entry.file == file; });
}

/// The best `count` of the entries that were validated; of equals the older.
std::vector<CheckpointEntry> best_of(const std::vector<CheckpointEntry>& entries,
                                     core::Index count) {
  std::vector<CheckpointEntry> best;
  for (const CheckpointEntry& entry : entries)
    if (entry.validation && std::isfinite(*entry.validation)) best.push_back(entry);
  std::ranges::sort(best, {}, [](const CheckpointEntry& entry) {
    return std::pair(*entry.validation, entry.step);
  });
  best.resize(std::min(best.size(), std::size_t(count)));
  return best;
}

/// Reads a candidate after checking it; returns why it cannot be used, or nothing.
std::string try_to_load(const fs::path& path, CheckpointEntry& entry, Checkpoint& loaded,
                        std::vector<std::string>& warnings) {
  const core::SealCheck check = core::check_seal(path);
  if (check.bytes > 0 && check.bytes < entry.bytes)
    return core::message_of("the file is cut off after ", check.bytes, " of ", entry.bytes,
                            " bytes");
  if (!check.problem.empty()) return check.problem;
  if (!entry.xxh3_128.empty() && entry.xxh3_128 != check.xxh3_128)
    warnings.push_back(path.string() +
                       " is not the file that last.json lists, but is whole by its " +
                       "own seal: a save was interrupted");
  try {
    loaded = read_checkpoint(path);
  } catch (const core::Unreadable&) {
    throw;  // to go on from an older one would lose steps for nothing
  } catch (const core::Error& error) {
    return error.what();
  }
  entry = {entry.file, loaded.step, check.bytes, check.xxh3_128, loaded.validation};
  return "";
}

}  // namespace

CheckpointStore::CheckpointStore(fs::path directory, core::Index keep_last, core::Index keep_best,
                                 std::function<void()> require_held)
    : directory_(std::move(directory)),
      keep_last_(keep_last),
      keep_best_(keep_best),
      require_held_(std::move(require_held)) {
  core::require(keep_last >= 1, "checkpoints: keep_last must be at least 1, got ", keep_last);
  core::require(keep_best >= 0, "checkpoints: keep_best must not be negative, got ", keep_best);
  const fs::path pointer = directory_ / "last.json";
  std::error_code ignored;
  if (!fs::exists(pointer, ignored)) {
    rebuild_list("is missing");
    return;
  }
  const std::string text = core::read_text_file(pointer);
  try {
    entries_ = parse_checkpoint_list(text);
  } catch (const core::Error& error) {
    rebuild_list(std::string("is damaged: ") + error.what());
  }
}

void CheckpointStore::rebuild_list(const std::string& why) {
  for (const std::string& file : files_on_disk()) {
    CheckpointEntry entry{.file = file, .step = *step_in_name(file)};
    Checkpoint found;
    const std::string problem = try_to_load(directory_ / file, entry, found, findings_);
    if (problem.empty())
      entries_.push_back(entry);
    else
      findings_.push_back((directory_ / file).string() + " is damaged and not used: " + problem);
  }
  if (!entries_.empty() || !findings_.empty())
    findings_.insert(findings_.begin(),
                     core::message_of((directory_ / "last.json").string(), " ", why,
                                      "; the checkpoints found are used by their own seals"));
}

CheckpointStore::Saved CheckpointStore::save(const Snapshot& snapshot,
                                             std::optional<double> validation) {
  const std::string file = checkpoint_file_name(snapshot.step);
  try {
    fs::create_directories(directory_);
    const WrittenCheckpoint written = write_checkpoint(directory_ / file, snapshot, validation);
    const CheckpointEntry entry{file, snapshot.step, written.bytes, written.xxh3_128, validation};
    std::vector<CheckpointEntry> next{entry};
    std::ranges::copy_if(entries_, std::back_inserter(next),
                         [&](const CheckpointEntry& kept) { return kept.file != file; });
    next = retained(next);
    if (require_held_) require_held_();
    core::write_durably(directory_ / "last.json", print_checkpoint_list(next),
                        core::Fault::checkpoint);
    entries_ = std::move(next);
    write_ranking();
    remove_unlisted();
    const auto ranking = best();
    return {directory_ / file, entry.bytes, !ranking.empty() && ranking.front().file == file};
  } catch (const fs::filesystem_error& error) {
    throw core::Error(core::Fault::checkpoint,
                      core::message_of("cannot save checkpoint ", file, ": ", error.what()));
  } catch (const core::Error& error) {
    const std::string previous = entries_.empty()
                                     ? std::string("there is no earlier one")
                                     : core::message_of("the previous one, ", entries_.front().file,
                                                        ", is intact: then continue with --resume");
    throw core::Error(
        core::Fault::checkpoint,
        core::message_of("cannot save checkpoint ", file, ": ", error.what(), "; ", previous));
  }
}

void CheckpointStore::write_ranking() const {
  const auto ranking = best();
  if (!ranking.empty())
    core::write_durably(directory_ / "best.json", print_checkpoint_list(ranking),
                        core::Fault::checkpoint);
}

void CheckpointStore::complete_save() {
  write_ranking();
  remove_unlisted();
}

std::vector<CheckpointEntry> CheckpointStore::retained(
    const std::vector<CheckpointEntry>& entries) const {
  const auto ranking = best_of(entries, keep_best_);
  std::vector<CheckpointEntry> kept;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (core::Index(i) < keep_last_ || holds(ranking, entries[i].file)) kept.push_back(entries[i]);
  return kept;
}

void CheckpointStore::remove_unlisted() const {
  std::error_code ignored;  // what cannot be removed now is tried again after the next save
  for (const auto& item : fs::directory_iterator(directory_, ignored)) {
    const std::string file = item.path().filename();
    const bool unlisted = step_in_name(file) && !holds(entries_, file);
    if (unlisted || file.ends_with(core::temporary_ending)) fs::remove(item.path(), ignored);
  }
}

Checkpoint CheckpointStore::load_last(std::vector<std::string>& warnings) {
  warnings.insert(warnings.end(), findings_.begin(), findings_.end());
  std::vector<CheckpointEntry> candidates = entries_;
  for (const std::string& file : files_on_disk())
    if (!holds(entries_, file)) candidates.push_back({.file = file, .step = *step_in_name(file)});
  Checkpoint loaded = load_first_whole(candidates, warnings);
  std::erase_if(candidates, [&](const CheckpointEntry& entry) {
    return entry.step > loaded.step || entry.xxh3_128.empty();
  });
  entries_ = std::move(candidates);
  return loaded;
}

Checkpoint CheckpointStore::load_best(std::vector<std::string>& warnings) const {
  warnings.insert(warnings.end(), findings_.begin(), findings_.end());
  auto ranking = best();
  if (ranking.empty())
    throw core::Error(
        core::Fault::checkpoint,
        directory_.string() + ": no checkpoint was saved with a validation; use the last");
  return load_first_whole(ranking, warnings);
}

Checkpoint CheckpointStore::load_first_whole(std::vector<CheckpointEntry>& candidates,
                                             std::vector<std::string>& warnings) const {
  std::vector<std::string> problems;
  while (!candidates.empty()) {
    CheckpointEntry& entry = candidates.front();
    Checkpoint loaded;
    const std::string problem = try_to_load(directory_ / entry.file, entry, loaded, warnings);
    if (problem.empty()) {
      for (const std::string& passed_over : problems)
        warnings.push_back(passed_over + "; using " + entry.file + " instead");
      return loaded;
    }
    problems.push_back(core::message_of("checkpoint ", (directory_ / entry.file).string(),
                                        " is damaged: ", problem));
    candidates.erase(candidates.begin());
  }
  if (problems.empty())
    throw core::Error(core::Fault::checkpoint, "there is no checkpoint in " + directory_.string(),
                      "Wait until the run has saved one (train.checkpoint_every; Ctrl-C or SIGTERM "
                      "makes it save and stop), or bring lost ones back");
  std::string text = core::message_of("no usable checkpoint in ", directory_.string());
  for (const std::string& problem : problems) text += "\n  " + problem;
  throw core::Error(core::Fault::checkpoint,
                    text +
                        "\nbring back a copy of one of them; only if there is none, --fresh "
                        "deletes the run and starts over");
}

std::vector<CheckpointEntry> CheckpointStore::best() const { return best_of(entries_, keep_best_); }

bool CheckpointStore::empty() const { return entries_.empty() && files_on_disk().empty(); }

std::vector<std::string> CheckpointStore::files_on_disk() const {
  std::vector<std::string> files;
  std::error_code error;
  const fs::directory_iterator items(directory_, error);
  if (error && error != std::errc::no_such_file_or_directory)
    throw core::Error(core::Fault::checkpoint, "cannot read the checkpoints in " +
                                                   directory_.string() + ": " +
                                                   core::explain_errno(error.value()));
  for (const auto& item : items)
    if (step_in_name(item.path().filename())) files.push_back(item.path().filename());
  std::ranges::sort(files, std::ranges::greater{},
                    [](const std::string& file) { return *step_in_name(file); });
  return files;
}

}  // namespace weft::experiments
