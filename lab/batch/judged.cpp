#include "lab/batch/judged.hpp"

#include "core/sentence.hpp"
#include "core/sha256.hpp"
#include "lab/report/candidate_json.hpp"
#include "lab/report/candidate_report.hpp"
#include "lab/text/read_json.hpp"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string content_of(const fs::path& path) {
  if (path.empty()) return {};
  std::error_code none;
  if (!fs::is_regular_file(path, none)) return {};  // a pipe would be waited for
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::string sources_of(const CaseFolder& folder, const std::string& asked) {
  core::Sha256 sum;
  sum.field(asked).field(folder.op).field(folder.entry).field(folder.error);
  std::vector<fs::path> files = folder.candidates;
  files.insert(files.end(), {folder.label, folder.test, folder.instruction, folder.recording,
                             folder.folder / "case.toml"});
  for (const fs::path& file : files) sum.field(file.filename().string()).field(content_of(file));
  return sum.hex().substr(0, 16);
}

std::vector<Judged> judged_folder(const CaseFolder& folder, const std::string& sources,
                                  std::vector<Diagnosis> diagnoses) {
  std::vector<Judged> lines;
  for (Diagnosis& diagnosis : diagnoses) {
    Judged judged;
    judged.diagnosis = std::move(diagnosis);
    judged.author = folder.author;
    judged.task = folder.task.empty() ? folder.folder.string() : folder.task;
    judged.sources = sources;
    judged.number = static_cast<int>(lines.size()) + 1;
    judged.of = static_cast<int>(diagnoses.size());
    lines.push_back(std::move(judged));
  }
  return lines;
}

std::string line_of(const Judged& judged, const Diagnosis* before) {
  Json json;
  json["version"] = 1;
  json.update(candidate_json(judged.diagnosis, before));
  json["author"] = judged.author;
  json["task"] = judged.task;
  json["sources"] = judged.sources;
  json["number"] = judged.number;
  json["of"] = judged.of;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Judged judged_of_line(const std::string& line) {
  const Json json = read_ordered_json(line);
  if (!json.is_object()) core::fail(ErrorCode::bad_argument, "it is no JSON object");
  if (json.value("version", Json()) != 1)
    core::fail(ErrorCode::bad_argument, "expected version 1, got ", json.value("version", Json()).dump());
  Judged judged;
  judged.diagnosis = diagnosis_of_json(json);
  try {
    judged.author = json.at("author");
    judged.task = json.at("task");
    judged.sources = json.at("sources");
    judged.number = json.at("number");
    judged.of = json.at("of");
  } catch (const Json::exception& error) {
    core::fail(ErrorCode::bad_argument, "it is no line of a batch: ", error.what());
  }
  return judged;
}

std::size_t add_results(std::vector<Judged>& all, std::vector<Judged> more) {
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  const auto name = [](const Judged& each) {
    return std::pair(each.diagnosis.folder, each.diagnosis.candidate);
  };
  for (std::size_t i = 0; i < all.size(); ++i) places[name(all[i])] = i;
  std::size_t replaced = 0;
  for (Judged& each : more) {
    const auto [at, fresh] = places.try_emplace(name(each), all.size());
    if (fresh) {
      all.push_back(std::move(each));
    } else {
      all[at->second] = std::move(each);
      ++replaced;
    }
  }
  return replaced;
}

ResultsRead read_results(const fs::path& file) {
  ResultsRead read;
  std::error_code failed;
  if (fs::is_directory(file, failed))
    core::fail(ErrorCode::io, file.string(), ": is a folder, expected a results file");
  std::ifstream in(file, std::ios::binary);
  if (!in) core::fail(ErrorCode::io, file.string(), ": cannot be read: ", std::strerror(errno));
  std::vector<Judged> lines;
  for (std::string line; std::getline(in, line);) {
    const bool cut = in.eof();  // the last line has no end
    if (line.empty()) continue;
    try {
      Judged judged = judged_of_line(line);
      if (cut)
        ++read.broken;
      else
        lines.push_back(std::move(judged));
    } catch (const Error&) {
      ++read.broken;
    }
  }
  read.replaced = add_results(read.judged, std::move(lines));
  return read;
}

}  // namespace isomer::lab
