#include "lab/candidate/emulated/prebuilt.hpp"

#include "core/temporary_folder.hpp"
#include "lab/binary/elf.hpp"
#include "lab/candidate/cache_folder.hpp"
#include "lab/text/pattern.hpp"

#include <isomer/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>

#include <fmt/format.h>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;

void refuse(const fs::path& library, const std::string& why) {
  throw Error(ErrorCode::bad_argument, fmt::format("{}: {}", library.string(), why));
}

// As the C library's <elf.h> numbers them.
constexpr std::uint16_t kX86 = 62, kArm = 183;
#if defined(__x86_64__)
constexpr std::uint16_t kHere = kX86;
#else
constexpr std::uint16_t kHere = kArm;
#endif

std::string machine_name(std::uint16_t machine) {
  return machine == kX86 ? "x86-64" : machine == kArm ? "AArch64" : fmt::format("ELF machine {}", machine);
}

Elf whole(const fs::path& library, const Bytes& file) {
  try {
    return read_elf(file);
  } catch (const Error& error) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("{}: the library is cut off, damaged or of another class", error.what()));
  }
}

/// What the loader finds in it: functions that it defines for others.
std::vector<std::string> exported_functions(const Elf& elf) {
  constexpr std::uint64_t kEntry = 24;
  constexpr int kFunction = 2;
  std::vector<std::string> names;
  const Elf::Section* table = elf.find(".dynsym");
  if (table == nullptr || table->link >= elf.sections.size()) return names;
  const Bytes& texts = elf.sections[table->link].bytes;
  for (std::uint64_t at = 0; at + kEntry <= table->bytes.size(); at += kEntry) {
    const auto name = table->bytes.at<std::uint32_t>(at, "a symbol");
    const auto info = table->bytes.at<std::uint8_t>(at + 4, "a symbol");
    const auto section = table->bytes.at<std::uint16_t>(at + 6, "a symbol");
    if ((info & 15) != kFunction || section == 0 || name >= texts.size()) continue;
    const std::string_view text = texts.text().substr(name);
    names.emplace_back(text.substr(0, text.find('\0')));
  }
  return names;
}

/// Its exported functions, where it can be loaded at all.
std::vector<std::string> functions_of(const fs::path& library, Backend backend) {
  std::ifstream in(library, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const Bytes file({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, library.native());
  if (!is_elf(file)) refuse(library, "not a shared library of this system (ELF)");
  if (bytes.find("libtorch") != std::string::npos || bytes.find("libc10.so") != std::string::npos)
    refuse(library,
           "a PyTorch extension built against another libtorch cannot be loaded here: give its source");
  const Elf elf = whole(library, file);
  if (elf.machine != kHere)
    refuse(library,
           fmt::format("a library for {}, this machine is {}: build it for this one, or give its source",
                       machine_name(elf.machine), machine_name(kHere)));
  if (backend != Backend::emulated) return exported_functions(elf);
  for (const char* device : {".nv_fatbin", ".hip_fatbin", "libcudart.so", "libamdhip64.so"}) {
    if (bytes.find(device) != std::string::npos)
      refuse(library, fmt::format("it holds or needs compiled device code ({}), which the emulated device "
                                  "cannot run: give its source",
                                  device));
  }
  return exported_functions(elf);
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 8;
  std::string list;
  for (std::size_t i = 0; i < names.size() && i < kShown; ++i) list += (i == 0 ? "" : ", ") + names[i];
  return names.size() > kShown ? fmt::format("{} and {} more", list, names.size() - kShown) : list;
}

std::string literal(const std::string& text) {
  std::string q = "\"";
  for (char c : text)
    q += c == '\n'               ? std::string("\\n")
         : c == '\t'             ? std::string("\\t")
         : c == '"' || c == '\\' ? std::string{'\\', c}
                                 : std::string(1, c);
  return q + '"';
}

}  // namespace

fs::path source_for_library(const fs::path& library, const BuildSettings& settings) {
  const std::vector<std::string> functions = functions_of(library, settings.backend);
  const std::string& signature = settings.signature;
  if (signature.empty())
    refuse(library,
           "a prebuilt library does not describe its parameters: set signature in case.toml to its C "
           "declaration");
  static const Pattern declaration(
      R"(\s*(?:extern\s+"C"\s+)?([A-Za-z_][\w\s\*]*?[\s\*])([A-Za-z_]\w*)\s*\(([^()]*)\)\s*;?\s*)");
  const std::optional<Match> parts = declaration.whole(signature);
  if (!parts)
    refuse(library, fmt::format("the signature '{}' is not a C declaration such as void scale(const float* "
                                "x, float* y, int64_t n)",
                                signature));
  if (!functions.empty() && std::find(functions.begin(), functions.end(), (*parts)[2]) == functions.end())
    refuse(
        library,
        fmt::format("the signature in case.toml names {}, which the library does not export; it exports {}",
                    (*parts)[2], listed(functions)));
  std::string parameters;
  static const Pattern parameter(R"(\s*(.*?[\s\*])([A-Za-z_]\w*)\s*)");
  const std::string name = (*parts)[2], list = (*parts)[3];
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    const std::string one = list.substr(begin, comma - begin);
    const std::optional<Match> p = parameter.whole(one);
    parameters += p ? (*p)[1] + '\t' + (*p)[2] + "\t\n" : one + "\t\t\n";
    begin = comma + 1;
  }
  const std::string text = fmt::format(
      "#include <cstddef>\n#include <cstdint>\nextern \"C\" {}{}({});\n"
      "static const ::isomer::emulator::FunctionRegistration isomer_prebuilt(&{}, \"{}\", {}, 0, {});\n",
      (*parts)[1], name, list, name, name, literal(library.string()), literal(parameters));
  std::error_code failed;
  fs::path folder = cache_folder("prebuilt");
  if (folder.empty()) {
    // A name that others can guess would be theirs to make first.
    static const core::TemporaryFolder of_this_process("check", "prebuilt");
    folder = of_this_process.path();
  }
  fs::create_directories(folder, failed);
  const fs::path source = folder / fmt::format("{:016x}.cpp", std::hash<std::string>{}(text));
  // Written aside and renamed: several processes may want the same one.
  const fs::path aside = source.string() + fmt::format(".{}", getpid());
  std::ofstream out(aside, std::ios::binary);
  out << text;
  out.close();
  fs::rename(aside, source, failed);
  if (!out || failed) throw Error(ErrorCode::io, fmt::format("{}: cannot be written", source.string()));
  return source;
}

}  // namespace isomer::lab
