// Sources that a program compiles while it runs: NVRTC's and hipRTC's programs.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "code_objects/code_object.hpp"
#include "isomer_emulator/code_objects.h"
#include "module/cache.hpp"
#include "module/paths.hpp"
#include "runtime/errors.hpp"
#include "runtime/settings.hpp"

namespace isomer::emulator {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kMark = "// code object of the Isomer emulator: ";

struct Program {
  std::string source, name;
  std::vector<std::pair<std::string, std::string>> headers;  ///< names and texts
  std::map<std::string, std::string> lowered;                ///< by expression
  std::string log, code;
};

std::string without_blanks(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != ' ' && c != '\t' && c != '\n') out += c;
  return out;
}

/// `&scale<float>` and `(scale<float>)` name the same.
std::string plain_expression(std::string_view expression) {
  std::string text = without_blanks(expression);
  while (text.size() > 1 && text.front() == '(' && text.back() == ')') text = text.substr(1, text.size() - 2);
  if (!text.empty() && text.front() == '&') text.erase(0, 1);
  if (text.rfind("::", 0) == 0) text.erase(0, 2);
  return text;
}

/// The value of `--name=VALUE`, `-name=VALUE`, `-nVALUE` or of the word behind.
bool value_of(const std::vector<std::string>& words, std::size_t& at,
              std::initializer_list<std::string_view> names, std::string_view letter, std::string& value) {
  const std::string& word = words[at];
  for (const std::string_view name : names) {
    if (word == name && at + 1 < words.size()) return value = words[++at], true;
    if (word.size() > name.size() && word.compare(0, name.size(), name) == 0 && word[name.size()] == '=')
      return value = word.substr(name.size() + 1), true;
  }
  if (letter.empty() || word.compare(0, letter.size(), letter) != 0) return false;
  if (word.size() > letter.size()) return value = word.substr(letter.size()), true;
  return at + 1 < words.size() && (value = words[++at], true);
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\n");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

/// What says how a source is read; all else is about machine code.
void take_options(BuildOptions& options, int count, const char* const* words) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) all.push_back(trimmed(words[i]));
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::string value;
    if (value_of(all, i, {"--include-path"}, "-I", value))
      options.include_directories.push_back(trimmed(value));
    else if (value_of(all, i, {"--define-macro"}, "-D", value))
      options.definitions.push_back(trimmed(value));
    else if (value_of(all, i, {"--std", "-std"}, "", value))
      options.standard = value;
  }
}

/// A place of its own for a program's source and headers: equal programs share it, and what was built of it.
fs::path written(const Program& p) {
  std::vector<std::string> texts = {p.source, p.name};
  for (const auto& [name, text] : p.headers) texts.insert(texts.end(), {name, text});
  const fs::path folder = cache_directory() / "programs" / key_of(texts);
  fs::create_directories(folder);
  const auto put = [&](const fs::path& file, const std::string& text) {
    std::error_code none;
    if (fs::is_regular_file(file, none) && read_file(file) == text) return;
    fs::create_directories(file.parent_path());
    const fs::path fresh = file.string() + "." + std::to_string(getpid());
    write_file(fresh, text);
    fs::rename(fresh, file);
  };
  for (const auto& [name, text] : p.headers) {
    const fs::path way = fs::path(name).lexically_normal();
    if (way.is_absolute() || way.empty() || *way.begin() == "..")
      throw Error("the header " + name + " lies outside of its program");
    put(folder / way, text);
  }
  // Findings name the file as the program does, where that is a file's name.
  const fs::path named = fs::path(p.name).filename();
  const bool is_source = named.extension() == ".cu" || named.extension() == ".cpp" || named.extension() == ".hip";
  const fs::path source = folder / (is_source ? named.string() : named.string() + ".cu");
  put(source, settings().hip ? p.source + "\n// read behind <hip/hip_runtime.h>\n" : p.source);
  return source;
}

void build(Program& p, int count, const char* const* words) {
  BuildOptions options;
  const BuildOptions whole = as_the_program(written(p));
  options.sources = whole.sources;
  options.lanes = whole.lanes;
  options.watch = whole.watch;
  options.device_math = whole.device_math;
  options.compiler = whole.compiler;
  // The program's own headers, then what lies where its name says that it comes from.
  options.include_directories.push_back(whole.sources.front().parent_path().string());
  options.include_directories.push_back(fs::absolute(p.name).parent_path().string());
  options.definitions.emplace_back(settings().hip ? "__HIPCC_RTC__=1" : "__CUDACC_RTC__=1");
  if (settings().hip) options.compile_flags = {"-include", "hip/hip_runtime.h"};
  take_options(options, count, words);
  for (const auto& [expression, name] : p.lowered)
    if (name.find('<') != std::string::npos) options.instantiate.push_back(name);
  p.code = code_object_of(options);
}

}  // namespace

BuildOptions as_the_program(const fs::path& source) {
  const BuiltFrom& from = settings().built_from;
  BuildOptions options;
  options.sources = {source};
  options.lanes = settings().lanes;
  options.watch = settings().watch;
  options.device_math = from.device_math;
  options.include_directories = from.include_directories;
  options.system_directories = from.system_directories;
  options.definitions = from.definitions;
  if (!from.standard.empty()) options.standard = from.standard;
  options.compiler = from.compiler;
  return options;
}

std::string code_object_of(const BuildOptions& options) {
  return std::string(kMark) + Module::build(options).library().string() + "\n";
}

fs::path module_of(const char* image) {
  if (std::strncmp(image, kMark.data(), kMark.size()) != 0) return {};
  const char* begin = image + kMark.size();
  return std::string(begin, std::strcspn(begin, "\n"));
}

}  // namespace isomer::emulator

#define EXPORT __attribute__((visibility("default")))
extern "C" {
using isomer::emulator::Program;

EXPORT void* isomer_emulator_program(const char* source, const char* name, int headers,
                                     const char* const* texts, const char* const* names) {
  auto* const p = new Program;
  p->source = source;
  p->name = name != nullptr && *name != '\0' ? name : "default_program";
  for (int i = 0; i < headers; ++i) p->headers.emplace_back(names[i], texts[i]);
  return p;
}

EXPORT void isomer_emulator_program_destroy(void* program) { delete static_cast<Program*>(program); }

EXPORT void isomer_emulator_program_expression(void* program, const char* expression) {
  static_cast<Program*>(program)->lowered[expression] = isomer::emulator::plain_expression(expression);
}

EXPORT int isomer_emulator_program_compile(void* program, int count, const char* const* options) {
  auto& p = *static_cast<Program*>(program);
  try {
    isomer::emulator::build(p, count, options);
    return isomer::emulator::error::success;
  } catch (const std::exception& e) {
    p.log = e.what();
    p.code.clear();
    return isomer::emulator::error::invalid_image;
  }
}

EXPORT const char* isomer_emulator_program_log(void* program, std::size_t* bytes) {
  const auto& p = *static_cast<Program*>(program);
  if (bytes) *bytes = p.log.size() + 1;
  return p.log.c_str();
}

EXPORT const char* isomer_emulator_program_code(void* program, std::size_t* bytes) {
  const auto& p = *static_cast<Program*>(program);
  if (bytes) *bytes = p.code.size() + 1;
  return p.code.c_str();
}

EXPORT const char* isomer_emulator_program_lowered(void* program, const char* expression) {
  const auto& known = static_cast<Program*>(program)->lowered;
  const auto found = known.find(expression);
  return found == known.end() ? nullptr : found->second.c_str();
}
}
