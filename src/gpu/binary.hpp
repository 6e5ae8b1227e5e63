#pragma once

#include "gpu/program.hpp"
#include "gpu/vendor.hpp"

#include <functional>
#include <optional>
#include <string>

namespace isomer::gpu {

/// A compiled program and where it came from.
struct Binary {
  Image image;
  std::string key;     ///< of sources, options and architecture
  std::string hash;    ///< SHA-256 of the image
  std::string source;  ///< "bundle", "cache" or "compiled"
  double seconds = 0;  ///< spent on finding or making it
  /// One sentence that says why the cache has not taken what was compiled. The next process compiles again;
  /// nothing else is lost.
  std::string not_kept = {};
};

/// What a program compiles: sources with all they include, macros and architecture, but not the compiler, so
/// that a bundle serves where there is none.
std::string key_of(const Vendor& vendor, const Program& program, const std::string& architecture);

/// Throws Error bad_argument where ISOMER_JIT is no word that it may be, or ISOMER_BUNDLE names no folder.
void check_settings();

/// Looks in the bundle that ISOMER_BUNDLE names, then in the installed one, then in the cache folder, then
/// compiles and stores.
/// ISOMER_JIT=never ends before compiling, =always begins there. Throws Error unsupported that names the
/// variant and says what to do.
Binary find_binary(Vendor& vendor, const Program& program, const std::string& architecture);

/// What is stored in the bundle or the cache folder; compiles nothing.
std::optional<Binary> find_stored(const Vendor& vendor, const Program& program,
                                  const std::string& architecture);

/// Compiles, whatever is stored, and puts it into the cache in the place of what was there. Throws Error
/// unsupported with ISOMER_JIT=never.
Binary remake_binary(Vendor& vendor, const Program& program, const std::string& architecture);

/// Puts it into the cache in the place of what was there. Empty, or one sentence that says why the cache has
/// not taken it.
std::string keep_binary(const Binary& binary, const Program& program, const std::string& architecture);

/// Compiles, whatever is stored, and stores nothing.
Binary compile_binary(Vendor& vendor, const Program& program, const std::string& architecture);
/// The same with another compiler than the vendor's own.
Binary compile_binary(const Vendor& vendor, const Program& program, const std::string& architecture,
                      const std::function<Image(const Translation&)>& compile);

}  // namespace isomer::gpu
