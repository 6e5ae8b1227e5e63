#include "recorded_call.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "lab/candidate/candidate.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <utility>

namespace isomer::lab {

void record(Recording& recording, const char* label, const std::vector<Value>& arguments, const Act& act) {
  RecordedCall call{.function = label, .before = arguments};
  call.keyword.resize(arguments.size());
  for (const Value& each : arguments) call.after.push_back(deep_copy(each));
  act(call.after);
  recording.calls.push_back(std::move(call));
}

void record_returned(Recording& recording, const char* label, const std::vector<Value>& arguments,
                     Value result, const Make& act) {
  record(recording, label, arguments, [&](std::vector<Value>& values) { act(values, result); });
  recording.calls.back().returned = {std::move(result)};
}

Value text_value(const std::string& name, const std::string& text) {
  Value value;
  value.kind = Value::Kind::text;
  value.name = name;
  value.text = text;
  return value;
}

float* f32(const Value& value) { return static_cast<float*>(value.tensor.data); }

Diagnosis judged(const char* file, const char* entry, Recording recording, std::vector<std::string> texts) {
  setenv("ISOMER_CACHE", ISOMER_CANDIDATE_CACHE, 1);
  const std::filesystem::path path = std::filesystem::path(ISOMER_CANDIDATES) / file;
  static std::map<std::string, std::shared_ptr<const Candidate>> files;
  std::shared_ptr<const Candidate>& built = files[file];
  if (built == nullptr) {
    BuildFailure failure;
    built = build_candidate(path, {}, failure);
    EXPECT_NE(built, nullptr) << failure.place.line << ": " << failure.message;
    if (built == nullptr) return {};
  }
  DiagnoseRequest request;
  request.entry = entry;
  request.texts = std::move(texts);
  std::stringstream source;
  source << std::ifstream(path).rdbuf();
  request.source = source.str();
  request.recording = std::make_shared<Recording>(std::move(recording));
  return diagnose(*built, request);
}

CaseFolder case_of(const std::filesystem::path& place, const std::string& source,
                   const Recording& recording) {
  std::ofstream(place / "candidate.cu") << source;
  save_recording((place / "recording.safetensors").string(), recording);
  CaseFolder folder;
  folder.folder = place;
  folder.candidates = {place / "candidate.cu"};
  folder.recording = place / "recording.safetensors";
  return folder;
}

void expect_told(const Diagnosis& said, const std::vector<Code>& found, const std::string& words) {
  std::string told = said.verdict() + std::string(" (") + said.called_with + ") " + said.error;
  std::vector<Code> codes;
  for (const Finding& each : said.findings) {
    told += "\n" + said_against(each) + ": " + each.evidence;
    if (std::find(codes.begin(), codes.end(), each.code) == codes.end()) codes.push_back(each.code);
  }
  EXPECT_EQ(codes, found) << told;
  EXPECT_EQ(said.verdict(), std::string(found.empty() ? "pass" : "fail")) << told;
  EXPECT_NE(told.find(words), std::string::npos) << told;
}

}  // namespace isomer::lab
