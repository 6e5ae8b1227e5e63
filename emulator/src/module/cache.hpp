// Built modules, kept between runs. An entry is a directory made under a temporary name and renamed, so that
// any number of processes may build the same one; it lists the files that it was made from, and is built anew
// when one of them has changed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "module/compiler.hpp"

namespace isomer::emulator {

struct CacheEntry {
  std::filesystem::path library;
  Compiled compiled;
};

std::string cache_key(const BuildOptions& options, const std::filesystem::path& compiler);
/// A name for what these texts are together.
std::string key_of(const std::vector<std::string>& texts);
std::optional<CacheEntry> find_cached(const std::string& key);
/// Builds into a fresh directory and puts it in place. Another process may have been faster; either will do.
CacheEntry build_cached(const std::string& key, const BuildOptions& options,
                        const std::filesystem::path& compiler);

/// Those whose builder was killed.
void remove_unfinished_builds();

}  // namespace isomer::emulator
