#pragma once

#include <string>

namespace weft::experiments {

/// svg, pdf and png
bool is_picture_ending(const std::string& ending);

/// An SVG file as the bytes of another kind; svg stays as it is. PDF and PNG are made by librsvg,
/// which is loaded only then; where it is not installed, an Error says how to get it.
std::string convert_picture(const std::string& svg, const std::string& ending);

}  // namespace weft::experiments
