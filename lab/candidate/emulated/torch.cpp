#include "lab/candidate/emulated/torch.hpp"

#include <isomer/error.hpp>
#include "lab/candidate/torch_of_python.hpp"
#include "lab/text/pattern.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include <fmt/format.h>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;
constexpr int kIncludeDepth = 8;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool begins(const std::string& text, const char* what) { return text.rfind(what, 0) == 0; }

// What stands in the brackets or quotes of each #include. No regular expression: lines may be of any length.
std::vector<std::string> included_names(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t at = text.find('#'); at != std::string::npos; at = text.find('#', at + 1)) {
    const std::size_t word = text.find_first_not_of(" \t", at + 1);
    if (word == std::string::npos || text.compare(word, 7, "include") != 0) continue;
    const std::size_t open = text.find_first_not_of(" \t", word + 7);
    if (open == std::string::npos || (text[open] != '<' && text[open] != '"')) continue;
    const std::size_t close = text.find(text[open] == '<' ? '>' : '"', open + 1);
    if (close < text.find('\n', open)) names.push_back(text.substr(open + 1, close - open - 1));
  }
  return names;
}

void read(const fs::path& file, const std::vector<std::string>& directories, int depth,
          std::set<fs::path>& seen, SourceTraits& traits) {
  std::error_code failed;
  if (depth == 0 || !seen.insert(fs::weakly_canonical(file, failed)).second) return;
  const std::string text = text_of(file);
  for (const std::string& name : included_names(text)) {
    if (begins(name, "ATen/") || begins(name, "torch/") || begins(name, "c10/") || begins(name, "pybind11/"))
      traits.torch = true;
    std::vector<fs::path> places = {file.parent_path() / name};
    for (const std::string& d : directories) places.push_back(fs::path(d) / name);
    for (const fs::path& place : places) {
      if (!fs::is_regular_file(place, failed)) continue;
      read(place, directories, depth - 1, seen, traits);
      break;
    }
  }
  static const Pattern kConcept("\\bconcept\\s+\\w+\\s*=");
  traits.concepts |= kConcept.found_in(text);
  for (const char* word : {"torch::nn", "torch::optim", "torch::autograd", "torch::jit", "torch::data",
                           "torch::load", "torch::save"})
    traits.torch_all |= text.find(word) != std::string::npos;
}

}  // namespace

SourceTraits traits_of(const fs::path& source, const std::vector<std::string>& include_directories) {
  SourceTraits traits;
  std::set<fs::path> seen;
  read(source, include_directories, kIncludeDepth, seen, traits);
  return traits;
}

TorchFlags torch_flags(const fs::path& folder) {
  TorchFlags flags;
  flags.folder = folder;
  fs::path include = "/usr/include";
  if (!folder.empty()) {
    include = folder / "include";
    if (!fs::exists(include / "ATen/ATen.h"))
      throw Error(
          ErrorCode::unsupported,
          fmt::format("PyTorch's folder is {}, where include/ATen/ATen.h is missing", folder.string()));
    flags.system_directories.push_back(include.string());
    flags.link_flags = {"-L" + (folder / "lib").string(), "-Wl,-rpath," + (folder / "lib").string()};
    // Wheels before PyTorch 2.6 keep the old strings of the standard library.
    const std::string config = text_of(folder / "share/cmake/Torch/TorchConfig.cmake");
    if (config.find("_GLIBCXX_USE_CXX11_ABI=0") != std::string::npos)
      flags.definitions.emplace_back("_GLIBCXX_USE_CXX11_ABI=0");
  } else if (!fs::exists(include / "ATen/ATen.h")) {
    throw Error(
        ErrorCode::unsupported,
        "PyTorch's C++ headers are missing: install libtorch-dev or a torch that python3 imports, or name "
        "the torch folder of another PyTorch in ISOMER_TORCH");
  }
  flags.system_directories.push_back((include / "torch/csrc/api/include").string());
  if (text_of(include / "ATen/ATen.h").find("C++20 or later") != std::string::npos)
    flags.standard = "gnu++20";
  if (text_of(include / "c10/core/Allocator.h").find("copy_data(") != std::string::npos)
    flags.definitions.emplace_back("ISOMER_EMULATOR_TORCH_COPYING_ALLOCATOR=1");
  if (fs::exists(include / "c10/util/Float8_e4m3fn.h"))
    flags.definitions.emplace_back("ISOMER_EMULATOR_TORCH_FLOAT8=1");
  flags.link_flags.insert(flags.link_flags.end(), {"-ltorch_cpu", "-lc10"});
  // As Debian builds it, TORCH_CHECK_EQ and the like are glog's.
  if (text_of(include / "c10/macros/cmake_macros.h").find("#define C10_USE_GLOG") != std::string::npos &&
      fs::exists("/usr/include/glog/logging.h"))
    flags.link_flags.emplace_back("-lglog");
  const std::string version = text_of(include / "torch/csrc/api/include/torch/version.h");
  // In quotes, on the line of its name or, behind a backslash, on the next one.
  const std::size_t named = version.find("#define TORCH_VERSION ");
  const std::size_t open = named == std::string::npos ? named : version.find('"', named);
  const std::size_t close = open == std::string::npos ? open : version.find('"', open + 1);
  flags.version =
      close == std::string::npos ? "an unknown version" : version.substr(open + 1, close - open - 1);
  return flags;
}

TorchFlags torch_flags() {
  if (const char* chosen = std::getenv("ISOMER_TORCH")) return torch_flags(chosen);
  if (!fs::exists("/usr/include/ATen/ATen.h"))
    if (const fs::path folder = torch_of_python(); fs::exists(folder / "include/ATen/ATen.h"))
      return torch_flags(folder);
  return torch_flags("");
}

std::string newer_torch_for(const std::string& complaint, const std::string& missing_header) {
  if (begins(missing_header, "c10/util/Float8_") || complaint.find("Float8_e") != std::string::npos)
    return "of 2.1 or later (8-bit floats)";
  for (const char* member : {"const_data_ptr", "mutable_data_ptr"})
    if (complaint.find("at::Tensor") != std::string::npos && complaint.find(member) != std::string::npos)
      return fmt::format("of 2.0 or later ({})", member);
  if (begins(missing_header, "torch/csrc/stable/") || begins(missing_header, "torch/headeronly/"))
    return fmt::format("that has {}", missing_header);
  return {};
}

}  // namespace isomer::lab
