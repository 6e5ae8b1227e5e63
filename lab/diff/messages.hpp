#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace isomer::lab {

/// The sentences of a comparison in one language: lab/diff/messages/<language>.json, an object of identifiers
/// and texts in which {name} stands for a value.
class Messages {
 public:
  using Values = std::vector<std::pair<std::string_view, std::string>>;

  /// Throws Error bad_argument for a language that has no file.
  static const Messages& of(std::string_view language);
  static const Messages& english() { return of("en"); }
  static std::vector<std::string> languages();

  /// Throws Error internal for an identifier that the file lacks.
  std::string say(std::string_view id, const Values& values = {}) const;
  std::vector<std::string> identifiers() const;

 private:
  std::vector<std::pair<std::string, std::string>> texts_;  ///< by identifier
};

/// A file of such sentences, as the build embedded it.
struct MessageFile {
  std::string_view path, text;
};
std::span<const MessageFile> message_files();

}  // namespace isomer::lab
