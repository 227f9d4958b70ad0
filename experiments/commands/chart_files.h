#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/draw/chart.h"

namespace weft::experiments {

/// Writes a file, its folder too, and says so on standard error.
void write_output_file(const std::filesystem::path& path, const std::string& content);

/// svg, pdf and png, from a list with commas.
std::vector<std::string> picture_endings(const std::string& list);

/// Whether -o NAME asks for pictures: a folder ("pictures/"), or one that is named after its chart.
bool names_pictures(const std::string& name);
/// Writes every chart into the folder, with each ending, or the one that the file is named after.
void write_pictures(const std::string& name, const std::vector<ChartFigure>& charts,
                    const std::vector<std::string>& endings);

}  // namespace weft::experiments
