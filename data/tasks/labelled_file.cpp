#include "data/tasks/labelled_file.h"

#include "core/error.h"
#include "data/text/column_file.h"

namespace weft::data {

std::vector<LabelledLine> read_labelled_file(const std::string& path,
                                             const LabelledColumns& columns) {
  std::vector<LabelledLine> lines;
  for (ColumnLine& line :
       read_columns(path, {{"label_column", columns.label}, {"text_column", columns.text}},
                    columns.header)) {
    if (line.texts[0].empty())
      throw core::Error(core::Fault::data,
                        core::message_of(path, ":", line.number,
                                         ": the label is empty: write one, or remove the line"));
    lines.push_back({std::move(line.texts[0]), std::move(line.texts[1]), line.number});
  }
  return lines;
}

}  // namespace weft::data
