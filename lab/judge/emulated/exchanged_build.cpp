#include "lab/judge/emulated/exchanged_build.hpp"

#include "core/sha256.hpp"
#include "core/temporary_folder.hpp"
#include "lab/candidate/cache_folder.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;

constexpr int kBuilds = 10;  ///< each leaves out what the one before did not compile with

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

/// A line of two numbers for each line of the source, and "= line text" for each value.
RefusedEdits read_refused(const fs::path& file) {
  RefusedEdits refused;
  std::ifstream in(file);
  for (std::string text; std::getline(in, text);) {
    const bool value = text.starts_with("= ");
    const std::size_t number = value ? 2 : 0, behind = text.find(' ', number);
    if (behind == std::string::npos) continue;
    const int line = std::atoi(text.c_str() + number);
    if (value)
      refused.values.emplace(line, text.substr(behind + 1));
    else
      refused.lines[line] = static_cast<LeftAlone>(
          std::clamp(std::atoi(text.c_str() + behind), 0, static_cast<int>(LeftAlone::all)));
  }
  return refused;
}

std::string as_text(const RefusedEdits& refused) {
  std::string text;
  for (const auto& [line, what] : refused.lines) text += fmt::format("{} {}\n", line, static_cast<int>(what));
  for (const auto& [line, value] : refused.values) text += fmt::format("= {} {}\n", line, value);
  return text;
}

/// Adds what does not compile: of values that are written anew those alone, else of each line first these,
/// then its statements, then all of it. False where all of this was left alone before.
bool refuse(const Exchangeable& made, const std::vector<int>& lines, RefusedEdits& refused) {
  bool more = false;
  for (const int line : lines)
    if (const auto found = made.values.find(line - kLineOfValues); found != made.values.end())
      for (const auto& value : found->second) more = refused.values.insert(value).second || more;
  if (more) return true;
  for (const int line : lines) {
    if (line >= kLineOfValues) continue;
    const auto [at, fresh] = refused.lines.emplace(line, LeftAlone::rewrites);
    more = more || fresh || at->second != LeftAlone::all;
    if (!fresh && at->second != LeftAlone::all)
      at->second = at->second == LeftAlone::rewrites ? LeftAlone::statements : LeftAlone::all;
  }
  return more;
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

/// With PyTorch's headers each build takes longer than all the other edits: numbers that are mistyped alone.
void add_rebuilt(ExchangedBuild& build, const fs::path& folder, const fs::path& path,
                 const std::string& source, const OfLabel& label, BuildSettings settings) {
  constexpr std::size_t kMostOfTorch = 3;
  build.rebuilt = rebuilt_edits(source, label);
  build.slow = source.find("torch/") != std::string::npos;
  if (build.slow) {
    std::erase_if(build.rebuilt, [](const RebuiltEdit& each) { return each.edit.rank != kMistyped; });
    if (build.rebuilt.size() > kMostOfTorch) build.rebuilt.resize(kMostOfTorch);
  }
  settings.exchangeable = false;
  build.rebuild = [=](const RebuiltEdit& edit) -> std::shared_ptr<const Candidate> {
    const fs::path copy = folder / core::Sha256().field(edit.source).hex() / path.filename();
    BuildFailure failure;
    return put(copy, edit.source) ? build_candidate(copy, settings, failure) : nullptr;
  };
}

std::shared_ptr<const ExchangedBuild> build(const fs::path& path, const std::string& source,
                                            const std::string& label, BuildSettings settings) {
  const auto begin = std::chrono::steady_clock::now();
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
  RefusedEdits refused = read_refused(lines);
  if (refused.any()) made = exchangeable(source, refused, has);
  for (int i = 0; i < kBuilds && !made.edits.empty(); ++i) {
    const fs::path copy = folder / core::Sha256().field(made.source).hex() / path.filename();
    if (!put(copy, made.source)) return nullptr;
    BuildFailure failure;
    kept->build.candidate = build_candidate(copy, settings, failure);
    if (kept->build.candidate != nullptr) {
      if (refused.any() && kept->temporary == nullptr) put(lines, as_text(refused));
      if (kept->temporary == nullptr) kept->build.key = key_of(path, made.source, settings);
      kept->build.edits = std::move(made.edits);
      kept->build.source = source;
      add_rebuilt(kept->build, folder, path, source, has, settings);
      kept->build.built = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      return {kept, &kept->build};
    }
    std::error_code none;
    fs::remove_all(copy.parent_path(), none);
    if (failure.lines.empty() && failure.place.line > 0) failure.lines = {failure.place.line};
    // What is left out first may not stand in that line at all.
    for (const std::string was = made.source; made.source == was; made = exchangeable(source, refused, has))
      if (!refuse(made, failure.lines, refused)) return nullptr;
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
