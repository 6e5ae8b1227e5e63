#include "cli/makefile.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "lab/text/pattern.hpp"

namespace isomer::cli {
namespace {

namespace fs = std::filesystem;

/// Its lines: continued ones joined, comments cut.
std::vector<std::string> lines_of(const fs::path& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  bool goes_on = false;
  for (std::string line; std::getline(in, line);) {
    if (const auto comment = line.find('#'); comment != std::string::npos) line.resize(comment);
    const bool joins = goes_on;
    goes_on = !line.empty() && line.back() == '\\';
    if (goes_on) line.back() = ' ';
    if (joins && !lines.empty()) {
      lines.back() += line;
    } else {
      lines.push_back(line);
    }
  }
  return lines;
}

class Reader {
 public:
  explicit Reader(fs::path folder) : folder_(std::move(folder)) {}

  Makefile run() {
    for (const std::string& line : lines_of(folder_ / "Makefile")) read(line);
    // A source that another's object is made of is named twice.
    std::set<fs::path> seen;
    auto& s = found_.sources;
    s.erase(std::remove_if(s.begin(), s.end(), [&](const fs::path& p) { return !seen.insert(p).second; }),
            s.end());
    return std::move(found_);
  }

 private:
  /// With the values of variables in place of $(NAME) and ${NAME}.
  std::string expanded(std::string text, int depth = 0) const {
    for (std::size_t at = 0; (at = text.find('$', at)) != std::string::npos;) {
      const char open = at + 1 < text.size() ? text[at + 1] : ' ';
      const auto close = text.find(open == '(' ? ')' : '}', at);
      if ((open != '(' && open != '{') || close == std::string::npos) {
        ++at;
        continue;
      }
      const std::string name = text.substr(at + 2, close - at - 2);
      // $(source:.cu=.o): the sources are known already.
      const auto it = variables_.find(name);
      const std::string value = it == variables_.end() || depth > 8 ? "" : expanded(it->second, depth + 1);
      text.replace(at, close + 1 - at, value);
      at += value.size();
    }
    return text;
  }

  void read(const std::string& line) {
    static const lab::Pattern compares(R"(\s*(ifeq|ifneq)\s*\((.*),\s*(.*)\)\s*)");
    static const lab::Pattern asks(R"(\s*(ifdef|ifndef)\s+(\S+)\s*)");
    static const lab::Pattern otherwise(R"(\s*else\b.*)"), ends(R"(\s*endif\b.*)");
    static const lab::Pattern sets(R"(\s*(?:export\s+)?([A-Za-z_]\w*)\s*(\+=|\?=|:=|=)\s*(.*))");
    static const lab::Pattern runs(R"(\t.*\./(\$\(program\)|\$\{program\}|\$\(EXE\)|main|a\.out)\s*(.*))");
    if (const auto m = compares.whole(line)) {
      const bool equal = expanded((*m)[2]) == expanded((*m)[3]);
      taken_.push_back(((*m)[1] == "ifeq") == equal);
    } else if (const auto asked = asks.whole(line)) {
      taken_.push_back(((*asked)[1] == "ifdef") == (variables_.count((*asked)[2]) != 0));
    } else if (otherwise.whole(line)) {
      if (!taken_.empty()) taken_.back() = !taken_.back();
    } else if (ends.whole(line)) {
      if (!taken_.empty()) taken_.pop_back();
    } else if (std::all_of(taken_.begin(), taken_.end(), [](bool taken) { return taken; })) {
      const auto m = line.empty() || line[0] == '\t' ? std::nullopt : sets.whole(line);
      if (m) {
        std::string& value = variables_[(*m)[1]];
        if ((*m)[2] == "+=") {
          value += " " + (*m)[3];
        } else if ((*m)[2] != "?=" || value.empty()) {
          value = (*m)[3];
        }
      }
      if (const auto run = runs.whole(line); run && found_.words.empty()) {
        std::istringstream words(expanded((*run)[2]));
        for (std::string word; words >> word;) found_.words.push_back(word);
      }
      std::istringstream words(expanded(m ? (*m)[3] : line));
      for (std::string word; words >> word;) note(word);
    }
  }

  void note(const std::string& word) {
    const auto add = [](std::vector<std::string>& to, std::string what) {
      if (std::find(to.begin(), to.end(), what) == to.end()) to.push_back(std::move(what));
    };
    if (word.rfind("-D", 0) == 0 && word.size() > 2) return add(found_.definitions, word.substr(2));
    if (word.rfind("-std=", 0) == 0) found_.standard = word.substr(5);
    if (word.rfind("--std=", 0) == 0) found_.standard = word.substr(6);
    if (word.rfind("-I", 0) == 0 && word.size() > 2) {
      const fs::path path = folder_ / word.substr(2);
      if (fs::is_directory(path)) add(found_.folders, path.lexically_normal().string());
      return;
    }
    static const std::set<std::string> endings = {".cu", ".cpp", ".cc", ".cxx", ".c", ".hip"};
    const fs::path named(word);
    const std::string ending = named.extension().string();
    if (ending == ".o") {
      for (const std::string& each : endings) source(fs::path(named).replace_extension(each));
    } else if (endings.count(ending) != 0) {
      source(named);
    }
  }
  void source(const fs::path& named) {
    std::error_code none;
    const fs::path path = (fs::absolute(folder_) / named).lexically_normal();
    if (fs::is_regular_file(path, none)) found_.sources.push_back(path);
  }

  fs::path folder_;
  std::map<std::string, std::string> variables_;
  std::vector<bool> taken_;
  Makefile found_;
};

}  // namespace

Makefile read_makefile(const fs::path& folder) { return Reader(folder).run(); }

}  // namespace isomer::cli
