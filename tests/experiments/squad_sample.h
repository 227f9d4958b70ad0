#pragma once

#include <string>

namespace weft::experiments {

/// A file of SQuAD with two articles. Of each article's two questions, the one about the gate has
/// an answer, the word after its own.
std::string squad_sample(const std::string& prefix);

}  // namespace weft::experiments
