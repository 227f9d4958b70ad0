#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/arrays/shape.h"

namespace weft::core {

/// An HDF5 file: open for reading, or being built in memory.
/// Objects are named by their path ("params/head.weight"). Elements T are float, double,
/// std::int32_t, std::int64_t, std::uint8_t or std::uint16_t; reading converts numbers to T, but
/// never a fraction to an integer. Every failure is an Error (Fault::data) that names file and
/// object.
class Hdf5File {
 public:
  using Attribute = std::variant<std::int64_t, double, std::string>;

  static Hdf5File open(const std::filesystem::path& path);
  /// A new file that lives in memory only; `label` names it in errors. Its bytes are the same
  /// whenever its contents are: no time stamps.
  static Hdf5File in_memory(const std::string& label);

  /// A new file at a path where no write can fail, as one in memory: HDF5 does not survive that.
  static Hdf5File create(const std::string& path, const std::string& label);

  Hdf5File(Hdf5File&& other) noexcept;
  Hdf5File& operator=(Hdf5File&& other) noexcept;
  ~Hdf5File();

  bool contains(const std::string& object) const;
  /// Paths, relative to `group`, of all datasets in it and in the groups below, by name.
  std::vector<std::string> datasets(const std::string& group = "/") const;
  /// Names of the groups directly inside `group`.
  std::vector<std::string> groups(const std::string& group = "/") const;

  Shape shape(const std::string& dataset) const;
  template <class T>
  std::vector<T> read(const std::string& dataset) const;
  /// `out` must be as large as the dataset.
  template <class T>
  void read_into(const std::string& dataset, std::span<T> out) const;
  /// At which byte of the file the elements of a dataset of exactly T begin, one after the other;
  /// nothing where they have another type, are stored in pieces, or are none.
  template <class T>
  std::optional<Index> place(const std::string& dataset) const;

  bool has_attribute(const std::string& object, const std::string& name) const;
  Attribute attribute(const std::string& object, const std::string& name) const;
  /// All scalar attributes of a group or dataset.
  std::map<std::string, Attribute> attributes(const std::string& object = "/") const;

  /// Creates the dataset, and the groups above it where absent.
  template <class T>
  void write(const std::string& dataset, const Shape& shape, std::span<const T> values);
  /// Creates a row of `count` elements, 0 unless written elsewhere. -> the byte of the file where
  /// they begin, as `place`; 0 where there are none
  template <class T>
  Index leave_room(const std::string& dataset, Index count);
  /// Sets an attribute of a group or dataset; an absent object becomes a group.
  void set_attribute(const std::string& object, const std::string& name, const Attribute& value);

  /// Hands everything written to what the file is kept in.
  void flush();
  /// The bytes of a file in memory, valid until the next write.
  std::span<const std::byte> image() const;

 private:
  Hdf5File(std::int64_t id, std::string label) : id_(id), label_(std::move(label)) {}

  std::int64_t id_;
  std::string label_;
};

}  // namespace weft::core
