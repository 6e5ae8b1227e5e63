#include "lab/judge/emulated/exchanged_build.hpp"

#include "core/temporary_folder.hpp"

#include <fstream>
#include <map>
#include <utility>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;

constexpr int kBuilds = 12;  ///< each leaves out what the one before did not compile with

/// A build and the folder of its source, which lives as long.
struct Kept {
  core::TemporaryFolder folder{"check", "edits"};
  ExchangedBuild build;
};

std::shared_ptr<const ExchangedBuild> build(const fs::path& path, const std::string& source,
                                            const std::string& label, BuildSettings settings) {
  const auto kept = std::make_shared<Kept>();
  settings.include_directories.push_back(fs::absolute(path).parent_path().string());
  settings.exchangeable = true;
  settings.watch = false;
  const fs::path copy = kept->folder.path() / path.filename();
  std::map<int, LeftAlone> alone;
  for (int i = 0; i < kBuilds; ++i) {
    Exchangeable made = exchangeable(source, alone, bounds_in(label));
    if (made.edits.empty()) return nullptr;
    std::ofstream(copy, std::ios::binary) << made.source;
    BuildFailure failure;
    kept->build.candidate = build_candidate(copy, settings, failure);
    if (kept->build.candidate != nullptr) {
      kept->build.edits = std::move(made.edits);
      return {kept, &kept->build};
    }
    // First the statements of that line are left alone, then all of it.
    const auto [at, fresh] = alone.emplace(failure.place.line, LeftAlone::statements);
    if (failure.place.line == 0 || (!fresh && at->second == LeftAlone::all)) return nullptr;
    if (!fresh) at->second = LeftAlone::all;
  }
  return nullptr;
}

}  // namespace

Exchanging with_exchanges(const fs::path& path, const std::string& source, const std::string& label,
                          const BuildSettings& settings) {
  const auto made = std::make_shared<std::pair<bool, std::shared_ptr<const ExchangedBuild>>>();
  return [=] {
    if (!std::exchange(made->first, true)) {
      try {
        made->second = build(path, source, label, settings);
      } catch (const Error&) {
        // No room for a copy: the search is left out.
      }
    }
    return made->second;
  };
}

}  // namespace isomer::lab
