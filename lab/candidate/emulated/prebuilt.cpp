#include "lab/candidate/emulated/prebuilt.hpp"

#include <isomer/error.hpp>

#include <unistd.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <regex>

#include <fmt/format.h>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;

void refuse(const fs::path& library, const std::string& why) {
  throw Error(ErrorCode::bad_argument, fmt::format("{}: {}", library.string(), why));
}

void must_run_here(const fs::path& library, Backend backend) {
  std::ifstream in(library, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (bytes.compare(0, 4,
                    "\x7f"
                    "ELF") != 0)
    refuse(library, "no shared library of this system (ELF)");
  if (bytes.find("libtorch") != std::string::npos || bytes.find("libc10.so") != std::string::npos)
    refuse(library,
           "a PyTorch extension built against another libtorch cannot be loaded here: give its source");
  if (backend != Backend::emulated) return;
  for (const char* device : {".nv_fatbin", ".hip_fatbin", "libcudart.so", "libamdhip64.so"}) {
    if (bytes.find(device) != std::string::npos)
      refuse(library, fmt::format("it holds or needs compiled device code ({}), which the emulated device "
                                  "cannot run: give its source",
                                  device));
  }
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
  must_run_here(library, settings.backend);
  const std::string& signature = settings.signature;
  if (signature.empty())
    refuse(library,
           "a prebuilt library says nothing of its parameters: give the C declaration as signature in "
           "case.toml");
  static const std::regex declaration(
      R"(^\s*(?:extern\s+"C"\s+)?([A-Za-z_][\w\s\*]*?[\s\*])([A-Za-z_]\w*)\s*\(([^()]*)\)\s*;?\s*$)");
  std::smatch parts;
  if (signature.size() > 2000 || !std::regex_match(signature, parts, declaration))
    refuse(
        library,
        fmt::format(
            "the signature '{}' is no C declaration such as void scale(const float* x, float* y, int64_t n)",
            signature));
  std::string parameters;
  static const std::regex parameter(R"(\s*(.*?[\s\*])([A-Za-z_]\w*)\s*$)");
  const std::string list = parts[3];
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    const std::string one = list.substr(begin, comma - begin);
    std::smatch p;
    parameters +=
        std::regex_match(one, p, parameter) ? p[1].str() + '\t' + p[2].str() + "\t\n" : one + "\t\t\n";
    begin = comma + 1;
  }
  const std::string text = fmt::format(
      "#include <cstddef>\n#include <cstdint>\nextern \"C\" {}{}({});\n"
      "static const ::isomer::emulator::FunctionRegistration isomer_prebuilt(&{}, \"{}\", {}, 0, {});\n",
      parts[1].str(), parts[2].str(), list, parts[2].str(), parts[2].str(), literal(library.string()),
      literal(parameters));
  const fs::path folder = fs::temp_directory_path() / fmt::format("isomer-prebuilt-{}", getuid());
  std::error_code failed;
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
