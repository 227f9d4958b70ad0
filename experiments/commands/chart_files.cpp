#include "experiments/commands/chart_files.h"

#include <iostream>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "experiments/config/variations.h"
#include "experiments/draw/picture_file.h"

namespace weft::experiments {
namespace {

namespace fs = std::filesystem;

/// "pdf" of "curves.pdf"
std::string ending_of(const std::string& name) {
  const std::string ending = fs::path(name).extension().string();
  return ending.empty() ? "" : ending.substr(1);
}

}  // namespace

void write_output_file(const fs::path& path, const std::string& content) {
  if (path.has_parent_path()) fs::create_directories(path.parent_path());
  core::write_durably(path, content);
  std::cerr << "wrote " << path.string() << '\n';
}

std::vector<std::string> picture_endings(const std::string& list) {
  const std::vector<std::string> endings = split_at_commas(list);
  for (const std::string& ending : endings)
    core::require(is_picture_ending(ending), "--pictures ", list,
                  ": pictures are svg, pdf or png, not ", ending);
  return endings;
}

bool names_pictures(const std::string& name) {
  return name.ends_with('/') || is_picture_ending(ending_of(name));
}

void write_pictures(const std::string& name, const std::vector<ChartFigure>& charts,
                    const std::vector<std::string>& endings) {
  if (name.ends_with('/')) {
    fs::create_directories(name);
    for (const ChartFigure& figure : charts)
      for (const std::string& ending : endings)
        core::write_durably(fs::path(name) / (figure.file + "." + ending),
                            convert_picture(svg_file(figure.chart), ending));
    std::cerr << "wrote the pictures to " << fs::path(name).parent_path().string() << '\n';
    return;
  }
  std::string known;
  for (const ChartFigure& figure : charts) {
    if (figure.file == fs::path(name).stem())
      return write_output_file(name, convert_picture(svg_file(figure.chart), ending_of(name)));
    known += "\n  " + figure.file;
  }
  throw core::Error("-o " + name +
                    ": a picture is named after what it shows, or give a folder that ends in / for "
                    "all of them; there are" +
                    known);
}

}  // namespace weft::experiments
