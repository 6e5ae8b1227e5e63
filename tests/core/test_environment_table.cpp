// docs/environment.md has every variable that the sources read, and no other of Isomer's own.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Names of Isomer's own variables that stand between two of those marks.
void collect(const std::string& text, char mark, std::set<std::string>& into) {
  const std::string begin = std::string(1, mark) + "ISOMER_";
  for (std::size_t at = text.find(begin); at != text.npos; at = text.find(begin, at + 1)) {
    const std::size_t end = text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_", at + 1);
    if (end != text.npos && text[end] == mark && end > at + begin.size())
      into.insert(text.substr(at + 1, end - at - 1));
  }
}

TEST(EnvironmentTable, HasEveryVariableThatTheSourcesRead) {
  const fs::path root = fs::path(ISOMER_TEST_DATA).parent_path();
  std::set<std::string> named, documented;
  for (const char* folder : {"src", "lab", "cli", "emulator", "python"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if ((entry.path().extension() == ".cpp" || entry.path().extension() == ".py") &&
          entry.path().string().find("/tests/") == std::string::npos)
        collect(read(entry.path()), '"', named);
  // The macro that kernels see on the emulated device.
  named.erase("ISOMER_EMULATED");
  collect(read(root / "docs/environment.md"), '`', documented);
  EXPECT_GT(named.size(), 20u);
  EXPECT_EQ(documented, named);
}

}  // namespace
