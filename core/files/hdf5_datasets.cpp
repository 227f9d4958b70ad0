#include <hdf5.h>

#include <type_traits>

#include "core/error.h"
#include "core/files/hdf5_file.h"
#include "core/files/hdf5_handle.h"

namespace weft::core {

using hdf5::creating_groups;
using hdf5::fail;
using hdf5::Handle;
using hdf5::silence;

namespace {

template <class T>
hid_t element_type() {
  if constexpr (std::is_same_v<T, float>) return H5T_NATIVE_FLOAT;
  if constexpr (std::is_same_v<T, double>) return H5T_NATIVE_DOUBLE;
  if constexpr (std::is_same_v<T, std::int32_t>) return H5T_NATIVE_INT32;
  if constexpr (std::is_same_v<T, std::int64_t>) return H5T_NATIVE_INT64;
  if constexpr (std::is_same_v<T, std::uint8_t>) return H5T_NATIVE_UINT8;
  if constexpr (std::is_same_v<T, std::uint16_t>) return H5T_NATIVE_UINT16;
}

Shape shape_of(hid_t dataset, const std::string& label, const std::string& name) {
  const Handle space(H5Dget_space(dataset), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 0) fail(label, name, "cannot read the shape");
  if (rank > Shape::most_axes)
    throw Error(Fault::data, message_of(label, ": ", name, ": has ", rank, " axes, at most ",
                                        Shape::most_axes, " can be read"));
  hsize_t extents[Shape::most_axes] = {};
  H5Sget_simple_extent_dims(space, extents, nullptr);
  return Shape(std::vector<Index>(extents, extents + rank));
}

/// Numbers may be read as fractions, only integers as integers.
template <class T>
void check_elements(hid_t dataset, const std::string& label, const std::string& name) {
  const Handle stored(H5Dget_type(dataset), H5Tclose);
  const H5T_class_t kind = H5Tget_class(stored);
  if (kind == H5T_INTEGER || (kind == H5T_FLOAT && std::is_floating_point_v<T>)) return;
  throw Error(Fault::data, message_of(label, ": ", name, ": does not hold ",
                                      std::is_floating_point_v<T> ? "numbers" : "integers"));
}

template <class T>
Handle create_dataset(hid_t file, const std::string& name, const Shape& shape) {
  std::vector<hsize_t> extents;
  for (Index axis = 0; axis < shape.rank(); ++axis) extents.push_back(hsize_t(shape[axis]));
  const Handle space(shape.rank() == 0
                         ? H5Screate(H5S_SCALAR)
                         : H5Screate_simple(int(extents.size()), extents.data(), nullptr),
                     H5Sclose);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  return {H5Dcreate2(file, name.c_str(), element_type<T>(), space, creating_groups(), creation,
                     H5P_DEFAULT),
          H5Dclose};
}

}  // namespace

Shape Hdf5File::shape(const std::string& dataset) const {
  silence();
  const Handle opened(H5Dopen2(id_, dataset.c_str(), H5P_DEFAULT), H5Dclose);
  if (opened < 0) fail(label_, dataset, "no such dataset");
  return shape_of(opened, label_, dataset);
}

template <class T>
std::vector<T> Hdf5File::read(const std::string& dataset) const {
  std::vector<T> values(std::size_t(shape(dataset).size()));
  read_into<T>(dataset, values);
  return values;
}

template <class T>
void Hdf5File::read_into(const std::string& dataset, std::span<T> out) const {
  silence();
  const Handle opened(H5Dopen2(id_, dataset.c_str(), H5P_DEFAULT), H5Dclose);
  if (opened < 0) fail(label_, dataset, "no such dataset");
  check_elements<T>(opened, label_, dataset);
  const Shape shape = shape_of(opened, label_, dataset);
  if (shape.size() != Index(out.size()))
    throw Error(Fault::data, message_of(label_, ": ", dataset, ": has shape ", shape, ", expected ",
                                        out.size(), " elements"));
  if (out.empty()) return;
  if (H5Dread(opened, element_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()) < 0)
    fail(label_, dataset, "cannot be read");
}

template <class T>
std::optional<Index> Hdf5File::place(const std::string& dataset) const {
  silence();
  const Handle opened(H5Dopen2(id_, dataset.c_str(), H5P_DEFAULT), H5Dclose);
  if (opened < 0) fail(label_, dataset, "no such dataset");
  const Handle stored(H5Dget_type(opened), H5Tclose);
  if (H5Tequal(stored, element_type<T>()) <= 0) return {};
  const haddr_t begin = H5Dget_offset(opened);
  if (begin == HADDR_UNDEF) return {};
  return Index(begin);
}

template <class T>
void Hdf5File::write(const std::string& dataset, const Shape& shape, std::span<const T> values) {
  silence();
  require(shape.size() == Index(values.size()), label_, ": ", dataset, ": shape ", shape,
          " cannot hold ", values.size(), " elements");
  const Handle created = create_dataset<T>(id_, dataset, shape);
  if (created < 0) fail(label_, dataset, "cannot be created");
  if (values.empty()) return;
  if (H5Dwrite(created, element_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    fail(label_, dataset, "cannot be written");
}

template <class T>
Index Hdf5File::leave_room(const std::string& dataset, Index count) {
  silence();
  {
    const Handle created = create_dataset<T>(id_, dataset, Shape{count});
    if (created < 0) fail(label_, dataset, "cannot be created");
    if (count == 0) return 0;
    const T zero = 0;  // the last element: room is made for all when the first is written
    const hsize_t last = hsize_t(count - 1), one = 1;
    const Handle all(H5Dget_space(created), H5Sclose),
        single(H5Screate_simple(1, &one, nullptr), H5Sclose);
    H5Sselect_hyperslab(all, H5S_SELECT_SET, &last, nullptr, &one, nullptr);
    if (H5Dwrite(created, element_type<T>(), single, all, H5P_DEFAULT, &zero) < 0)
      fail(label_, dataset, "cannot be written");
  }
  const auto begin = place<T>(dataset);
  if (!begin) fail(label_, dataset, "has no place");
  return *begin;
}

template std::vector<float> Hdf5File::read(const std::string&) const;
template std::vector<double> Hdf5File::read(const std::string&) const;
template std::vector<std::int32_t> Hdf5File::read(const std::string&) const;
template std::vector<std::int64_t> Hdf5File::read(const std::string&) const;
template std::vector<std::uint8_t> Hdf5File::read(const std::string&) const;
template std::vector<std::uint16_t> Hdf5File::read(const std::string&) const;
template void Hdf5File::read_into(const std::string&, std::span<float>) const;
template void Hdf5File::read_into(const std::string&, std::span<double>) const;
template void Hdf5File::read_into(const std::string&, std::span<std::int32_t>) const;
template void Hdf5File::read_into(const std::string&, std::span<std::int64_t>) const;
template void Hdf5File::read_into(const std::string&, std::span<std::uint8_t>) const;
template void Hdf5File::read_into(const std::string&, std::span<std::uint16_t>) const;
template std::optional<Index> Hdf5File::place<std::int32_t>(const std::string&) const;
template std::optional<Index> Hdf5File::place<std::uint8_t>(const std::string&) const;
template std::optional<Index> Hdf5File::place<std::uint16_t>(const std::string&) const;
template void Hdf5File::write(const std::string&, const Shape&, std::span<const float>);
template void Hdf5File::write(const std::string&, const Shape&, std::span<const double>);
template void Hdf5File::write(const std::string&, const Shape&, std::span<const std::int32_t>);
template void Hdf5File::write(const std::string&, const Shape&, std::span<const std::int64_t>);
template void Hdf5File::write(const std::string&, const Shape&, std::span<const std::uint8_t>);
template void Hdf5File::write(const std::string&, const Shape&, std::span<const std::uint16_t>);
template Index Hdf5File::leave_room<std::int32_t>(const std::string&, Index);
template Index Hdf5File::leave_room<std::uint8_t>(const std::string&, Index);
template Index Hdf5File::leave_room<std::uint16_t>(const std::string&, Index);

}  // namespace weft::core
