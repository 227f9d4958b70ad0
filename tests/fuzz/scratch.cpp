#include "tests/fuzz/scratch.h"

#include <unistd.h>

#include <fstream>
#include <span>

#include "core/files/file_seal.h"

namespace weft::fuzz {

namespace fs = std::filesystem;

const fs::path& scratch_folder() {
  struct Folder {
    fs::path path;
    pid_t owner = ::getpid();

    Folder() {
      const bool in_memory = ::access("/dev/shm", W_OK) == 0;
      std::string name =
          ((in_memory ? fs::path("/dev/shm") : fs::temp_directory_path()) / "weft-fuzz-XXXXXX")
              .string();
      path = ::mkdtemp(name.data());
    }
    ~Folder() {
      std::error_code ignored;
      if (owner == ::getpid()) fs::remove_all(path, ignored);
    }
  };
  static const Folder folder;
  return folder.path;
}

fs::path scratch_file(const std::string& name, std::string_view bytes) {
  const fs::path path = scratch_folder() / name;
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

fs::path sealed_file(const std::string& name, std::string_view bytes) {
  const std::string seal = core::seal_of(std::as_bytes(std::span(bytes)));
  return scratch_file(name, std::string(bytes) + seal);
}

}  // namespace weft::fuzz
