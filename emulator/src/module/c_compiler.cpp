// A program's sources in C, which have nothing of the device's: the host's compiler takes them as they are.
#include <algorithm>

#include "module/compiler.hpp"
#include "module/object_symbols.hpp"

namespace isomer::emulator {

namespace fs = std::filesystem;

Compiled compile_c(const BuildOptions& options, const fs::path& compiler, const fs::path& source,
                   const fs::path& directory, const std::string& stem) {
  std::vector<std::string> command = {compiler.string(), "-x", "c", "-O1", "-g1", "-w", "-fPIC", "-pthread",
                                      "-fno-omit-frame-pointer",
                                      // As the rewriter calls it: the emulator has a main of its own.
                                      "-Dmain=isomer_emulator_main"};
  for (const std::string& d : options.definitions) command.push_back("-D" + d);
  for (const std::string& d : options.include_directories) command.push_back("-I" + d);
  for (const std::string& d : options.system_directories) command.insert(command.end(), {"-isystem", d});
  command.insert(command.end(), {"-MD", "-MF", stem + ".d", "-c", source.string(), "-o", stem + ".o"});
  run_compiler(options, directory, command, source.string(), options.compile_seconds);
  Compiled result;
  result.dependencies = parse_dependencies(stem + ".d");
  const std::vector<std::string> defined = symbols_of_object(stem + ".o").defined;
  result.has_main = std::find(defined.begin(), defined.end(), "isomer_emulator_main") != defined.end();
  return result;
}

}  // namespace isomer::emulator
