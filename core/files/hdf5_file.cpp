#include "core/files/hdf5_file.h"

#include <hdf5.h>

#include <atomic>
#include <utility>

#include "core/error.h"
#include "core/files/hdf5_handle.h"

namespace weft::core {

using hdf5::fail;
using hdf5::Handle;
using hdf5::silence;

namespace {

/// Applies `visit(name, is_group)` to the members of a group, by name.
template <class Visit>
void for_each_member(hid_t group, Visit visit) {
  H5Literate(
      group, H5_INDEX_NAME, H5_ITER_INC, nullptr,
      [](hid_t parent, const char* name, const H5L_info_t*, void* data) -> herr_t {
        const Handle member(H5Oopen(parent, name, H5P_DEFAULT), H5Oclose);
        if (member >= 0) (*static_cast<Visit*>(data))(name, H5Iget_type(member) == H5I_GROUP);
        return 0;
      },
      &visit);
}

void collect_datasets(hid_t group, const std::string& prefix, std::vector<std::string>& names) {
  for_each_member(group, [&](const std::string& name, bool is_group) {
    if (!is_group) return names.push_back(prefix + name);
    const Handle inner(H5Gopen2(group, name.c_str(), H5P_DEFAULT), H5Gclose);
    collect_datasets(inner, prefix + name + '/', names);
  });
}

}  // namespace

Hdf5File Hdf5File::open(const std::filesystem::path& path) {
  silence();
  if (!std::filesystem::exists(path))
    throw Error(Fault::data, message_of(path.string(), ": no such file"));
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_file_locking(access, false, true);  // network file systems often have no locks
  const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access);
  if (id < 0) fail(path.string(), "", "cannot be opened as an HDF5 file");
  return Hdf5File(id, path.string());
}

Hdf5File Hdf5File::in_memory(const std::string& label) {
  silence();
  constexpr std::size_t growth = 1 << 20;
  static std::atomic<std::uint64_t> count = 0;  // files open at once need different names
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access, growth, false);
  const std::string name = message_of("memory-", count++);
  const hid_t id = H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  if (id < 0) fail(label, "", "cannot be created in memory");
  return Hdf5File(id, label);
}

Hdf5File Hdf5File::create(const std::string& path, const std::string& label) {
  silence();
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_stdio(access);  // the usual driver would look for the name of a file in memory
  const hid_t id = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  if (id < 0) fail(label, "", "cannot be created");
  return Hdf5File(id, label);
}

Hdf5File::Hdf5File(Hdf5File&& other) noexcept
    : id_(std::exchange(other.id_, -1)), label_(std::move(other.label_)) {}

Hdf5File& Hdf5File::operator=(Hdf5File&& other) noexcept {
  std::swap(id_, other.id_);
  std::swap(label_, other.label_);
  return *this;
}

Hdf5File::~Hdf5File() {
  if (id_ >= 0) H5Fclose(id_);
}

bool Hdf5File::contains(const std::string& object) const {
  silence();
  for (std::size_t end = object.find('/', 1);; end = object.find('/', end + 1)) {
    const std::string part = object.substr(0, end);
    if (part != "/" && H5Lexists(id_, part.c_str(), H5P_DEFAULT) <= 0) return false;
    if (end == std::string::npos) return true;
  }
}

std::vector<std::string> Hdf5File::datasets(const std::string& group) const {
  silence();
  const Handle opened(H5Gopen2(id_, group.c_str(), H5P_DEFAULT), H5Gclose);
  if (opened < 0) fail(label_, group, "no such group");
  std::vector<std::string> names;
  collect_datasets(opened, "", names);
  return names;
}

std::vector<std::string> Hdf5File::groups(const std::string& group) const {
  silence();
  const Handle opened(H5Gopen2(id_, group.c_str(), H5P_DEFAULT), H5Gclose);
  if (opened < 0) fail(label_, group, "no such group");
  std::vector<std::string> names;
  for_each_member(opened, [&](const std::string& name, bool is_group) {
    if (is_group) names.push_back(name);
  });
  return names;
}

void Hdf5File::flush() {
  silence();
  if (H5Fflush(id_, H5F_SCOPE_LOCAL) < 0) fail(label_, "", "cannot be completed");
}

std::span<const std::byte> Hdf5File::image() const {
  silence();
  void** buffer = nullptr;  // the core driver's handle is the address of its buffer
  if (H5Fflush(id_, H5F_SCOPE_LOCAL) < 0) fail(label_, "", "cannot be completed in memory");
  const ssize_t size = H5Fget_file_image(id_, nullptr, 0);
  if (size < 0 || H5Fget_vfd_handle(id_, H5P_DEFAULT, reinterpret_cast<void**>(&buffer)) < 0)
    fail(label_, "", "is not a file in memory");
  return {static_cast<const std::byte*>(*buffer), std::size_t(size)};
}

}  // namespace weft::core
