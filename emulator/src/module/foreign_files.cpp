#include "module/foreign_files.hpp"

#include <algorithm>
#include <system_error>

#include "module/paths.hpp"

namespace isomer::emulator {

namespace fs = std::filesystem;

ForeignFiles::ForeignFiles(const fs::path& source, const BuildOptions& options, const fs::path& compiler) {
  std::error_code none;
  std::vector<fs::path> folders = {"/usr",
                                   "/opt",
                                   "/lib",
                                   "/lib64",
                                   device_headers().parent_path(),
                                   fs::absolute(source).parent_path(),
                                   fs::canonical(compiler, none).parent_path().parent_path()};
  for (const auto* list : {&options.include_directories, &options.system_directories})
    folders.insert(folders.end(), list->begin(), list->end());
  for (const fs::path& each : folders) folders_.push_back(fs::weakly_canonical(each, none));
}

bool ForeignFiles::is_foreign(const fs::path& real) const {
  return std::none_of(folders_.begin(), folders_.end(), [&](const fs::path& folder) {
    const fs::path way = real.lexically_relative(folder);
    return !way.empty() && *way.begin() != "..";
  });
}

bool ForeignFiles::operator()(const fs::path& file) {
  std::error_code none;
  const fs::path whole = fs::absolute(file);
  // A link may lead anywhere.
  if (fs::is_symlink(fs::symlink_status(whole, none))) return is_foreign(fs::weakly_canonical(whole, none));
  const auto [at, fresh] = of_folder_.try_emplace(whole.parent_path().string());
  if (fresh) at->second = is_foreign(fs::weakly_canonical(whole.parent_path(), none) / whole.filename());
  return at->second;
}

}  // namespace isomer::emulator
