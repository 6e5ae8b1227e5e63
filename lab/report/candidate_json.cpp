#include "lab/report/candidate_json.hpp"

#include "core/sentence.hpp"
#include "lab/report/candidate_report.hpp"

#include <nlohmann/json.hpp>

#include <initializer_list>

namespace isomer::lab {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Finding& finding) {
  Json json;
  json["code"] = name_of(finding.code);
  json["subject"] = name_of(finding.subject);
  json["strength"] = name_of(finding.strength);
  json["argument"] = finding.argument;
  json["evidence"] = finding.evidence;
  json["location"] = Json::object();
  if (!finding.location.file.empty()) {
    json["location"]["file"] = finding.location.file;
    if (finding.location.line > 0) json["location"]["line"] = finding.location.line;
  }
  json["fix"] = finding.fix;
  json["variations"] = Json::object();
  for (const std::string& name : finding.variations) {
    const std::size_t equals = name.find('=');
    const std::string key = name.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : name.substr(equals + 1);
    // Two variations of one thing: both count.
    auto& entry = json["variations"][key];
    entry = entry.is_string() ? entry.get<std::string>() + " " + value : value;
  }
  return json;
}

/// The value that has this name.
template <class Enum>
Enum named(const std::string& name, std::initializer_list<Enum> values) {
  for (const Enum value : values)
    if (name == name_of(value)) return value;
  core::fail(ErrorCode::bad_argument, "'", name, "' is no word of a candidate's report");
}

Finding finding_of_json(const Json& json) {
  Finding finding;
  const std::string code = json.at("code");
  const std::optional<Code> known = code_named(code);
  if (!known) core::fail(ErrorCode::bad_argument, "'", code, "' is no code of a finding");
  finding.code = *known;
  finding.subject =
      named<Subject>(json.at("subject"), {Subject::candidate, Subject::test, Subject::instruction});
  finding.strength =
      named<Strength>(json.at("strength"), {Strength::proved, Strength::consistent, Strength::observed,
                                            Strength::nearest, Strength::unobservable});
  finding.argument = json.at("argument");
  finding.evidence = json.at("evidence");
  finding.location.file = json.at("location").value("file", std::string());
  finding.location.line = json.at("location").value("line", 0);
  finding.fix = json.at("fix");
  for (const auto& [key, value] : json.at("variations").items()) {
    const std::string text = value;
    finding.variations.push_back(text.empty() ? key : key + "=" + text);
  }
  return finding;
}

}  // namespace

Json candidate_json(const Diagnosis& d, const Diagnosis* before) {
  Json entry;
  entry["folder"] = d.folder;
  entry["candidate"] = d.candidate;
  entry["op"] = d.op;
  entry["entry"] = d.entry;
  entry["called_with"] = d.called_with;
  entry["backend"] = d.backend;
  entry["verdict"] = d.verdict();
  entry["stages"] = {{"compile", name_of(d.compile)}, {"call", name_of(d.call)}, {"exec", name_of(d.exec)}};
  entry["findings"] = Json::array();
  for (const Finding& finding : d.findings) entry["findings"].push_back(json_of(finding));
  entry["notes"] = d.notes;
  entry["error"] = d.error;
  entry["calls"] = d.calls;
  entry["seconds"] = d.seconds;
  if (before != nullptr && follows(*before, d)) {
    const Mended m = mended(*before, d);
    entry["against"] = {
        {"candidate", before->candidate}, {"mended", m.mended}, {"left", m.left}, {"added", m.added}};
  }
  return entry;
}

Diagnosis diagnosis_of_json(const Json& json) {
  try {
    const auto stage = [&](const char* name) {
      return named<Stage>(json.at("stages").at(name), {Stage::not_reached, Stage::passed, Stage::failed});
    };
    Diagnosis d;
    d.folder = json.at("folder");
    d.candidate = json.at("candidate");
    d.op = json.at("op");
    d.entry = json.at("entry");
    d.called_with = json.value("called_with", "");
    d.backend = json.at("backend");
    d.compile = stage("compile");
    d.call = stage("call");
    d.exec = stage("exec");
    for (const Json& finding : json.at("findings")) d.findings.push_back(finding_of_json(finding));
    d.notes = json.at("notes");
    d.error = json.at("error");
    d.calls = json.at("calls");
    d.seconds = json.at("seconds");
    return d;
  } catch (const Json::exception& error) {
    core::fail(ErrorCode::bad_argument, "it is no report of a candidate: ", error.what());
  }
}

std::string candidates_json(const std::vector<Diagnosis>& diagnoses) {
  Json json;
  json["version"] = 1;
  json["candidates"] = Json::array();
  for (std::size_t i = 0; i < diagnoses.size(); ++i)
    json["candidates"].push_back(candidate_json(diagnoses[i], i > 0 ? &diagnoses[i - 1] : nullptr));
  const auto counts = counted(diagnoses);
  json["summary"] = {{"checked", counts.at("pass") + counts.at("fail")},
                     {"passed", counts.at("pass")},
                     {"failed", counts.at("fail")},
                     {"errors", counts.at("error")}};
  // What candidates print may be no UTF-8.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace isomer::lab
