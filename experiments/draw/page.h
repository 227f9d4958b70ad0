#pragma once

#include <string>

#include "experiments/draw/table.h"

namespace weft::experiments {

// Pieces of a page. Text is escaped; markup is what a function returned.

/// A whole page around its body, with the style of pages and of pictures in it: one file that needs
/// nothing else, no script, no font, no address. A page that is served may name a script.
std::string html_page(const std::string& title, const std::string& body,
                      const std::string& script = "");

std::string html_paragraph(const std::string& text);
std::string html_table(const Table& table);
/// A picture, already drawn, below its caption.
std::string html_figure(const std::string& id, const std::string& caption,
                        const std::string& picture);

}  // namespace weft::experiments
