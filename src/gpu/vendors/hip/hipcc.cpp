#include "gpu/vendors/hip/hipcc.hpp"

#include "core/sentence.hpp"
#include "core/temporary_folder.hpp"
#include "gpu/sources.hpp"
#include "gpu/vendors/compiler_log.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

extern char** environ;

namespace isomer::gpu::hip {
namespace {

namespace fs = std::filesystem;

bool runs(const fs::path& path) {
  std::error_code none;
  return fs::is_regular_file(path, none) && ::access(path.c_str(), X_OK) == 0;
}

std::string find() {
  if (const char* named = std::getenv("ISOMER_HIPCC"); named != nullptr && *named != 0) return named;
  std::vector<std::string> folders;
  if (const char* path = std::getenv("PATH")) {
    std::istringstream list(path);
    for (std::string folder; std::getline(list, folder, ':');) folders.push_back(folder);
  }
  if (const char* home = std::getenv("ROCM_PATH")) folders.push_back(std::string(home) + "/bin");
  folders.emplace_back("/opt/rocm/bin");
  for (const std::string& folder : folders)
    if (const fs::path file = fs::path(folder) / "hipcc"; runs(file)) return file.string();
  return {};
}

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(text).str();
}

/// The exit status; what the program says goes to `log`.
int run(const std::vector<std::string>& words, const fs::path& log) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) core::fail(ErrorCode::io, "hip: cannot run '", words[0], "': ", std::strerror(failed));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

/// The number after the last `word`, −1 where there is none.
std::int64_t number_after(std::string_view log, std::string_view word) {
  const std::size_t at = log.rfind(word);
  return at == std::string_view::npos ? -1
                                      : std::atoll(std::string(log.substr(at + word.size(), 20)).c_str());
}

}  // namespace

const Hipcc& Hipcc::get() {
  static const Hipcc* const hipcc = new Hipcc(find());
  return *hipcc;
}

std::string Hipcc::unavailable() const {
  if (program_.empty())
    return "hipcc is not installed; install it with `apt-get install hipcc` or with ROCm, or set "
           "ISOMER_HIPCC "
           "to its file";
  if (!runs(program_)) return core::say("'", program_, "', which ISOMER_HIPCC names, is no program");
  return {};
}

Image Hipcc::compile(const Translation& translation) const {
  const core::TemporaryFolder folder("hip", "hipcc");
  for (const Source* source : included_by(translation.source)) {
    const fs::path file = folder.path() / source->path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << source->text;
  }
  const fs::path object = folder.path() / "image", log = folder.path() / "log";
  std::vector<std::string> words = {program_,
                                    "--genco",
                                    "--offload-arch=" + translation.architecture,
                                    "-O3",
                                    "-std=c++17",
                                    "-ffp-contract=on",  // no joining across statements, as elsewhere
                                    "-Rpass-analysis=kernel-resource-usage",
                                    "-fno-color-diagnostics",
                                    "-I" + folder.path().string()};
  if (const Facts* facts = known_architecture(translation.architecture))
    words.push_back(core::say("-DISOMER_LANES=", facts->warp_size));
  for (const std::string& definition : translation.definitions) words.push_back("-D" + definition);
  for (const std::string& word :
       {std::string("-x"), std::string("hip"), (folder.path() / translation.source).string(),
        std::string("-o"), object.string()})
    words.push_back(word);
  const int status = run(words, log);
  std::string said = read(log);
  const std::string bytes = read(object);
  if (status != 0 || bytes.empty()) {
    std::string variant;
    for (const std::string& definition : translation.definitions) variant += " " + definition;
    // The sources as the project names them, not where they lay for the compiler.
    const std::string where = folder.path().string() + "/";
    for (std::size_t at; (at = said.find(where)) != std::string::npos;) said.erase(at, where.size());
    core::fail(ErrorCode::internal, "hip: compiling ", translation.source, " for ", translation.architecture,
               " with", variant, " by hipcc: ", first_complaint(said, "it made no code"));
  }
  Image image;
  image.bytes.resize(bytes.size());
  std::memcpy(image.bytes.data(), bytes.data(), bytes.size());
  image.compiler = "hipcc";
  image.resources = clang_resources(said);
  return image;
}

Resources clang_resources(std::string_view log) {
  Resources resources;
  resources.registers = static_cast<int>(number_after(log, " VGPRs: "));
  resources.spill_bytes = number_after(log, "ScratchSize [bytes/lane]: ");
  resources.shared_bytes = number_after(log, "LDS Size [bytes/block]: ");
  return resources;
}

}  // namespace isomer::gpu::hip
