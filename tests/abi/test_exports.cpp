// libisomer.so exports what the public headers declare: all of it, and nothing else.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Names = std::set<std::string>;

std::vector<std::string> lines_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  char part[4096];
  while (std::size_t read = fread(part, 1, sizeof part, pipe)) text.append(part, read);
  EXPECT_EQ(pclose(pipe), 0) << command;
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  // Comments may speak of anything, and a macro's definition declares nothing.
  return std::regex_replace(
      text.str(), std::regex("//[^\n]*|/\\*[^*]*\\*+([^/*][^*]*\\*+)*/|#define([^\n]*\\\\\n)*[^\n]*"), "");
}

void collect(const std::string& text, const char* pattern, Names& into) {
  const std::regex regex(pattern);
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match)
    into.insert((*match)[1]);
}

struct Declared {
  Names c, functions, classes;
};

Declared declared() {
  Declared names;
  for (const auto& entry : std::filesystem::directory_iterator(ISOMER_INCLUDE_DIR "/isomer")) {
    const std::string text = text_of(entry.path());
    if (entry.path().extension() == ".h") collect(text, "ISOMER_C_API[^;(]*?(\\w+)\\(", names.c);
    if (entry.path().extension() == ".hpp") {
      collect(text, "\n(?:class|struct) ISOMER_API (\\w+)", names.classes);
      collect(std::regex_replace(text, std::regex("(class|struct) ISOMER_API"), ""),
              "ISOMER_API[^;({]*?(\\w+)\\(", names.functions);
    }
  }
  return names;
}

struct Exported {
  Names c, functions, classes, unversioned;
};

Exported exported() {
  Exported names;
  const std::regex symbol(
      "[0-9a-f]* +[A-Za-z] (?:typeinfo (?:name )?for |vtable for |guard variable for )?(.*)@@(ISOMER_0\\.1|"
      "ISOMER_CXX_0\\.1)");
  const std::regex qualified("isomer::(\\w+)(\\[abi:cxx11\\])?(::|\\(|$).*");
  for (const std::string& line : lines_of(ISOMER_NM " -D -C --defined-only " ISOMER_LIBRARY_FILE)) {
    std::smatch match, name;
    if (line.ends_with(" A ISOMER_0.1") || line.ends_with(" A ISOMER_CXX_0.1")) continue;
    if (!std::regex_match(line, match, symbol)) {
      names.unversioned.insert(line);
      continue;
    }
    const std::string text = match[1], version = match[2];
    if (version == "ISOMER_0.1")
      names.c.insert(text);
    else if (!std::regex_match(text, name, qualified))
      names.unversioned.insert(line);
    else
      (name[3] == "(" ? names.functions : names.classes).insert(name[1]);
  }
  return names;
}

TEST(Exports, AreTheFunctionsOfTheCHeader) { EXPECT_EQ(exported().c, declared().c); }

TEST(Exports, AreTheFunctionsOfTheCxxHeaders) { EXPECT_EQ(exported().functions, declared().functions); }

TEST(Exports, AreTheClassesOfTheCxxHeaders) { EXPECT_EQ(exported().classes, declared().classes); }

TEST(Exports, HoldNothingElse) { EXPECT_EQ(exported().unversioned, Names{}); }

TEST(TheLibrary, HasAStableSoname) {
  Names found;
  for (const std::string& line : lines_of(ISOMER_READELF " -d " ISOMER_LIBRARY_FILE))
    if (line.find("(SONAME)") != std::string::npos) found.insert(line.substr(line.find('[')));
  EXPECT_EQ(found, Names{"[libisomer.so.0]"});
}

TEST(TheLibrary, NeedsNothingButTheLanguagesOwnLibraries) {
  const std::regex expected(std::string("\\[(libstdc\\+\\+|libm|libgcc_s|libc|ld-linux[^.]*") +
                            (ISOMER_SANITIZED != 0 ? "|lib(a|ub|t)san" : "") + ")\\.so");
  for (const std::string& line : lines_of(ISOMER_READELF " -d " ISOMER_LIBRARY_FILE)) {
    if (line.find("(NEEDED)") == std::string::npos) continue;
    EXPECT_TRUE(std::regex_search(line, expected)) << line;
  }
}

}  // namespace
