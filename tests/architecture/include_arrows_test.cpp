#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "tests/architecture/source_tree.h"

namespace weft::architecture::include_arrows_test {
namespace {

// Which folders a file of a folder may include beside its own: the picture in README.md, room by
// room. "core/*" stands for core and every folder below it.
const std::map<std::string, std::set<std::string>> arrows = {
    {"core", {}},
    {"core/simd", {"core"}},
    {"core/arrays", {"core", "core/simd"}},
    {"core/ranks", {"core", "core/simd"}},
    {"core/files", {"core", "core/arrays"}},
    {"autograd", {"core/*"}},
    {"autograd/ops", {"autograd", "core/*"}},
    {"optim", {"autograd", "core/*"}},
    {"data", {"data/spelling", "core/*"}},
    {"data/spelling", {"core/*"}},
    {"data/files", {"data", "core/*"}},
    {"data/documents", {"data/files", "data/spelling", "data", "core/*"}},
    {"data/tokens", {"data", "core/*"}},
    {"data/text",
     {"data/documents", "data/tokens", "data/files", "data", "data/spelling", "core/*"}},
    {"data/tasks", {"data", "data/text", "data/spelling", "core/*"}},
    {"data/questions",
     {"data/tasks", "data/text", "data/files", "data", "data/spelling", "core/*"}},
    {"data/summaries",
     {"data/tasks", "data/text", "data/files", "data", "data/spelling", "core/*"}},
    {"data/solvable", {"data", "data/tasks", "core/*"}},
    {"data/dedup", {"data", "data/spelling", "core/*"}},
    {"data/images", {"data", "data/files", "data/text", "data/tasks", "core/*"}},
    {"layers/attention/contract", {"autograd", "core/*"}},
    {"layers/attention/pattern", {"layers/attention/contract", "autograd", "core/*"}},
    {"layers/attention/lists", {"layers/attention/contract", "autograd", "core/*"}},
    {"layers/attention/clusters",
     {"layers/attention/contract", "layers/attention/lists", "autograd", "core/*"}},
    {"layers/attention/fittings", {"layers/attention/contract", "autograd", "core/*"}},
    {"layers/attention/recurrence",
     {"layers/attention/contract", "layers/attention/fittings", "autograd", "core/*"}},
    {"layers/attention/features", {"layers/attention/contract", "autograd", "core/*"}},
    {"layers/attention/spans",
     {"layers/attention/contract", "layers/attention/pattern", "autograd", "core/*"}},
    {"layers/attention/drawn",
     {"layers/attention/contract", "layers/attention/pattern", "autograd", "core/*"}},
    {"layers/attention/partition",
     {"layers/attention/contract", "layers/attention/pattern", "autograd", "core/*"}},
    {"layers/attention/global_local",
     {"layers/attention/contract", "layers/attention/pattern", "autograd", "core/*"}},
    {"layers/attention/chosen",
     {"layers/attention/contract", "layers/attention/fittings", "layers/attention/lists",
      "layers/attention/pattern", "autograd", "core/*"}},
    {"layers/attention", {"layers/attention/*", "autograd", "core/*"}},
    {"layers/parts", {"layers/attention/contract", "autograd", "core/*"}},
    {"layers/parts/experts", {"layers/parts", "layers/attention/contract", "autograd", "core/*"}},
    {"layers/parts/memory", {"layers/parts", "layers/attention/contract", "autograd", "core/*"}},
    {"layers/multi_head",
     {"layers/parts", "layers/attention/fittings", "layers/attention/contract", "autograd",
      "core/*"}},
    {"layers/stack",
     {"layers/multi_head", "layers/parts", "layers/attention/contract", "autograd", "core/*"}},
    {"layers/output", {"layers/parts", "layers/attention/contract", "autograd", "core/*"}},
    {"layers/star", {"layers/parts", "layers/attention/contract", "autograd", "core/*"}},
    {"layers/universal",
     {"layers/stack", "layers/multi_head", "layers/parts", "layers/attention/contract", "autograd",
      "core/*"}},
    {"layers/settings",
     {"layers/star", "layers/universal", "layers/multi_head", "layers/parts/*", "layers/attention",
      "layers/attention/contract", "autograd", "core/*"}},
    {"layers/model",
     {"layers/settings", "layers/output", "layers/star", "layers/universal", "layers/stack",
      "layers/multi_head", "layers/parts/*", "layers/attention", "layers/attention/contract",
      "autograd", "core/*"}},
    {"experiments/console", {"core/*"}},
    {"experiments/config", {"experiments/console", "core/*"}},
    {"experiments/draw", {"experiments/console", "data", "data/spelling", "data/images", "core/*"}},
    {"experiments/checkpoint", {"data/*", "core/*"}},
    {"experiments/hold", {"core/*"}},
    {"experiments/run",
     {"experiments/hold", "experiments/checkpoint", "experiments/config", "experiments/console",
      "layers/*", "optim", "data/*", "core/*"}},
    {"experiments/runs",
     {"experiments/run", "experiments/hold", "experiments/checkpoint", "experiments/config",
      "experiments/console", "core/*"}},
    {"experiments/evaluate",
     {"experiments/run", "experiments/console", "layers/*", "data/*", "autograd", "core/*"}},
    {"experiments/train",
     {"experiments/evaluate", "experiments/run", "experiments/checkpoint", "experiments/config",
      "experiments/console", "layers/*", "optim", "data/*", "autograd", "core/*"}},
    {"experiments/forecast",
     {"experiments/train", "experiments/run", "experiments/console", "layers/*", "data/*",
      "autograd", "core/*"}},
    {"experiments/bench",
     {"experiments/train", "experiments/evaluate", "experiments/run", "experiments/config",
      "experiments/console", "layers/*", "data/*", "autograd", "core/*"}},
    {"experiments/sweep/rules", {"experiments/config", "experiments/console", "core/*"}},
    {"experiments/sweep",
     {"experiments/sweep/rules", "experiments/forecast", "experiments/train",
      "experiments/evaluate", "experiments/runs", "experiments/run", "experiments/hold",
      "experiments/config", "experiments/console", "core/*"}},
    {"experiments/report",
     {"experiments/show", "experiments/draw", "experiments/sweep", "experiments/evaluate",
      "experiments/run", "experiments/config", "experiments/console", "layers/*", "core/*"}},
    {"experiments/run_pages",
     {"experiments/draw", "experiments/evaluate", "experiments/run", "experiments/config",
      "experiments/console", "layers/*", "core/*"}},
    {"experiments/watch",
     {"experiments/run_pages", "experiments/runs", "experiments/sweep", "experiments/draw",
      "experiments/run", "experiments/console", "core/*"}},
    {"experiments/exchange",
     {"experiments/train", "experiments/checkpoint", "experiments/run", "experiments/config",
      "experiments/console", "layers/*", "data/*", "core/*"}},
    {"experiments/predict",
     {"experiments/train", "experiments/evaluate", "experiments/checkpoint", "experiments/run",
      "experiments/console", "layers/*", "data/*", "autograd", "core/*"}},
    {"experiments/show",
     {"experiments/predict", "experiments/draw", "experiments/train", "experiments/evaluate",
      "experiments/checkpoint", "experiments/run", "experiments/console", "layers/*", "data/*",
      "autograd", "core/*"}},
    {"experiments/commands",
     {"experiments/show",
      "experiments/exchange",
      "experiments/predict",
      "experiments/bench",
      "experiments/sweep",
      "experiments/report",
      "experiments/watch",
      "experiments/run_pages",
      "experiments/draw",
      "experiments/forecast",
      "experiments/train",
      "experiments/runs",
      "experiments/evaluate",
      "experiments/run",
      "experiments/hold",
      "experiments/checkpoint",
      "experiments/config",
      "experiments/console",
      "layers/*",
      "data/*",
      "core/*"}},
    {"experiments", {"experiments/commands", "experiments/run", "experiments/hold", "core/*"}},
};

// Catalogues, one file for each thing of a kind, may grow; any other folder wants a new wall.
const std::set<std::string> catalogues = {"autograd/ops", "layers/attention"};
constexpr int most_files = 30;

// Large libraries that would reach every file through a header.
const std::string heavy = "^#include <(toml\\+\\+/|nlohmann/json\\.hpp|boost/|hdf5|H5)";

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

bool is_below(const std::string& folder, const std::string& top) {
  return folder == top || folder.starts_with(top + "/");
}

bool may_include(const std::string& from, const std::string& to) {
  if (from == to) return true;
  const auto known = arrows.find(from);
  if (known == arrows.end()) return false;
  return std::ranges::any_of(known->second, [&](const std::string& allowed) {
    return allowed.ends_with("/*") ? is_below(to, allowed.substr(0, allowed.size() - 2))
                                   : allowed == to;
  });
}

// What a test may include: the tests, and whatever its module may.
bool test_may_include(const File& file, const std::string& to) {
  if (is_below(to, "tests")) return true;
  const std::string below = file.path.substr(6, file.path.find('/', 6) - 6);
  if (std::ranges::find(modules, below) == modules.end()) return true;
  if (is_below(to, below)) return true;
  return std::ranges::any_of(arrows, [&](const auto& arrow) {
    return is_below(arrow.first, below) && may_include(arrow.first, to);
  });
}

// The files that `file` includes by a path from the root, with the line of each.
std::vector<std::pair<std::size_t, std::string>> includes_of(const File& file) {
  std::vector<std::pair<std::size_t, std::string>> found;
  for (std::size_t i = 0; i < file.lines.size(); ++i)
    for (const auto& target : all_matches(file.lines[i], "^#include \"([^\"]+)\""))
      found.emplace_back(i, target);
  return found;
}

using Graph = std::map<std::string, std::set<std::string>>;

// A path that leads from a node back to itself, as "a -> b -> a"; empty where there is none.
std::string cycle_in(const Graph& graph) {
  enum { unseen, open, closed };
  std::map<std::string, int> state;
  std::vector<std::string> path;
  std::string cycle;
  const std::function<void(const std::string&)> visit = [&](const std::string& node) {
    state[node] = open;
    path.push_back(node);
    if (const auto edges = graph.find(node); edges != graph.end())
      for (const std::string& next : edges->second) {
        if (!cycle.empty()) return;
        if (state[next] == unseen) visit(next);
        if (!cycle.empty() || state[next] != open) continue;
        for (auto at = std::ranges::find(path, next); at != path.end(); ++at) cycle += *at + " -> ";
        cycle += next;
      }
    path.pop_back();
    state[node] = closed;
  };
  for (const auto& [node, edges] : graph)
    if (state[node] == unseen && cycle.empty()) visit(node);
  return cycle;
}

TEST(Architecture, includes_follow_the_arrows_of_the_picture) {
  for (const File& file : sources())
    for (const auto& [line, target] : includes_of(file)) {
      EXPECT_NE(target.find('/'), std::string::npos)
          << file.at(line) << ": write the path from the repository's root, as in \""
          << folder_of(file.path) << "/" << target << "\"";
      const bool allowed = file.folder() == "tests"
                               ? test_may_include(file, folder_of(target))
                               : may_include(folder_of(file.path), folder_of(target));
      EXPECT_TRUE(allowed) << file.at(line) << ": a file here must not include " << target
                           << ". Move what both need further down (see the picture in README.md), "
                              "or assemble the two in a folder above both.";
    }
}

TEST(Architecture, no_folder_reaches_itself_through_others) {
  Graph folders;
  for (const File& file : files_under(modules, {".h", ".cpp"}))
    for (const auto& [line, target] : includes_of(file))
      if (folder_of(target) != folder_of(file.path))
        folders[folder_of(file.path)].insert(folder_of(target));
  EXPECT_EQ(cycle_in(folders), "");
}

TEST(Architecture, no_unit_reaches_itself_through_others) {
  const auto unit = [](const std::string& path) { return path.substr(0, path.rfind('.')); };
  Graph units;
  for (const File& file : files_under(modules, {".h", ".cpp"}))
    for (const auto& [line, target] : includes_of(file))
      if (unit(target) != unit(file.path)) units[unit(file.path)].insert(unit(target));
  EXPECT_EQ(cycle_in(units), "")
      << "A unit is a header with its source. A factory that knows every "
         "derived class wants a file of its own.";
}

TEST(Architecture, a_cycle_would_be_found) {
  EXPECT_EQ(cycle_in({{"a", {"b", "c"}}, {"b", {"c"}}, {"c", {"d"}}}), "");
  EXPECT_EQ(cycle_in({{"a", {"b"}}, {"b", {"c"}}, {"c", {"b"}}}), "b -> c -> b");
}

TEST(Architecture, every_folder_is_in_the_table_and_holds_few_files) {
  std::map<std::string, int> files;
  for (const File& file : files_under(modules, {".h", ".cpp"})) ++files[folder_of(file.path)];
  for (const auto& [folder, count] : files) {
    EXPECT_TRUE(arrows.contains(folder))
        << folder << " is new: say in the table above what it may include.";
    EXPECT_TRUE(count <= most_files || catalogues.contains(folder))
        << folder << " holds " << count << " sources: sort them into folders by idea.";
  }
  for (const auto& [folder, allowed] : arrows)
    EXPECT_TRUE(files.contains(folder)) << folder << " is gone: remove it from the table above.";
}

TEST(Architecture, headers_stay_free_of_heavy_libraries) {
  for (const File& file : sources())
    for (std::size_t i = 0; file.is_header() && i < file.lines.size(); ++i)
      EXPECT_FALSE(has_match(file.lines[i], heavy))
          << file.at(i) << ": include this library in the .cpp file alone, and keep its types out "
          << "of the header (nlohmann/json_fwd.hpp is fine).";
}

TEST(Architecture, every_header_is_guarded_and_every_file_lives_in_its_namespace) {
  for (const File& file : sources()) {
    if (file.is_header()) {
      EXPECT_EQ(file.lines.empty() ? "" : file.lines[0], "#pragma once")
          << file.path << ": a header opens with #pragma once";
    }
    if (file.folder() == "tests" || file.path.ends_with("main.cpp")) continue;
    EXPECT_NE(file.text().find("namespace weft::" + file.folder()), std::string::npos)
        << file.path << ": code in " << file.folder()
        << "/ belongs to namespace weft::" << file.folder();
  }
}

}  // namespace
}  // namespace weft::architecture::include_arrows_test
