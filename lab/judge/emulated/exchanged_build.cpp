#include "lab/judge/emulated/exchanged_build.hpp"

#include "core/sha256.hpp"
#include "core/temporary_folder.hpp"
#include "lab/candidate/cache_folder.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <utility>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;

constexpr int kBuilds = 8;  ///< each leaves out what the one before did not compile with

/// A build and, where no cache can keep its source, the folder that does.
struct Kept {
  std::unique_ptr<core::TemporaryFolder> temporary;
  ExchangedBuild build;
};

/// What decides which lines are left alone.
std::string key_of(const fs::path& path, const std::string& exchangeable, const BuildSettings& settings) {
  core::Sha256 key;
  key.field(fs::absolute(path).string()).field(exchangeable);
  for (const auto* list : {&settings.include_directories, &settings.definitions}) {
    key.field(std::to_string(list->size()));
    for (const std::string& each : *list) key.field(each);
  }
  return key.hex();
}

std::map<int, LeftAlone> read_left_alone(const fs::path& file) {
  std::map<int, LeftAlone> alone;
  std::ifstream in(file);
  for (int line = 0, what = 0; in >> line >> what;)
    alone[line] = static_cast<LeftAlone>(std::clamp(what, 0, static_cast<int>(LeftAlone::all)));
  return alone;
}

std::string as_text(const std::map<int, LeftAlone>& alone) {
  std::string text;
  for (const auto& [line, what] : alone) text += fmt::format("{} {}\n", line, static_cast<int>(what));
  return text;
}

/// Others that judge the same candidate find the whole text or none. False where it cannot be written.
bool put(const fs::path& file, const std::string& text) {
  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);
  const fs::path fresh = file.string() + fmt::format(".{}.fresh", getpid());
  std::ofstream out(fresh, std::ios::binary);
  out << text;
  out.close();
  if (out) fs::rename(fresh, file, failed);
  if (!out || failed) fs::remove(fresh, failed);
  return fs::exists(file, failed);
}

/// PyTorch's headers alone take longer than all the other edits.
void add_rebuilt(ExchangedBuild& build, const fs::path& folder, const fs::path& path,
                 const std::string& source, const OfLabel& label, BuildSettings settings) {
  if (source.find("torch/") != std::string::npos) return;
  build.rebuilt = rebuilt_edits(source, label);
  settings.exchangeable = false;
  build.rebuild = [=](const RebuiltEdit& edit) -> std::shared_ptr<const Candidate> {
    const fs::path copy = folder / core::Sha256().field(edit.source).hex() / path.filename();
    BuildFailure failure;
    return put(copy, edit.source) ? build_candidate(copy, settings, failure) : nullptr;
  };
}

std::shared_ptr<const ExchangedBuild> build(const fs::path& path, const std::string& source,
                                            const std::string& label, BuildSettings settings) {
  const auto kept = std::make_shared<Kept>();
  settings.include_directories.push_back(fs::absolute(path).parent_path().string());
  settings.exchangeable = true;
  settings.watch = false;
  const OfLabel has = of_label(label);
  Exchangeable made = exchangeable(source, {}, has);
  // Under one name wherever it is judged again, so that the compiler's work is found in the cache.
  fs::path folder = cache_folder("edits");
  const fs::path lines = folder / (key_of(path, made.source, settings) + ".lines");
  if (folder.empty() || !put(folder / "about.txt", "Candidates with expressions that can be exchanged.\n")) {
    kept->temporary = std::make_unique<core::TemporaryFolder>("check", "edits");
    folder = kept->temporary->path();
  }
  std::map<int, LeftAlone> alone = read_left_alone(lines);
  if (!alone.empty()) made = exchangeable(source, alone, has);
  for (int i = 0; i < kBuilds && !made.edits.empty(); ++i) {
    const fs::path copy = folder / core::Sha256().field(made.source).hex() / path.filename();
    if (!put(copy, made.source)) return nullptr;
    BuildFailure failure;
    kept->build.candidate = build_candidate(copy, settings, failure);
    if (kept->build.candidate != nullptr) {
      if (!alone.empty() && kept->temporary == nullptr) put(lines, as_text(alone));
      if (kept->temporary == nullptr) kept->build.key = key_of(path, made.source, settings);
      kept->build.edits = std::move(made.edits);
      add_rebuilt(kept->build, folder, path, source, has, settings);
      return {kept, &kept->build};
    }
    std::error_code none;
    fs::remove_all(copy.parent_path(), none);
    if (failure.lines.empty() && failure.place.line > 0) failure.lines = {failure.place.line};
    // First what is written anew in a line is left alone, then its statements, then all of it.
    bool more = false;
    for (const int line : failure.lines) {
      const auto [at, fresh] = alone.emplace(line, LeftAlone::rewrites);
      more = more || fresh || at->second != LeftAlone::all;
      if (!fresh && at->second != LeftAlone::all)
        at->second = at->second == LeftAlone::rewrites ? LeftAlone::statements : LeftAlone::all;
    }
    if (!more) return nullptr;
    made = exchangeable(source, alone, has);
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
