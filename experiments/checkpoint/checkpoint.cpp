#include "experiments/checkpoint/checkpoint.h"

#include <algorithm>
#include <set>

#include "core/error.h"

namespace weft::experiments {
namespace {

template <class T>
const T& fact_of(const Checkpoint& checkpoint, const std::string& name, const char* kind) {
  const auto found = checkpoint.facts.find(name);
  if (found != checkpoint.facts.end())
    if (const T* value = std::get_if<T>(&found->second)) return *value;
  throw core::Error(core::Fault::checkpoint,
                    core::message_of(checkpoint.path.string(), ": holds no ", kind, " '", name,
                                     "'; it was written by another version of weft"));
}

/// How a wanted array differs from what the checkpoint holds; empty when it does not.
std::string difference(const Checkpoint& checkpoint, const std::string& name,
                       const core::Shape& shape) {
  const auto found = checkpoint.arrays.find(name);
  if (found == checkpoint.arrays.end())
    return core::message_of(name, ": ", shape, " in the model, absent from the checkpoint");
  if (found->second.shape == shape) return "";
  return core::message_of(name, ": ", shape, " in the model, ", found->second.shape,
                          " in the checkpoint");
}

[[noreturn]] void refuse(const Checkpoint& checkpoint,
                         const std::vector<std::string>& differences) {
  constexpr std::size_t most_shown = 20;
  std::string text = core::message_of(checkpoint.path.string(), ": does not fit the model, ",
                                      differences.size(), " differences");
  for (std::size_t i = 0; i < std::min(differences.size(), most_shown); ++i)
    text += "\n  " + differences[i];
  if (differences.size() > most_shown) text += "\n  ...";
  throw core::Error(core::Fault::checkpoint,
                    text + "\nuse the [model] settings the checkpoint was trained with");
}

}  // namespace

std::int64_t Checkpoint::integer(const std::string& fact) const {
  return fact_of<std::int64_t>(*this, fact, "integer");
}

double Checkpoint::number(const std::string& fact) const {
  return fact_of<double>(*this, fact, "number");
}

const std::string& Checkpoint::text(const std::string& fact) const {
  return fact_of<std::string>(*this, fact, "text");
}

const std::vector<core::Real>& Checkpoint::array(const std::string& name,
                                                 const core::Shape& shape) const {
  const std::string differs = difference(*this, name, shape);
  if (!differs.empty()) refuse(*this, {differs});
  return arrays.at(name).values;
}

void Checkpoint::restore(std::string_view group, std::span<const NamedArray> targets) const {
  std::vector<std::string> differences;
  std::set<std::string_view> wanted;
  for (const NamedArray& target : targets) {
    const std::string differs = difference(*this, target.name, target.shape);
    if (!differs.empty()) differences.push_back(differs);
    wanted.insert(target.name);
  }
  const std::string prefix = std::string(group) + '/';
  for (const auto& [name, array] : arrays)
    if (name.starts_with(prefix) && !wanted.contains(name))
      differences.push_back(
          core::message_of(name, ": ", array.shape, " in the checkpoint, absent from the model"));
  if (!differences.empty()) refuse(*this, differences);
  for (const NamedArray& target : targets) {
    const auto& values = arrays.at(target.name).values;
    core::require(values.size() == target.values.size(), target.name, ": shape ", target.shape,
                  " does not match its ", target.values.size(), " elements");
    std::ranges::copy(values, target.values.begin());
  }
}

}  // namespace weft::experiments
