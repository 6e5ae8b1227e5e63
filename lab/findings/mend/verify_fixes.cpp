#include "lab/findings/mend/verify_fixes.hpp"

#include "core/temporary_folder.hpp"
#include "lab/findings/mend/edits.hpp"
#include "lab/findings/mend/unified_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::multiset<std::string> faults_of(const Diagnosis& diagnosis) {
  std::multiset<std::string> faults;
  for (const Finding& finding : diagnosis.findings)
    if (finding.subject == Subject::candidate && !is_remark(finding)) faults.insert(said_against(finding));
  return faults;
}

/// Copies of a candidate are judged in a folder of their own.
class Workplace {
 public:
  Diagnosis judge(const CaseFolder& folder, const fs::path& candidate, const std::string& source) const {
    const fs::path copy = folder_.path() / candidate.filename();
    std::ofstream(copy, std::ios::binary) << source;
    CaseFolder one = folder;
    one.candidates = {copy};
    one.include_directories.push_back(fs::absolute(candidate).parent_path().string());
    return diagnose_folder(one).at(0);
  }

 private:
  core::TemporaryFolder folder_{"check", "mend"};
};

}  // namespace

VerifiedFixes verify_fixes(const CaseFolder& folder, const fs::path& candidate, const Diagnosis& before,
                           double seconds) {
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  VerifiedFixes fixes;
  std::ifstream stream(candidate, std::ios::binary);
  const std::string original{std::istreambuf_iterator<char>(stream), {}};
  std::string source = original;
  Diagnosis now = before;
  std::set<std::string> tried;
  const Workplace workplace;
  // What no rule mends may be mended by some edit of an expression.
  const auto search = [&] {
    if (Clock::now() >= until || now.verdict() != "fail") return;
    CaseFolder every = folder;
    every.every_edit = true;
    ++fixes.judged;
    Diagnosis searched = workplace.judge(every, candidate, source);
    if (std::any_of(searched.findings.begin(), searched.findings.end(),
                    [](const Finding& each) { return !each.edited.empty(); }))
      now = std::move(searched);
  };
  bool searched = false;
  for (bool mended = true; mended && now.verdict() == "fail";) {
    mended = false;
    const std::multiset<std::string> faults = faults_of(now);
    // Numbers that chance makes differ from copy to copy: the order of threads is mended first.
    const bool raced = std::any_of(now.findings.begin(), now.findings.end(), [](const Finding& each) {
      return each.code == Code::race || each.code == Code::missing_barrier;
    });
    for (const Finding& finding : now.findings) {
      if (raced && finding.strength != Strength::observed) continue;
      for (const Edit& edit : edits_for(finding, now.entry, source)) {
        if (Clock::now() >= until) break;
        if (!tried.insert(edit.source).second) continue;
        ++fixes.judged;
        Diagnosis after = workplace.judge(folder, candidate, edit.source);
        const std::multiset<std::string> left = faults_of(after);
        const bool fewer = left.size() < faults.size() &&
                           std::includes(faults.begin(), faults.end(), left.begin(), left.end());
        if (after.verdict() == "error" || (!fewer && after.verdict() != "pass")) continue;
        fixes.edits.push_back(fmt::format("{} ({})", edit.what, name_of(finding.code)));
        source = edit.source;
        now = std::move(after);
        mended = true;
        break;
      }
      if (mended) break;  // its findings are others now
    }
    if (!mended && !std::exchange(searched, true)) {
      search();
      mended = true;  // once more, with what was found
    }
  }
  for (const std::string& each : faults_of(now)) fixes.remaining.push_back(each);
  fixes.passes = now.verdict() == "pass";
  if (!fixes.edits.empty()) fixes.patch = unified_diff(original, source, candidate.filename().string());
  return fixes;
}

std::string fixes_in_words(const VerifiedFixes& fixes, const std::string& patch_file) {
  const std::size_t count = fixes.edits.size();
  const std::string copies = fmt::format("{} cop{} judged", fixes.judged, fixes.judged == 1 ? "y" : "ies");
  if (count == 0)
    return fmt::format("no mechanical edit was seen to help ({}); remaining: {}\n", copies,
                       fmt::join(fixes.remaining, ", "));
  std::string text =
      fixes.passes
          ? fmt::format("with {} the port passes ({}), written as {}\n",
                        count == 1 ? "this edit" : fmt::format("these {} edits", count), copies, patch_file)
          : fmt::format("{} ({}), written as {}; remaining: {}\n",
                        count == 1 ? "this edit was seen to help"
                                   : fmt::format("these {} edits were seen to help", count),
                        copies, patch_file, fmt::join(fixes.remaining, ", "));
  for (const std::string& edit : fixes.edits) text += "  " + edit + "\n";
  return text;
}

}  // namespace isomer::lab
