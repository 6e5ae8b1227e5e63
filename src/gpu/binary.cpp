#include "gpu/binary.hpp"

#include "core/sentence.hpp"
#include "core/sha256.hpp"
#include "gpu/binary_folder.hpp"
#include "gpu/sources.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace isomer::gpu {
namespace {

/// Changes when the options that a vendor compiles with do.
constexpr std::string_view kFormat = "isomer binary 1";

Translation translation_of(const Program& program, const std::string& architecture) {
  Translation translation{program.source, program.kernel, {}, architecture};
  for (const auto& [name, value] : program.variant) {
    std::string macro = "ISOMER_" + name;
    std::transform(macro.begin(), macro.end(), macro.begin(),
                   [](unsigned char c) { return std::toupper(c); });
    translation.definitions.push_back(macro + "=" + value);
  }
  return translation;
}

enum class Jit { automatic, never, always };

Jit jit() {
  const char* value = std::getenv("ISOMER_JIT");
  if (value == nullptr || *value == 0 || std::string_view(value) == "auto") return Jit::automatic;
  if (std::string_view(value) == "never") return Jit::never;
  if (std::string_view(value) == "always") return Jit::always;
  core::fail(ErrorCode::bad_argument, "ISOMER_JIT expects auto, never or always, got '", value, "'");
}

}  // namespace

void check_settings() {
  jit();
  const auto bundle = bundle_folder();
  std::error_code none;
  if (bundle && !std::filesystem::is_directory(bundle->path(), none))
    core::fail(ErrorCode::bad_argument, "ISOMER_BUNDLE names '", bundle->path().string(),
               "', which is no folder");
}

std::string Program::text() const {
  std::string text = kernel;
  for (const auto& [name, value] : variant) text.append(" ").append(name).append("=").append(value);
  return text;
}

std::string key_of(const Vendor& vendor, const Program& program, const std::string& architecture) {
  core::Sha256 hash;
  hash.field(kFormat).field(vendor.name()).field(architecture).field(program.source).field(program.kernel);
  for (const std::string& definition : translation_of(program, architecture).definitions)
    hash.field(definition);
  for (const Source* source : included_by(program.source)) hash.field(source->path).field(source->text);
  return hash.hex();
}

Binary compile_binary(const Vendor& vendor, const Program& program, const std::string& architecture,
                      const std::function<Image(const Translation&)>& compile) {
  const auto begin = std::chrono::steady_clock::now();
  Binary binary;
  binary.image = compile(translation_of(program, architecture));
  binary.key = key_of(vendor, program, architecture);
  // What is not kept in files is no code but a handle of this process's.
  if (vendor.cacheable()) binary.hash = core::sha256(binary.image.bytes);
  binary.source = "compiled";
  binary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return binary;
}

Binary compile_binary(Vendor& vendor, const Program& program, const std::string& architecture) {
  if (const std::string reason = vendor.compiler_unavailable(); !reason.empty())
    core::fail(ErrorCode::unsupported, vendor.name(), ": ", program.text(), " is not compiled for ",
               architecture, " and cannot be here: ", reason);
  return compile_binary(vendor, program, architecture,
                        [&](const Translation& translation) { return vendor.compile(translation); });
}

std::optional<Binary> find_stored(const Vendor& vendor, const Program& program,
                                  const std::string& architecture) {
  if (!vendor.cacheable()) return std::nullopt;
  const auto begin = std::chrono::steady_clock::now();
  const std::string key = key_of(vendor, program, architecture);
  const auto look = [&](const std::optional<BinaryFolder>& folder, const char* source) {
    std::optional<Binary> binary = folder ? folder->find(key) : std::nullopt;
    if (binary) {
      binary->source = source;
      binary->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    return binary;
  };
  check_settings();
  if (auto binary = look(bundle_folder(), "bundle")) return binary;
  if (auto binary = look(installed_bundle(), "bundle")) return binary;
  return look(cache_folder(), "cache");
}

Binary find_binary(Vendor& vendor, const Program& program, const std::string& architecture) {
  if (vendor.cacheable() && jit() != Jit::always)
    if (auto binary = find_stored(vendor, program, architecture)) return std::move(*binary);
  return remake_binary(vendor, program, architecture);
}

Binary remake_binary(Vendor& vendor, const Program& program, const std::string& architecture) {
  if (!vendor.cacheable()) return compile_binary(vendor, program, architecture);
  if (jit() == Jit::never)
    core::fail(ErrorCode::unsupported, vendor.name(), ": ", program.text(), " is not compiled for ",
               architecture,
               ", and ISOMER_JIT=never forbids compiling it; add it to a bundle with `isomer prebuild`");
  Binary binary = compile_binary(vendor, program, architecture);
  binary.not_kept = keep_binary(binary, program, architecture);
  return binary;
}

std::string keep_binary(const Binary& binary, const Program& program, const std::string& architecture) {
  const auto cache = cache_folder();
  return cache ? cache->store(binary, program, architecture)
               : "there is no cache folder; set ISOMER_CACHE to one that can be written";
}

}  // namespace isomer::gpu
