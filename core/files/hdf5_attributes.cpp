#include <hdf5.h>

#include "core/error.h"
#include "core/files/hdf5_file.h"
#include "core/files/hdf5_handle.h"

namespace weft::core {

using hdf5::creating_groups;
using hdf5::fail;
using hdf5::Handle;
using hdf5::silence;

namespace {

Handle string_type() {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

/// The text of an attribute of either kind of string, or an Error.
std::string read_text(hid_t attribute, hid_t stored, const std::string& label,
                      const std::string& name) {
  if (H5Tis_variable_str(stored) > 0) {
    char* text = nullptr;
    if (H5Aread(attribute, stored, &text) < 0 || !text) fail(label, name, "cannot be read");
    std::string copy(text);
    H5free_memory(text);
    return copy;
  }
  std::string text(H5Tget_size(stored), '\0');
  if (H5Aread(attribute, stored, text.data()) < 0) fail(label, name, "cannot be read");
  text.resize(text.find('\0') == std::string::npos ? text.size() : text.find('\0'));
  return text;
}

}  // namespace

bool Hdf5File::has_attribute(const std::string& object, const std::string& name) const {
  return contains(object) && H5Aexists_by_name(id_, object.c_str(), name.c_str(), H5P_DEFAULT) > 0;
}

Hdf5File::Attribute Hdf5File::attribute(const std::string& object, const std::string& name) const {
  silence();
  const std::string both = object + " attribute " + name;
  const Handle opened(H5Aopen_by_name(id_, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT),
                      H5Aclose);
  if (opened < 0) fail(label_, both, "no such attribute");
  const Handle space(H5Aget_space(opened), H5Sclose);
  if (H5Sget_simple_extent_npoints(space) != 1)
    throw Error(Fault::data, message_of(label_, ": ", both, ": is not a single value"));
  const Handle stored(H5Aget_type(opened), H5Tclose);
  std::int64_t integer = 0;
  double number = 0;
  switch (H5Tget_class(stored)) {
    case H5T_STRING:
      return read_text(opened, stored, label_, both);
    case H5T_INTEGER:
      if (H5Aread(opened, H5T_NATIVE_INT64, &integer) < 0) fail(label_, both, "cannot be read");
      return integer;
    case H5T_FLOAT:
      if (H5Aread(opened, H5T_NATIVE_DOUBLE, &number) < 0) fail(label_, both, "cannot be read");
      return number;
    default:
      throw Error(Fault::data, message_of(label_, ": ", both, ": is neither text nor a number"));
  }
}

std::map<std::string, Hdf5File::Attribute> Hdf5File::attributes(const std::string& object) const {
  silence();
  const Handle opened(H5Oopen(id_, object.c_str(), H5P_DEFAULT), H5Oclose);
  if (opened < 0) fail(label_, object, "no such object");
  std::vector<std::string> names;
  H5Aiterate2(
      opened, H5_INDEX_NAME, H5_ITER_INC, nullptr,
      [](hid_t, const char* name, const H5A_info_t*, void* out) -> herr_t {
        static_cast<std::vector<std::string>*>(out)->push_back(name);
        return 0;
      },
      &names);
  std::map<std::string, Attribute> values;
  for (const std::string& name : names) values[name] = attribute(object, name);
  return values;
}

void Hdf5File::set_attribute(const std::string& object, const std::string& name,
                             const Attribute& value) {
  silence();
  const std::string both = object + " attribute " + name;
  if (!contains(object)) {
    const Handle group(H5Gcreate2(id_, object.c_str(), creating_groups(), H5P_DEFAULT, H5P_DEFAULT),
                       H5Gclose);
    if (group < 0) fail(label_, object, "cannot be created");
  }
  const Handle owner(H5Oopen(id_, object.c_str(), H5P_DEFAULT), H5Oclose);
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const auto put = [&](hid_t type, const void* data) {
    const Handle created(H5Acreate2(owner, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose);
    if (created < 0 || H5Awrite(created, type, data) < 0) fail(label_, both, "cannot be written");
  };
  if (const auto* text = std::get_if<std::string>(&value)) {
    require(text->find('\0') == std::string::npos, label_, ": ", both, ": text holds a zero byte");
    const char* characters = text->c_str();
    put(string_type(), &characters);
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    put(H5T_NATIVE_INT64, integer);
  } else {
    put(H5T_NATIVE_DOUBLE, std::get_if<double>(&value));
  }
}

}  // namespace weft::core
