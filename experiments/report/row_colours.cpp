#include "experiments/report/row_colours.h"

#include <set>

namespace weft::experiments {

RowColours colours_of(const Comparison& comparison) {
  std::set<std::string> names;
  for (const ComparedTask& task : comparison.tasks)
    for (const ComparedRow& row : task.rows) names.insert(row.name);
  RowColours colours;
  for (const std::string& name : names) colours.emplace(name, colours.size());
  return colours;
}

}  // namespace weft::experiments
