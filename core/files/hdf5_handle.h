#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace weft::core::hdf5 {

/// An identifier of the HDF5 C library (its hid_t) that closes itself.
class Handle {
 public:
  Handle(std::int64_t id, int (*close)(std::int64_t)) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator std::int64_t() const { return id_; }

 private:
  std::int64_t id_;
  int (*close_)(std::int64_t);
};

/// Keeps HDF5 from printing errors in this thread; to be called before any other HDF5 function.
void silence();

/// Throws an Error that names file, object and what HDF5 says of its last failure.
[[noreturn]] void fail(const std::string& file, const std::string& object, const char* what);

/// Link creation properties that create the groups above an object where absent.
Handle creating_groups();

}  // namespace weft::core::hdf5
