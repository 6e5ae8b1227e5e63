#include "module/compiler.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "contain/room.hpp"
#include "isomer/emulator/containment.hpp"
#include "module/foreign_files.hpp"
#include "module/headers.hpp"
#include "module/language.hpp"
#include "module/leniency.hpp"
#include "module/object_symbols.hpp"
#include "module/paths.hpp"
#include "module/process.hpp"
#include "source/device_paths.hpp"
#include "source/library_specifiers.hpp"
#include "source/rewrite.hpp"

namespace isomer::emulator {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kCompilerMemory = std::uint64_t{8} << 30, kCompilerFile = std::uint64_t{1} << 30;
// What compilers, and the programs that they start, say when a limit ends them.
constexpr std::pair<const char*, const char*> kLimits[] = {
    {"virtual memory exhausted", "the compiler takes more memory than the 8 GiB that it may have"},
    {"out of memory allocating", "the compiler takes more memory than the 8 GiB that it may have"},
    {"cannot allocate memory", "the compiler takes more memory than the 8 GiB that it may have"},
    {"Cannot allocate memory", "the compiler takes more memory than the 8 GiB that it may have"},
    {"File size limit exceeded", "the compiler writes a file of more than the 1 GiB that it may have"},
    {"File too large", "the compiler writes a file of more than the 1 GiB that it may have"},
    {"CPU time limit exceeded", "the compiler takes more processor time than it may"}};

// What compilers, the programs that they start, and rooms say when something of the machine's is missing.
constexpr const char* kOfMachine[] = {"No space left on device",
                                      "Disk quota exceeded",
                                      "Read-only file system",
                                      "Input/output error",
                                      "Too many open files",
                                      "annot allocate memory",
                                      "virtual memory exhausted",
                                      "out of memory",
                                      "Killed signal terminated program",
                                      "internal compiler error",
                                      "error while loading shared libraries"};

// Of "cc1plus: out of memory allocating 8589934608 bytes after a total of 1392640 bytes".
std::uint64_t memory_asked_for(const std::string& line) {
  constexpr std::string_view kWords = "out of memory allocating ";
  const std::size_t at = line.find(kWords);
  return at == std::string::npos ? 0 : std::strtoull(line.c_str() + at + kWords.size(), nullptr, 10);
}

// "file:line" of "file:line:column: " before `at`.
std::string place_before(const std::string& line, std::size_t at) {
  std::string place = line.substr(0, at);
  while (!place.empty() && (place.back() == ':' || place.back() == ' ')) place.pop_back();
  if (const auto colon = place.rfind(':'); colon != std::string::npos && place.find(':') != colon)
    place.resize(colon);
  return place;
}

// Of a header that is missing and may be had.
std::string where_to_get(const std::string& complaint) {
  if (complaint.rfind("thrust/", 0) != 0 || complaint.find("No such file") == std::string::npos) return {};
  return "; Thrust comes with Debian's package libthrust-dev, or ISOMER_THRUST names the folder that has it "
         "(1.15 to 1.17)";
}

}  // namespace

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string run_compiler(const BuildOptions& options, const fs::path& folder,
                         const std::vector<std::string>& command, const std::string& what, double seconds) {
  Room room;
  room.sees_everything = true;
  room.writable = {folder};
  room.hidden = options.hidden;
  room.processor_seconds = static_cast<std::uint64_t>(seconds) + 1;
  room.memory_bytes = kCompilerMemory;
  room.file_bytes = kCompilerFile;
  room.processes = 256;
  // Its complaints are read, so they are English whatever the user's language is.
  const Finished f = run_process(in_room(room, command), seconds, 1 << 20, {}, {"LC_ALL=C.UTF-8"});
  if (!f.started) throw MachineError(what + ": the compiler could not be started");
  if (f.timed_out)
    throw MachineError(what + ": the compiler did not end within " +
                       std::to_string(static_cast<int>(seconds)) + " s");
  if (f.status == 0) return f.output;
  const std::string fault = fault_of_machine(f.output);
  // What it takes for itself is its source's doing, where it has had a good part of what it may have.
  const bool large = fault.empty() || std::max(f.peak_bytes, memory_asked_for(fault)) > kCompilerMemory / 2;
  if (isolation() != Isolation::none && large)
    for (const auto& [words, limit] : kLimits)
      if (f.output.find(words) != std::string::npos) throw Error(what + ": " + limit);
  if (!fault.empty()) throw MachineError(fault);
  if (options.every_refused_line)
    if (std::vector<int> lines = lines_complained_of(f.output, what); !lines.empty())
      throw RefusedLines(first_complaint(f.output), std::move(lines));
  throw Error(first_complaint(f.output));
}

std::string fault_of_machine(const std::string& output) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    // Errors of the source, which may have any words: #error, static_assert, the name of a header. What ends
    // a compiler has its own reason last.
    const bool fatal = line.find("fatal error: ") != std::string::npos;
    bool of_source =
        line.find(": error: ") != std::string::npos || line.find("): error") != std::string::npos ||
        line.find(": warning: ") != std::string::npos || line.find(": note: ") != std::string::npos ||
        line.find_first_not_of(" 0123456789") == line.find('|');
    for (const char* words : kOfMachine) {
      const std::size_t at = line.find(words);
      if (at == std::string::npos || of_source) continue;
      const std::string rest = line.substr(at);
      if (fatal && rest.find(": No such file or directory") != std::string::npos) continue;
      return line;
    }
    // The source itself, in a room in which root is as any other user.
    if (line.rfind("cc1plus: fatal error: ", 0) == 0 && line.find(": Permission denied") != std::string::npos)
      return line;
    for (const char* begin : {"bwrap: ", "isomer: "})
      if (line.rfind(begin, 0) == 0) return line;
  }
  return {};
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw MachineError(path.string() + ": cannot be written: " + std::strerror(errno));
}

std::vector<fs::path> parse_dependencies(const fs::path& file) {
  std::vector<fs::path> paths;
  const std::string text = read_file(file);
  std::string word;
  for (std::size_t i = std::min(text.find(": "), text.size()) + 1; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ' ';
    if (c == '\\' && i + 1 < text.size() && text[i + 1] == ' ') {
      word += ' ';
      ++i;
    } else if (c == ' ' || c == '\n' || c == '\\') {
      if (!word.empty()) paths.emplace_back(word);
      word.clear();
    } else {
      word += c;
    }
  }
  return paths;
}

std::string first_complaint(const std::string& output) {
  std::istringstream lines(output);
  std::string line, fallback, asked_for;
  while (std::getline(lines, line)) {
    // g++ says first which line of the user's asks for the template that then fails in some header.
    if (const auto at = line.find("required from here"); at != std::string::npos)
      asked_for = place_before(line, at);
    if (line.find(": multiple definition of ") != std::string::npos) return line;
    if (const auto at = line.find("undefined reference to "); at != std::string::npos) {
      std::string name = line.substr(at + 23);
      while (!name.empty() && (name.front() == '`' || name.front() == '\'')) name.erase(0, 1);
      while (!name.empty() && (name.back() == '\'' || name.back() == ';')) name.pop_back();
      std::string where = line.substr(0, line.find(": undefined"));
      if (const auto colon = where.find(":("); colon != std::string::npos) where.resize(colon);
      if (const auto slash = where.rfind(": "); slash != std::string::npos) where = where.substr(slash + 2);
      return where + ": the symbol " + name + " is used and nowhere defined";
    }
    // nvcc's own half: file.cu(12): error: identifier "x" is undefined
    for (const char* mark : {"): error: ", "): catastrophic error: "}) {
      const auto at = line.find(mark);
      const auto open = at == std::string::npos ? at : line.rfind('(', at);
      if (open == std::string::npos) continue;
      return line.substr(0, open) + ":" + line.substr(open + 1, at - open - 1) + ": " +
             line.substr(at + std::string(mark).size());
    }
    for (const char* mark : {" fatal error: ", " error: "}) {
      const auto at = line.find(mark);
      if (at == std::string::npos) continue;
      const std::string place = place_before(line, at), what = line.substr(at + std::string(mark).size());
      if (!asked_for.empty() &&
          asked_for.substr(0, asked_for.rfind(':')) != place.substr(0, place.rfind(':')))
        return asked_for + ": " + what + " (in " + fs::path(place).filename().string() +
               ", which this line uses)";
      return place + ": " + what + where_to_get(what);
    }
    if (fallback.empty() && !line.empty()) fallback = line;
  }
  return fallback.empty() ? "the compiler failed without a word" : fallback;
}

std::vector<int> lines_complained_of(const std::string& output, const std::string& file) {
  std::set<int> found;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    // A template of a header is asked for by a line of the file's own.
    const bool complains = line.find(" error: ") != std::string::npos ||
                           line.find("required from here") != std::string::npos;
    if (complains && line.rfind(file + ":", 0) == 0)
      if (const int number = std::atoi(line.c_str() + file.size() + 1); number > 0) found.insert(number);
  }
  return {found.begin(), found.end()};
}

fs::path find_compiler(const BuildOptions& options) {
  std::vector<std::string> names = {"g++", "clang++"};
  const char* chosen = std::getenv("ISOMER_CXX");
  const bool from_environment = options.compiler.empty() && chosen && *chosen;
  if (!options.compiler.empty()) names = {options.compiler};
  if (from_environment) names = {chosen};
  for (const std::string& name : names) {
    if (name.find('/') != std::string::npos) {
      if (access(name.c_str(), X_OK) == 0) return fs::canonical(name);
      continue;
    }
    std::istringstream path(std::getenv("PATH") ? std::getenv("PATH") : "/usr/bin:/bin");
    for (std::string dir; std::getline(path, dir, ':');) {
      const fs::path candidate = fs::path(dir) / name;
      if (access(candidate.c_str(), X_OK) == 0) return candidate;
    }
  }
  if (!options.compiler.empty())
    throw Error("the compiler " + options.compiler + " is not there, or is no program");
  if (from_environment)
    throw Error("ISOMER_CXX names " + names.front() + ", which is not there, or is no program");
  throw Error(
      "no C++ compiler found to build kernels with: install g++ or clang++, or name one in ISOMER_CXX");
}

std::vector<std::string> compile_flags(const BuildOptions& options, bool hip, bool clang) {
  // Integers wrap and pointers of different types meet, as in device code; floating operations round one by
  // one.
  std::vector<std::string> flags = {
      "-std=" + at_least_17(options.standard),
      "-fPIC",
      "-fno-semantic-interposition",  // a function that has to be inlined may be
      "-w",
      "-g1",
      "-ffp-contract=off",
      "-fwrapv",
      "-fno-strict-aliasing",
      "-fno-delete-null-pointer-checks",
      "-pthread",
      "-DISOMER_EMULATOR=1",
      "-DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP",
      "-DISOMER_EMULATOR_LANES=" + std::to_string(options.lanes)};
  // The first is told; those behind it are often its consequences, and there may be no end of them.
  flags.push_back(clang ? "-ferror-limit=1" : "-fmax-errors=1");
  if (hip) flags.insert(flags.end(), {"-DISOMER_EMULATOR_HIP=1", "-D__HIP_PLATFORM_AMD__=1"});
  if (options.device_math) flags.push_back("-DISOMER_EMULATOR_DEVICE_MATH=1");
  if (options.watch) {
    flags.insert(flags.end(),
                 {"-DISOMER_EMULATOR_WATCH=1", "-O1", "-fsanitize=thread,alignment,float-cast-overflow",
                  "-fsanitize-recover=alignment,float-cast-overflow", "-fno-omit-frame-pointer",
                  // What the compiler makes of these in place has no hooks.
                  "-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-memset"});
    if (clang) {
      flags.insert(flags.end(), {"-mllvm", "-tsan-distinguish-volatile"});
    } else {
      flags.insert(flags.end(),
                   {"--param", "tsan-distinguish-volatile=1", "-fno-tree-vectorize",
                    // What is known of an index needs no question (local_values.h): loops of a fixed length
                    // are written out. From an access nothing is concluded about its index.
                    "-ftree-vrp", "-fpeel-loops", "--param", "max-peel-times=0",
                    "-fno-aggressive-loop-optimizations"});
    }
  } else {
    flags.push_back("-O2");
  }
  // Diverged lanes rejoin behind the branch: the order of the code has to be the order of the source.
  if (!clang)
    flags.insert(flags.end(),
                 {"-fno-reorder-blocks", "-fno-reorder-blocks-and-partition", "-fno-finite-loops",
                  // A division by what is known to be zero stays one.
                  "-fno-isolate-erroneous-paths-dereference",
                  // Modules of one process that define equal names (a kernel in two variants) share nothing.
                  "-fno-gnu-unique"});
  for (const std::string& d : options.definitions) flags.push_back("-D" + d);
  for (const std::string& d : options.include_directories)
    flags.push_back((is_toolkit(d) ? "-idirafter" : "-I") + d);
  for (const std::string& d : options.system_directories) flags.insert(flags.end(), {"-isystem", d});
  if (const char* thrust = std::getenv("ISOMER_THRUST"); thrust && *thrust)
    flags.insert(flags.end(), {"-isystem", thrust});
  flags.insert(flags.end(), options.compile_flags.begin(), options.compile_flags.end());
  return flags;
}

/// Whether the caller has said for which device the source is read: a candidate is so as a whole.
bool tells_architecture(const BuildOptions& options) {
  const auto names = [](const std::string& flag) {
    return flag == "ISOMER_EMULATED" ||  // the library's own kernels
           flag.find("device_arch.h") != std::string::npos ||
           flag.find("__CUDA_ARCH__") != std::string::npos ||
           flag.find("__HIP_DEVICE_COMPILE__") != std::string::npos;
  };
  return std::any_of(options.compile_flags.begin(), options.compile_flags.end(), names) ||
         std::any_of(options.definitions.begin(), options.definitions.end(), names);
}

Compiled compile(const BuildOptions& options, const fs::path& compiler, const fs::path& directory,
                 const fs::path& library) {
  if (options.target != Target::emulated) return compile_for_device(options, directory, library);
  Compiled result;
  result.hip = is_hip(options.sources);
  const bool clang = compiler.filename().string().find("clang") != std::string::npos;
  const std::vector<std::string> flags = compile_flags(options, result.hip, clang);
  std::vector<std::string> link = {compiler.string(), "-shared", "-o", library.string()};
  bool uses_openmp =
      false;  // its pragmas are ignored: one thread does all the work, and asks how many there are
  const auto note_dependencies = [&](const fs::path& source, std::vector<fs::path> read) {
    ForeignFiles is_foreign(source, options, compiler);
    for (fs::path& p : read) {
      if (is_foreign(p)) result.reaches.push_back("reads " + p.string());
      result.dependencies.push_back(std::move(p));
    }
  };
  const auto take_object = [&](const fs::path& source, const std::string& object) {
    const ObjectSymbols symbols = symbols_of_object(object);
    if (const std::string own = checkers_own(symbols.defined, read_file(source)); !own.empty())
      throw Error(source.string() + ": it defines " + own + ", which is a function of the checker's own");
    for (std::string& each : reaching_out(symbols, read_file(source)))
      if (std::find(result.reaches.begin(), result.reaches.end(), each) == result.reaches.end())
        result.reaches.push_back(std::move(each));
    link.push_back(object);
  };
  const auto compile_cpp = [&](const fs::path& source, const std::string& stem) {
    std::vector<std::string> of_language = flags;
    // What C has beside: void* goes for any pointer, whole numbers for enumerations.
    if (may_be_c(source) && !clang)
      of_language.insert(of_language.end(), {"-fpermissive", "-Drestrict=__restrict__"});
    // Before the other system directories: some of its headers stand in front of theirs.
    std::vector<std::string> command = {compiler.string(), "-isystem", device_headers().string()};
    // Headers are called as they are found: to look for shorter names takes longer than to read them.
    if (!clang) command.emplace_back("-fno-canonical-system-headers");
    command.insert(command.end(), of_language.begin(), of_language.end());
    command.insert(command.end(), {"-include", "isomer_emulator/cmath.h"});
    const bool cuda =
        source.extension() == ".cu" || source.extension() == ".cuh" || (!result.hip && has_kernels(source));
    // As the vendors' compilers say who they are.
    if (!tells_architecture(options)) {
      if (result.hip) {
        // In front of whatever the source defines: a macro of its own may have the name of a parameter there.
        command.insert(command.end(), {"-D__HIPCC__=1", "-D__HIP__=1", "-include", "hip/hip_runtime.h"});
      } else if (cuda) {
        command.insert(command.end(), {"-D__CUDACC__=1", "-D__NVCC__=1", "-D__CUDACC_VER_MAJOR__=12",
                                       "-D__CUDACC_VER_MINOR__=0", "-D__CUDACC_VER_BUILD__=0",
                                       "-D__CUDACC_EXTENDED_LAMBDA__=1", "-D__CUDACC_RELAXED_CONSTEXPR__=1"});
      }
    }
    if (cuda) command.insert(command.end(), {"-include", "cuda_runtime.h"});
    if (options.entries) command.insert(command.end(), {"-include", "isomer_emulator/entries.h"});
    std::string preprocessed;
    const auto read = [&](const std::vector<std::string>& first, const std::string& as) {
      std::vector<std::string> whole = command;
      whole.insert(whole.end(), first.begin(), first.end());
      whole.insert(whole.end(),
                   {"-E", "-x", "c++", "-MD", "-MF", as + ".d", source.string(), "-o", as + ".ii"});
      run_compiler(options, directory, whole, source.string(), options.compile_seconds);
      return source::without_library_specifiers(read_file(as + ".ii"));
    };
    // A source that asks whether it is read for the device is read for it, too.
    const auto preprocess = [&](std::vector<std::string> first) {
      preprocessed = read(first, stem);
      if (!tells_architecture(options) && source::asks_for_device(preprocessed)) {
        first.emplace_back(result.hip ? "-D__HIP_DEVICE_COMPILE__=1" : "-D__CUDA_ARCH__=890");
        try {
          preprocessed = source::with_device_paths(preprocessed, read(first, stem + ".device"));
        } catch (const Error&) {  // a header that cannot be read for the device: as the host reads it, then
        }
      }
      return source::rewrite(preprocessed, options.instantiate, options.entries);
    };
    source::Rewritten rewritten = preprocess({});
    std::vector<std::string> needed;
    if (rewritten.uses_special_functions) needed.emplace_back("-DISOMER_EMULATOR_SPECIAL_FUNCTIONS=1");
    if (rewritten.uses_texture_references)
      needed.insert(needed.end(), {"-include", "isomer_emulator/texture_reference.h"});
    if (rewritten.uses_ptx) needed.insert(needed.end(), {"-include", "isomer_emulator/ptx.h"});
    for (const std::string& header : rewritten.missing_headers)
      needed.insert(needed.end(), {"-include", header});
    if (!needed.empty()) rewritten = preprocess(needed);
    note_dependencies(source, parse_dependencies(stem + ".d"));
    result.kernels.insert(result.kernels.end(), rewritten.kernels.begin(), rewritten.kernels.end());
    result.has_main |= rewritten.has_main;
    uses_openmp |= preprocessed.find("omp_get_") != std::string::npos;

    command = {compiler.string()};
    command.insert(command.end(), of_language.begin(), of_language.end());
    const auto compile_text = [&](const std::string& text, const std::vector<std::string>& lenient = {}) {
      write_file(stem + ".rewritten.ii", text);
      std::vector<std::string> whole = command;
      whole.insert(whole.end(), lenient.begin(), lenient.end());
      // Behind the flags that precompiled headers are known by.
      if (options.every_refused_line) whole.emplace_back(clang ? "-ferror-limit=200" : "-fmax-errors=200");
      // What it lets through is a warning, and is read.
      if (!lenient.empty()) whole.erase(std::remove(whole.begin(), whole.end(), "-w"), whole.end());
      whole.insert(whole.end(), {"-x", "c++-cpp-output", "-c", stem + ".rewritten.ii", "-o", stem + ".o"});
      const std::string said = run_compiler(options, directory, whole, source.string(), options.compile_seconds);
      if (const std::string more = let_through(said); !lenient.empty() && !more.empty()) throw Error(first_complaint(more));
    };
    std::vector<std::string> folders = options.system_directories;
    folders.insert(folders.end(), {"/usr", device_headers().string()});
    const std::string shorter =
        clang ? "" : with_precompiled_headers(options, command, folders, rewritten.text);
    std::vector<std::string> lenient;
    std::exception_ptr first;
    for (bool precompiled = !shorter.empty(), done = false; !done;) {
      try {
        compile_text(precompiled ? shorter : rewritten.text, lenient);
        done = true;
      } catch (const std::exception& refused) {
        // Whatever was wrong, the source is judged without them; lines that it has itself are wrong anyway.
        const bool again =
            std::exchange(precompiled, false) && dynamic_cast<const RefusedLines*>(&refused) == nullptr;
        const std::vector<std::string> more =
            again || clang || options.entries ? std::vector<std::string>() : lenient_flags(refused.what(), lenient);
        if (!again && more.empty()) first ? std::rethrow_exception(first) : throw;
        // Another standard may refuse what the source's own takes.
        if (!more.empty() && more[0].rfind("-std=", 0) == 0) first = std::current_exception();
        lenient.insert(lenient.end(), more.begin(), more.end());
      }
    }
    take_object(source, stem + ".o");
  };
  for (std::size_t i = 0; i < options.sources.size(); ++i) {
    const fs::path& source = options.sources[i];
    const std::string stem = (directory / std::to_string(i)).string();
    if (!may_be_c(source)) {
      compile_cpp(source, stem);
      continue;
    }
    try {
      Compiled c = compile_c(options, compiler, source, directory, stem);
      result.has_main |= c.has_main;
      result.calls_from_c.merge(c.calls_from_c);
      uses_openmp |= read_file(source).find("omp_get_") != std::string::npos;
      note_dependencies(source, std::move(c.dependencies));
      take_object(source, stem + ".o");
    } catch (const MachineError&) {
      throw;
    } catch (const Error& in_c) {
      // The headers of the runtime's libraries are there in C++ alone.
      if (!names_runtime(source)) throw;
      try {
        compile_cpp(source, stem);
      } catch (const MachineError&) {
        throw;
      } catch (const Error&) {
        if (in_cpp_alone(in_c)) throw;
        throw in_c;
      }
    }
  }
  if (!result.calls_from_c.empty()) {
    const std::string stem = (directory / "calls_from_c").string();
    note_dependencies(
        stem, compile_calls_from_c(options, result.calls_from_c, compiler, directory, stem).dependencies);
    link.push_back(stem + ".o");
  }
  link.insert(link.end(), options.link_flags.begin(), options.link_flags.end());
  link.push_back(own_library().string());
  // As in a program, the module's own functions stand before those of the C library of the same name.
  link.insert(link.end(), {"-Wl,-z,defs", "-Wl,-Bsymbolic-functions", "-pthread"});
  if (uses_openmp && !clang) link.insert(link.end(), {"-Wl,--as-needed", "-lgomp"});
  const std::vector<std::string> wraps = wrap_flags();
  link.insert(link.end(), wraps.begin(), wraps.end());
  run_compiler(options, directory, link, "link", options.compile_seconds);
  return result;
}

}  // namespace isomer::emulator
