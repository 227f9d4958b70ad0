#pragma once

#include <string>

namespace weft::experiments {

/// What a picture is drawn for. A page colours it by its style sheet, in light or in dark; a file
/// carries its colours itself, light ones, as attributes that every program understands.
enum class Medium { page, file };

/// Colours of series; more series repeat them.
inline constexpr std::size_t series_colours = 10;

/// Attributes of an element of a kind ("grid", "line", "mark", ...): its class, and in a file what
/// the style sheet says of that class. `colour` is that of the series it belongs to.
std::string paint(Medium medium, const std::string& kind, std::size_t colour = 0);

/// "#2463b4": what a name of the style sheet ("ink", "panel", "c0") is in light.
std::string light_colour(const std::string& name);

/// The style sheet: the colours in light and in dark, and the look of every kind.
std::string picture_style();

/// What names the font of a picture in a file.
inline constexpr const char* file_font = "Helvetica, Arial, sans-serif";

}  // namespace weft::experiments
