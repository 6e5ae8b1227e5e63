#include "lab/candidate/case_file.hpp"

#include <isomer/error.hpp>

#include <toml++/toml.h>
#include <fstream>

#include <fmt/format.h>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;

class Reader {
 public:
  Reader(fs::path file, CaseFolder& found) : file_(std::move(file)), found_(found) {}

  void run() {
    std::ifstream in(file_, std::ios::binary);
    if (!in) throw Error(ErrorCode::io, fmt::format("{}: cannot be read", file_.string()));
    toml::table root;
    try {
      root = toml::parse(in, file_.string());
    } catch (const toml::parse_error& e) {
      throw Error(ErrorCode::bad_argument, fmt::format("{}:{}: not valid TOML: {}", file_.string(),
                                                       e.source().begin.line, e.description()));
    }
    for (const auto& [key, value] : root) member(std::string(key.str()), value);
  }

 private:
  [[noreturn]] void wrong(const toml::node& value, const std::string& what) const {
    throw Error(ErrorCode::bad_argument,
                fmt::format("{}:{}: {}", file_.string(), value.source().begin.line, what));
  }

  void member(const std::string& key, const toml::node& value) {
    if (key == "op") {
      found_.op = text(key, value);
    } else if (key == "entry") {
      found_.entry = text(key, value);
    } else if (key == "signature") {
      found_.signature = text(key, value);
    } else if (key == "candidate" || key == "candidates") {
      found_.candidates.clear();
      for (const std::string& name : texts(key, value))
        found_.candidates.push_back(existing(key, name, value));
    } else if (key == "reference" || key == "label") {
      found_.label = existing(key, text(key, value), value);
    } else if (key == "test") {
      found_.test = existing(key, text(key, value), value);
    } else if (key == "instruction") {
      found_.instruction = existing(key, text(key, value), value);
    } else if (key == "recording") {
      found_.recording = existing(key, text(key, value), value);
    } else if (key == "tolerance") {
      tolerance(value);
    } else if (key == "rtol") {
      found_.rtol = positive(key, value);
    } else if (key == "atol") {
      found_.atol = positive(key, value);
    } else if (key == "include_directories") {
      for (const std::string& name : texts(key, value))
        found_.include_directories.push_back(existing(key, name, value).string());
    } else if (key == "definitions") {
      found_.definitions = texts(key, value);
    } else if (key == "author") {
      found_.author = text(key, value);
    } else if (key == "task") {
      found_.task = text(key, value);
    } else {
      wrong(value, fmt::format("unknown key {}, expected op, entry, candidate, reference, test, instruction, "
                               "recording, tolerance, signature, include_directories, definitions, author or "
                               "task",
                               key));
    }
  }

  std::string text(const std::string& key, const toml::node& value) const {
    if (!value.is_string()) wrong(value, key + " is not a text");
    const std::string& text = value.as_string()->get();
    if (text.empty()) wrong(value, key + " is empty");
    return text;
  }

  std::vector<std::string> texts(const std::string& key, const toml::node& value) const {
    if (!value.is_array()) return {text(key, value)};
    std::vector<std::string> all;
    for (const toml::node& item : *value.as_array()) all.push_back(text(key, item));
    if (all.empty()) wrong(value, key + " names nothing");
    return all;
  }

  fs::path existing(const std::string& key, const std::string& name, const toml::node& value) const {
    const fs::path path = file_.parent_path() / name;
    std::error_code none;
    if (!fs::exists(path, none)) wrong(value, fmt::format("{} names {}, which does not exist", key, name));
    return path;
  }

  double positive(const std::string& key, const toml::node& value) const {
    const double number = value.is_number() ? value.value<double>().value_or(-1) : -1;
    if (!(number >= 0) || number > 1e6) wrong(value, key + " is not a number from 0 to 1e6");
    return number;
  }

  void tolerance(const toml::node& value) {
    if (!value.is_table()) {
      found_.rtol = found_.atol = positive("tolerance", value);
      return;
    }
    for (const auto& [name, part] : *value.as_table()) {
      const std::string key(name.str());
      if (key != "rtol" && key != "atol")
        wrong(part, fmt::format("unknown key tolerance.{}, expected rtol or atol", key));
      (key == "rtol" ? found_.rtol : found_.atol) = positive("tolerance." + key, part);
    }
  }

  fs::path file_;
  CaseFolder& found_;
};

}  // namespace

void read_case_file(const fs::path& file, CaseFolder& found) { Reader(file, found).run(); }

}  // namespace isomer::lab
