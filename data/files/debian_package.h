#pragma once

#include <string>

namespace weft::data {

/// The Debian package that contains a file: "dataset-NAME" for /usr/share/datasets/NAME/...,
/// "dict-NAME" for /usr/share/dictd/NAME.dict.dz, "NAME" for /usr/share/doc/NAME/...; empty for
/// other paths.
std::string debian_package_of(const std::string& path);

/// What to do about a file that does not exist: the command that installs its package, or to
/// correct the path, which was looked for from the current folder.
std::string advice_on_missing(const std::string& path);

}  // namespace weft::data
