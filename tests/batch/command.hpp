// The command line on folders that the tests write.
#pragma once

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace isomer::tests {

/// sin over raw memory, in a folder that says what it is.
inline constexpr const char* kRight = R"(
__global__ void sin_kernel(const float* x, float* out, long n) {
  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < n) out[i] = sinf(x[i]);
}
extern "C" void sin(const float* x, float* out, long n) {
  sin_kernel<<<(n + 255) / 256, 256>>>(x, out, n);
}
)";

struct Said {
  int exit = -1;
  int signal = 0;
  std::string out, err;
};

class InFolder : public testing::Test {
 protected:
  InFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "isomer-tests-XXXXXX").string();
    folder = mkdtemp(pattern.data());
  }
  ~InFolder() override {
    std::error_code none;
    std::filesystem::remove_all(folder, none);
  }
  std::string path(const std::string& name) const { return (folder / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name, std::ios::binary) << text;
  }
  static std::string read(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  static std::vector<std::string> lines(const std::string& path) {
    std::vector<std::string> all;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }
  Said isomer(const std::string& words) const {
    const int status = std::system(
        (within + std::string(ISOMER_CLI) + " " + words + " >" + path("out") + " 2>" + path("err")).c_str());
    // The shell says 128 + n of a signal.
    const int exit = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return {exit, exit > 128 ? exit - 128 : 0, read(path("out")), read(path("err"))};
  }
  std::filesystem::path folder;
  std::string within;  ///< a command that runs the command line
};

}  // namespace isomer::tests
