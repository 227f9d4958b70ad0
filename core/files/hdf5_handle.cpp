#include "core/files/hdf5_handle.h"

#include <hdf5.h>

#include <type_traits>

#include "core/error.h"

namespace weft::core::hdf5 {

static_assert(std::is_same_v<hid_t, std::int64_t> && std::is_same_v<herr_t, int>);

void silence() {
  thread_local const bool silent = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0;
  (void)silent;
}

void fail(const std::string& file, const std::string& object, const char* what) {
  std::string reason = "no reason given";  // the innermost description on the error stack
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned depth, const H5E_error2_t* error, void* out) -> herr_t {
        if (depth == 0 && error->desc) *static_cast<std::string*>(out) = error->desc;
        return 0;
      },
      &reason);
  throw Error(Fault::data, message_of(file, object.empty() ? "" : ": ", object, ": ", what,
                                      " (HDF5: ", reason, ")"));
}

Handle creating_groups() {
  Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links, 1);
  return links;
}

}  // namespace weft::core::hdf5
