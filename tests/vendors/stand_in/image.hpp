#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace isomer::emulator {
class Module;
}

namespace isomer::stand_in {

/// What a stand-in compiler calls machine code: all that it was given, to be compiled by the host's compiler
/// where it is loaded. Whole, so that it may be kept in a cache and loaded by another process.
struct Image {
  std::string kind;  ///< "cuda" or "hip"; the other vendor's is refused
  int lanes = 32;
  std::string main;                                        ///< the name of the file that is compiled
  std::vector<std::pair<std::string, std::string>> files;  ///< names and texts
  std::vector<std::string> definitions;

  /// Begins with its length, so that a pointer to it is enough.
  std::string bytes() const;
  static std::optional<Image> parse(const void* bytes, const std::string& kind);

  /// Compiled for the emulator, or what the compiler complains of.
  std::shared_ptr<emulator::Module> build(std::string& complaint) const;
};

}  // namespace isomer::stand_in
