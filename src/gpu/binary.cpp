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

Binary compile_binary(Vendor& vendor, const Program& program, const std::string& architecture) {
  const auto begin = std::chrono::steady_clock::now();
  if (const std::string reason = vendor.compiler_unavailable(); !reason.empty())
    core::fail(ErrorCode::unsupported, vendor.name(), ": ", program.text(), " is not compiled for ",
               architecture, " and cannot be here: ", reason);
  Binary binary;
  binary.image = vendor.compile(translation_of(program, architecture));
  binary.key = key_of(vendor, program, architecture);
  binary.hash = core::sha256(binary.image.bytes);
  binary.source = "compiled";
  binary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return binary;
}

Binary find_binary(Vendor& vendor, const Program& program, const std::string& architecture) {
  const auto begin = std::chrono::steady_clock::now();
  if (!vendor.cacheable()) return compile_binary(vendor, program, architecture);
  const std::string key = key_of(vendor, program, architecture);
  const Jit how = jit();
  const auto found = [&](Binary binary, const char* source) {
    binary.source = source;
    binary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return binary;
  };
  const std::optional<BinaryFolder> cache = cache_folder();
  if (how != Jit::always) {
    if (const auto bundle = bundle_folder())
      if (auto binary = bundle->find(key)) return found(std::move(*binary), "bundle");
    if (cache)
      if (auto binary = cache->find(key)) return found(std::move(*binary), "cache");
  }
  if (how == Jit::never)
    core::fail(ErrorCode::unsupported, vendor.name(), ": ", program.text(), " is not compiled for ",
               architecture,
               ", and ISOMER_JIT=never forbids compiling it; add it to a bundle with `isomer prebuild`");
  Binary binary = compile_binary(vendor, program, architecture);
  // A cache that cannot be written costs time at the next start and nothing else.
  if (cache) cache->store(binary, program, architecture);
  return binary;
}

}  // namespace isomer::gpu
