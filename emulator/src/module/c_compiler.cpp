// A program's sources in C: the host's compiler takes them as they are. Where they call the runtime, its
// headers in C (include/c) name functions that calls_from_c.h defines.
#include <algorithm>
#include <cctype>
#include <initializer_list>

#include "module/compiler.hpp"
#include "module/language.hpp"
#include "module/object_symbols.hpp"
#include "module/paths.hpp"

namespace isomer::emulator {

namespace fs = std::filesystem;

namespace {

constexpr const char* kInCppAlone = ", which the emulator has for C++ alone";

/// Of a runtime or one of its libraries, by how its name begins.
bool is_of_runtime(const std::string& name) {
  for (const char* begin : {"cu", "cuda", "cublas", "cufft", "curand", "cusparse", "cusolver", "hip",
                            "hipblas", "hipfft", "hiprand"}) {
    const std::string_view word = begin;
    if (name.compare(0, word.size(), word) == 0 && name.size() > word.size() &&
        std::isupper(static_cast<unsigned char>(name[word.size()])))
      return true;
  }
  return false;
}

constexpr std::string_view kFromC = "isomer_emulator_c_";

/// Which part of calls_from_c.h has the function.
std::string part_of(const std::string& name) {
  for (const auto& [begin, part] : {std::pair{"cublas", "BLAS"}, {"cufft", "FFT"}, {"curand", "RANDOM"}})
    if (name.rfind(begin, 0) == 0) return part;
  return name.rfind("cu", 0) == 0 && name.rfind("cuda", 0) != 0 ? "DRIVER" : "RUNTIME";
}

}  // namespace

bool in_cpp_alone(const Error& refusal) {
  return std::string_view(refusal.what()).find(kInCppAlone) != std::string_view::npos;
}

Compiled compile_c(const BuildOptions& options, const fs::path& compiler, const fs::path& source,
                   const fs::path& directory, const std::string& stem) {
  std::vector<std::string> command = {compiler.string(), "-x", "c", "-O1", "-g1", "-w", "-fPIC", "-pthread",
                                      "-fno-omit-frame-pointer",
                                      // As the rewriter calls it: the emulator has a main of its own.
                                      "-Dmain=isomer_emulator_main", "-isystem", c_headers().string()};
  if (is_hip(options.sources)) command.emplace_back("-D__HIP_PLATFORM_AMD__=1");
  for (const std::string& d : options.definitions) command.push_back("-D" + d);
  for (const std::string& d : options.include_directories)
    command.push_back((is_toolkit(d) ? "-idirafter" : "-I") + d);
  for (const std::string& d : options.system_directories) command.insert(command.end(), {"-isystem", d});
  command.insert(command.end(), {"-MD", "-MF", stem + ".d", "-c", source.string(), "-o", stem + ".o"});
  run_compiler(options, directory, command, source.string(), options.compile_seconds);
  Compiled result;
  result.dependencies = parse_dependencies(stem + ".d");
  const ObjectSymbols symbols = symbols_of_object(stem + ".o");
  for (const std::string& name : symbols.taken)
    if (is_of_runtime(name) &&
        std::none_of(options.sources.begin(), options.sources.end(), [&](const fs::path& other) {
          return other != source && read_file(other).find(name) != std::string::npos;
        }))
      throw Error(source.string() + ": it calls " + name + kInCppAlone);
  result.has_main = std::find(symbols.defined.begin(), symbols.defined.end(), "isomer_emulator_main") !=
                    symbols.defined.end();
  for (const std::string& name : symbols.taken)
    if (name.rfind(kFromC, 0) == 0) result.calls_from_c.insert(part_of(name.substr(kFromC.size())));
  return result;
}

Compiled compile_calls_from_c(const BuildOptions& options, const std::set<std::string>& called,
                              const fs::path& compiler, const fs::path& directory, const std::string& stem) {
  const fs::path source = c_headers() / "isomer_emulator/calls_from_c.h";
  std::vector<std::string> command = {
      compiler.string(), "-isystem", device_headers().string(),
      "-std=gnu++17",    "-O1",      "-w",
      "-fPIC",           "-pthread", "-DISOMER_EMULATOR_LANES=" + std::to_string(options.lanes)};
  if (is_hip(options.sources)) command.emplace_back("-DISOMER_EMULATOR_HIP=1");
  for (const std::string& part : called) command.push_back("-DISOMER_EMULATOR_C_" + part + "=1");
  command.insert(command.end(),
                 {"-MD", "-MF", stem + ".d", "-x", "c++", "-c", source.string(), "-o", stem + ".o"});
  run_compiler(options, directory, command, source.string(), options.compile_seconds);
  Compiled result;
  result.dependencies = parse_dependencies(stem + ".d");
  return result;
}

}  // namespace isomer::emulator
