#include "lab/batch/running/batch.hpp"

#include "core/temporary_folder.hpp"
#include "lab/batch/results_file.hpp"
#include "lab/batch/running/wire.hpp"
#include "lab/batch/running/workers.hpp"
#include "lab/judge/diagnose.hpp"

#include <isomer/emulator/leftovers.hpp>

#include <fmt/format.h>

#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

namespace isomer::lab {
namespace {

double seconds_now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// Where a folder's worker could say nothing: each of its candidates is told so.
std::vector<Diagnosis> not_judged(const CaseFolder& folder, Backend backend, const std::string& why) {
  std::vector<Diagnosis> list;
  for (const auto& candidate : folder.candidates) {
    Diagnosis diagnosis;
    diagnosis.folder = folder.folder.string();
    diagnosis.candidate = candidate.filename().string();
    diagnosis.op = folder.op;
    diagnosis.backend = name_of(backend);
    diagnosis.error = fmt::format("{}: {}", candidate.string(), why);
    list.push_back(std::move(diagnosis));
  }
  return list;
}

const std::string kBatch = "batch-";

/// isomer-batch-NAMES.PROCESS-XXXXXX, of batches that were killed.
void remove_folders_of_ended_batches(const std::filesystem::path& temporary) {
  const std::string begin = "isomer-" + kBatch;
  std::error_code none;
  for (std::filesystem::directory_iterator it(temporary, none), end; !none && it != end; it.increment(none)) {
    const std::string name = it->path().filename().string();
    const std::size_t last = name.rfind('-');
    if (!name.starts_with(begin) || last < begin.size() ||
        !emulator::is_of_ended_process(name.substr(begin.size(), last - begin.size())))
      continue;
    std::error_code kept;  // another user's, or in use
    std::filesystem::remove_all(it->path(), kept);
  }
}

/// Temporary files of everything that a batch starts lie in one folder, so that a stop can remove them; and
/// so it removes what batches that were killed have left.
class TemporaryFiles {
 public:
  TemporaryFiles() : folder_("check", kBatch + emulator::owners_mark()) {
    emulator::remove_leftovers();
    remove_folders_of_ended_batches(folder_.path().parent_path());
    if (const char* before = std::getenv("TMPDIR")) before_ = before;
    setenv("TMPDIR", folder_.path().c_str(), 1);
  }
  ~TemporaryFiles() {
    emulator::remove_leftovers();
    if (before_)
      setenv("TMPDIR", before_->c_str(), 1);
    else
      unsetenv("TMPDIR");
  }

 private:
  core::TemporaryFolder folder_;
  std::optional<std::string> before_;
};

}  // namespace

std::vector<CaseFolder> shard(std::vector<CaseFolder> folders, int i, int n) {
  std::vector<CaseFolder> part;
  for (std::size_t k = static_cast<std::size_t>(i) - 1; k < folders.size(); k += static_cast<std::size_t>(n))
    part.push_back(std::move(folders[k]));
  return part;
}

BatchEnd run_batch(const std::vector<CaseFolder>& folders, const BatchSettings& settings) {
  BatchEnd end;
  std::vector<std::vector<Judged>> said(folders.size());
  std::vector<std::string> sums(folders.size());
  std::unique_ptr<ResultsFile> results;
  if (!settings.results.empty()) {
    ResultsFile::Asked asked;
    for (std::size_t i = 0; i < folders.size(); ++i) {
      sums[i] = sources_of(folders[i], name_of(settings.backend));
      asked[folders[i].folder.string()].insert(sums[i]);
    }
    results = std::make_unique<ResultsFile>(settings.results, settings.resume ? &asked : nullptr);
  }
  std::vector<std::size_t> tasks;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const std::vector<Judged>* there = nullptr;
    if (settings.resume) there = results->lines_of(folders[i].folder.string(), sums[i]);
    if (there == nullptr) {
      tasks.push_back(i);
      continue;
    }
    said[i] = *there;
    ++end.skipped;
  }
  const int count = std::clamp(static_cast<int>(tasks.size()), 1, std::max(settings.jobs, 1));
  // What several folders leave over is for the candidates of one.
  const int each = std::max(1, settings.jobs / count);
  const double began = seconds_now();
  std::size_t next = 0, done = 0;
  {
    const TemporaryFiles temporary;
    const auto judge = [&](std::size_t i) {
      return to_bytes(diagnose_folder(folders[i], settings.backend, each), settings.pictures);
    };
    Workers workers(count, judge, results != nullptr ? results->descriptor() : -1);
    const auto take = [&](const Workers::Said& answer) {
      const CaseFolder& folder = folders[answer.number];
      said[answer.number] =
          judged_folder(folder, sums[answer.number],
                        answer.trouble.empty() ? from_bytes(answer.bytes)
                                               : not_judged(folder, settings.backend, answer.trouble));
      if (results != nullptr) results->add(said[answer.number]);
      if (settings.progress)
        settings.progress(static_cast<int>(++done), static_cast<int>(tasks.size()), folder.folder.string());
    };
    while (end.signal == 0) {
      const bool over = settings.budget > 0 && seconds_now() - began >= settings.budget;
      while (!over && next < tasks.size() && workers.idle()) workers.start(tasks[next++]);
      if (!workers.busy()) break;
      const double left = settings.budget > 0 && !over ? began + settings.budget - seconds_now() : 3600;
      for (const Workers::Said& answer : workers.wait(std::max(left, 0.0), settings.limit, end.signal))
        take(answer);
    }
  }
  for (const std::size_t i : tasks) end.left += said[i].empty();
  for (std::vector<Judged>& lines : said)
    for (Judged& each_line : lines) end.judged.push_back(std::move(each_line));
  return end;
}

}  // namespace isomer::lab
