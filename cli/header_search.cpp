#include "cli/header_search.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace isomer::cli {
namespace {

namespace fs = std::filesystem;

/// Where files of a name lie. A collection is read once.
const std::multimap<std::string, fs::path>& files_of(const fs::path& whole) {
  static std::map<fs::path, std::multimap<std::string, fs::path>> collections;
  const auto [at, fresh] = collections.try_emplace(whole);
  if (fresh) {
    for (const auto& entry :
         fs::recursive_directory_iterator(whole, fs::directory_options::skip_permission_denied)) {
      if (entry.is_regular_file()) at->second.emplace(entry.path().filename().string(), entry.path());
    }
  }
  return at->second;
}

/// How many folders two paths have in common from the root.
std::ptrdiff_t in_common(const fs::path& a, const fs::path& b) {
  return std::distance(a.begin(), std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first);
}

}  // namespace

std::string missing_header(const std::string& message) {
  for (const auto& [before, behind] :
       {std::pair(std::string(": "), std::string(": No such file or directory")),
        std::pair(std::string("'"), std::string("' file not found"))}) {
    const std::size_t end = message.find(behind);
    if (end == std::string::npos) continue;
    const std::size_t begin = message.rfind(before, end - 1);
    if (begin != std::string::npos) return message.substr(begin + before.size(), end - begin - before.size());
  }
  return "";
}

fs::path folder_with(const fs::path& name, const fs::path& program, const fs::path& whole) {
  fs::path best;
  const auto [begin, end] = files_of(whole).equal_range(name.filename().string());
  for (auto i = begin; i != end; ++i) {
    fs::path folder = i->second, rest = name;
    bool same = true;
    while (same && !rest.empty()) {
      same = folder.filename() == rest.filename();
      folder = folder.parent_path(), rest = rest.parent_path();
    }
    if (!same) continue;
    const auto nearer = in_common(folder, program) - in_common(best, program);
    if (best.empty() || nearer > 0 || (nearer == 0 && folder < best)) best = folder;
  }
  return best;
}

}  // namespace isomer::cli
