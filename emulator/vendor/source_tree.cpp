#include "vendor/source_tree.hpp"

#include <stdlib.h>

#include <fstream>
#include <sstream>

#include "core/sentence.hpp"
#include "core/sha256.hpp"
#include "gpu/binary_folder.hpp"
#include "gpu/sources.hpp"

namespace isomer::emulator {
namespace {

namespace fs = std::filesystem;

/// Whether every source lies there as it is embedded.
bool whole(const fs::path& folder) {
  for (const gpu::Source& source : gpu::sources()) {
    std::error_code none;
    const fs::path file = folder / source.path;
    if (!fs::is_regular_file(file, none) || fs::file_size(file, none) != source.text.size()) return false;
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    if (std::move(text).str() != source.text) return false;
  }
  return true;
}

bool write(const fs::path& folder) {
  for (const gpu::Source& source : gpu::sources()) {
    std::error_code none;
    const fs::path file = folder / source.path;
    fs::create_directories(file.parent_path(), none);
    std::ofstream(file, std::ios::binary) << source.text;
  }
  return whole(folder);
}

/// The folder appears whole; a damaged one is replaced. False where neither can be done.
bool place(const fs::path& folder) {
  if (whole(folder)) return true;
  std::error_code failed;
  fs::create_directories(folder.parent_path(), failed);
  std::string part = folder.string() + ".XXXXXX";
  if (failed || ::mkdtemp(part.data()) == nullptr) return false;
  if (write(part)) {
    fs::rename(part, folder, failed);
    // Another process may have been first.
    if (failed && !whole(folder)) {
      fs::remove_all(folder, failed);
      fs::rename(part, folder, failed);
    }
  }
  std::error_code none;
  fs::remove_all(part, none);
  return whole(folder);
}

std::string name_of_sources() {
  core::Sha256 hash;
  for (const gpu::Source& source : gpu::sources()) hash.field(source.path).field(source.text);
  return hash.hex().substr(0, 32);
}

}  // namespace

SourceTree::SourceTree() {
  if (const auto cache = gpu::cache_folder()) {
    std::error_code failed;
    path_ = fs::absolute(cache->path(), failed) / "emulator-sources" / name_of_sources();
    if (!failed && place(path_)) return;
  }
  temporary_.emplace("emulated", "sources");
  path_ = temporary_->path();
  if (!write(path_))
    core::fail(ErrorCode::io, "emulated: the kernels' sources cannot be written into '", path_.string(),
               "'; make room there, or set TMPDIR to another folder");
}

}  // namespace isomer::emulator
