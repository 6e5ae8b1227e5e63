// A source through its vendor's compiler, unchanged, into a shared library that offers its functions and
// kernels.
#include <fstream>

#include "module/compiler.hpp"
#include "module/language.hpp"
#include "module/paths.hpp"
#include "source/rewrite.hpp"

namespace isomer::emulator {
namespace {

namespace fs = std::filesystem;
constexpr double kDeviceCompileSeconds = 600;

// Libraries go to the linker as they are: -x makes sources of them. nvcc hands words on one by one.
void add_link_flags(const BuildOptions& options, const std::vector<std::string>& flags,
                    std::vector<std::string>& command) {
  for (const std::string& flag : flags) {
    const bool file = flag[0] != '-';
    const bool words = flag.rfind("-Wl,", 0) == 0;
    if (options.target == Target::cuda && (file || words))
      command.insert(command.end(), {"-Xlinker", file ? flag : flag.substr(4)});
    else
      command.push_back(file ? "-Wl," + flag : flag);
  }
}

}  // namespace

std::vector<std::string> device_flags(const BuildOptions& options, bool hip) {
  // nvcc knows the standards without the compiler's own additions only, and has those nevertheless.
  const bool additions = options.target == Target::cuda && options.standard.rfind("gnu++", 0) == 0;
  std::vector<std::string> flags = {
      "-std=" + (additions ? "c" + options.standard.substr(3) : options.standard), "-O3", "-w",
      "-DISOMER_REAL_DEVICE=1"};
  // In front of the other directories: some of its headers stand for theirs.
  flags.insert(flags.end(), {"-isystem", toolkit_headers().string()});
  if (options.target == Target::cuda) {
    const fs::path home = fs::path(options.device_compiler).parent_path().parent_path();
    if (hip) flags.insert(flags.end(), {"-isystem", hip_on_cuda_headers().string()});
    flags.insert(flags.end(), {"-isystem", (home / "include").string()});
    flags.insert(flags.end(), {"-Xcompiler", "-fPIC", "-lineinfo", "--expt-relaxed-constexpr",
                               "--extended-lambda", "-cudart", "shared",
                               "-arch=" + (options.architecture.empty() ? "native" : options.architecture)});
  } else {
    flags.insert(flags.end(), {"-fPIC", "-g1"});
    if (!options.architecture.empty()) flags.push_back("--offload-arch=" + options.architecture);
  }
  for (const std::string& d : options.definitions) flags.push_back("-D" + d);
  for (const std::string& d : options.include_directories) flags.push_back("-I" + d);
  for (const std::string& d : options.system_directories) flags.insert(flags.end(), {"-isystem", d});
  flags.insert(flags.end(), options.compile_flags.begin(), options.compile_flags.end());
  return flags;
}

Compiled compile_for_device(const BuildOptions& options, const fs::path& directory, const fs::path& library) {
  if (options.sources.size() != 1) throw Error("a module for a real device is of one source");
  Compiled result;
  result.hip = is_hip(options.sources);
  const fs::path source = fs::absolute(options.sources[0]);
  const std::vector<std::string> flags = device_flags(options, result.hip);
  const std::string language = options.target == Target::cuda ? "cu" : "hip";
  const std::string stem = (directory / "source").string();
  const auto command_for = [&](std::initializer_list<std::string> words) {
    std::vector<std::string> command = {options.device_compiler, "-x", language};
    command.insert(command.end(), flags.begin(), flags.end());
    command.insert(command.end(), words);
    return command;
  };
  // As the compiler sees it: what its conditions leave out is offered by nobody.
  std::vector<std::string> preprocess = command_for({"-E", source.string(), "-o", stem + ".ii"});
  // Otherwise clang writes what the device sees as well.
  if (options.target == Target::hip) preprocess.emplace_back("--cuda-host-only");
  run_compiler(options, directory, preprocess, source.string(), kDeviceCompileSeconds);
  const source::Rewritten offered = source::offered(read_file(stem + ".ii"), options.instantiate);
  result.kernels = offered.kernels;
  result.has_main = offered.has_main;

  const std::string wrapped = stem + (options.target == Target::cuda ? ".cu" : ".hip");
  write_file(wrapped, std::string("#include \"isomer_device/entries.h\"\n") +
                          (options.entries_of_torch ? "#include \"isomer_device/entries_torch.h\"\n" : "") +
                          "#include " + source::quoted(source.string()) + "\n# 1 \"isomer-registrations\"\n" +
                          offered.text);
  std::vector<std::string> command =
      command_for({"-shared", "-MD", "-MF", stem + ".d", wrapped, "-o", library.string()});
  add_link_flags(options, options.link_flags, command);
  add_link_flags(options, {own_library().string(), "-Wl,-rpath," + own_library().parent_path().string()},
                 command);
  run_compiler(options, directory, command, source.string(), kDeviceCompileSeconds);
  for (fs::path& p : parse_dependencies(stem + ".d")) {
    if (p.parent_path() != directory) result.dependencies.push_back(std::move(p));
  }
  return result;
}

}  // namespace isomer::emulator
