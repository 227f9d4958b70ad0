#include "experiments/checkpoint/file.h"

#include "core/error.h"
#include "core/files/durable_file.h"
#include "core/files/file_seal.h"
#include "core/files/hdf5_file.h"
#include "core/files/hdf5_structure.h"

namespace weft::experiments {
namespace {

constexpr std::int64_t format = 1;

core::Hdf5File encode(const std::string& label, const Snapshot& snapshot,
                      std::optional<double> validation) {
  core::Hdf5File file = core::Hdf5File::in_memory(label);
  for (const ConstNamedArray& array : snapshot.arrays)
    file.write<core::Real>(array.name, array.shape, array.values);
  file.set_attribute("meta", "format", format);
  file.set_attribute("meta", "step", std::int64_t(snapshot.step));
  file.set_attribute("meta", "config", snapshot.config_toml);
  if (validation) file.set_attribute("meta", "validation", *validation);
  for (const auto& [name, value] : snapshot.facts) {
    const std::size_t slash = name.find('/');
    core::require(slash != std::string::npos, "checkpoint: fact '", name,
                  "' must be named group/name");
    file.set_attribute(name.substr(0, slash), name.substr(slash + 1), value);
  }
  return file;
}

/// Removes and returns a fact that the format itself needs.
template <class T>
T take(Checkpoint& checkpoint, const std::string& name) {
  const auto node = checkpoint.facts.extract(name);
  const T* value = node ? std::get_if<T>(&node.mapped()) : nullptr;
  if (!value)
    throw core::Error(core::Fault::checkpoint,
                      core::message_of(checkpoint.path.string(), ": has no ", name,
                                       ": it is no weft checkpoint"));
  return *value;
}

/// If HDF5 cannot open a file of correct structure, the file is not at fault.
core::Hdf5File open_checked(const std::filesystem::path& path) {
  core::check_hdf5_structure(path);
  try {
    return core::Hdf5File::open(path);
  } catch (const core::Error& error) {
    throw core::Unreadable(core::Fault::checkpoint, error.what());
  }
}

Checkpoint decode(const std::filesystem::path& path) {
  const core::Hdf5File file = open_checked(path);
  Checkpoint checkpoint;
  checkpoint.path = path;
  for (const std::string& group : file.groups())
    for (auto& [name, value] : file.attributes(group))
      checkpoint.facts.emplace(group + '/' + name, std::move(value));
  const auto written = take<std::int64_t>(checkpoint, "meta/format");
  core::require(written <= format, path.string(), ": has format ", written,
                ", this weft reads up to ", format, "; use a newer weft");
  checkpoint.step = take<std::int64_t>(checkpoint, "meta/step");
  checkpoint.config_toml = take<std::string>(checkpoint, "meta/config");
  if (checkpoint.has("meta/validation"))
    checkpoint.validation = take<double>(checkpoint, "meta/validation");
  for (const std::string& name : file.datasets())
    checkpoint.arrays[name] = {file.shape(name), file.read<core::Real>(name)};
  return checkpoint;
}

}  // namespace

WrittenCheckpoint write_checkpoint(const std::filesystem::path& path, const Snapshot& snapshot,
                                   std::optional<double> validation) {
  const core::Hdf5File file = encode(path.string(), snapshot, validation);
  const auto image = file.image();
  const std::string seal = core::seal_of(image);
  core::write_durably(path, {image, std::as_bytes(std::span(seal))}, core::Fault::checkpoint);
  const core::SealCheck check = core::check_seal(path);  // what is on disk, not what was meant
  if (!check.problem.empty() || check.bytes != core::Index(image.size() + seal.size()))
    throw core::Error(core::Fault::checkpoint,
                      path.string() + ": does not read back as written; check that disk");
  return {check.xxh3_128, check.bytes};
}

Checkpoint read_checkpoint(const std::filesystem::path& path) {
  try {
    return decode(path);
  } catch (const core::Unreadable&) {
    throw;
  } catch (const core::Error& error) {
    throw core::Error(core::Fault::checkpoint, error.what());
  }
}

void verify_checkpoint(const std::filesystem::path& path) {
  const core::SealCheck check = core::check_seal(path);
  if (!check.problem.empty())
    throw core::Error(core::Fault::checkpoint,
                      path.string() + ": " + check.problem + "; use another checkpoint of the run");
}

Checkpoint load_checkpoint(const std::filesystem::path& path) {
  verify_checkpoint(path);
  return read_checkpoint(path);
}

}  // namespace weft::experiments
