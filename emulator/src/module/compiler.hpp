// From a source file to a shared library: preprocess, rewrite, compile, link.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "isomer/emulator/error.hpp"
#include "isomer/emulator/module.hpp"

namespace isomer::emulator {

struct Compiled {
  std::vector<std::string> kernels;
  std::vector<std::filesystem::path> dependencies;  ///< every file that was read
  std::vector<std::string> reaches;                 ///< "uses ptrace": what no kernel's code needs
  bool has_main = false;
  bool hip = false;
  std::set<std::string> calls_from_c;  ///< what a source in C calls: RUNTIME, BLAS, FFT, RANDOM, DRIVER
};

/// The compiler that `options` mean, as a path. Throws Error where none is found.
std::filesystem::path find_compiler(const BuildOptions& options);
/// All flags that decide what comes out, for the cache's key.
std::vector<std::string> compile_flags(const BuildOptions& options, bool hip, bool clang);
Compiled compile(const BuildOptions& options, const std::filesystem::path& compiler,
                 const std::filesystem::path& directory, const std::filesystem::path& library);

/// A source in C into `stem`.o (c_compiler.cpp).
Compiled compile_c(const BuildOptions& options, const std::filesystem::path& compiler,
                   const std::filesystem::path& source, const std::filesystem::path& directory,
                   const std::string& stem);
/// Whether compile_c has refused what the emulator's headers have for C++ alone.
bool in_cpp_alone(const Error& refusal);
/// The functions of the runtime and its libraries that sources in C call, into `stem`.o.
Compiled compile_calls_from_c(const BuildOptions& options, const std::set<std::string>& called,
                              const std::filesystem::path& compiler, const std::filesystem::path& directory,
                              const std::string& stem);

/// The same with the vendor's compiler, for a real device (device_compiler.cpp).
Compiled compile_for_device(const BuildOptions& options, const std::filesystem::path& directory,
                            const std::filesystem::path& library);
/// The flags that decide what that makes.
std::vector<std::string> device_flags(const BuildOptions& options, bool hip);

/// Hooks and C library calls that the linker hands to the emulator's library.
std::vector<std::string> wrap_flags();

/// Make's dependency format: "target: a b \<newline> c", blanks escaped by a backslash.
std::vector<std::filesystem::path> parse_dependencies(const std::filesystem::path& file);
std::string read_file(const std::filesystem::path& path);
/// Runs a compiler, which may write in that folder alone; throws Error with its first complaint. What it said.
std::string run_compiler(const BuildOptions& options, const std::filesystem::path& folder,
                         const std::vector<std::string>& command, const std::string& what, double seconds);

/// The line of a compiler's or linker's output that tells of a fault of this machine's, or of the room's;
/// empty where there is none. Words that a source may have are none.
std::string fault_of_machine(const std::string& output);
/// Throws MachineError where it cannot be written whole.
void write_file(const std::filesystem::path& path, const std::string& text);

/// The first complaint of a compiler's or linker's output, as one sentence.
std::string first_complaint(const std::string& output);
/// The lines of that file which its complaints name.
std::vector<int> lines_complained_of(const std::string& output, const std::string& file);

}  // namespace isomer::emulator
