#include "lab/batch/results_file.hpp"

#include "core/sentence.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace isomer::lab {
namespace {

std::string text_of_lines(const std::vector<Judged>& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i)
    text += line_of(lines[i], i > 0 ? &lines[i - 1].diagnosis : nullptr);
  return text;
}

}  // namespace

ResultsFile::ResultsFile(const std::string& path, const Asked* resume) : path_(path) {
  if (path == "-") {
    file_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    return;
  }
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file_ < 0) core::fail(ErrorCode::io, "check: cannot write '", path, "': ", std::strerror(errno));
  // A worker of a batch that was killed holds the lock until it has closed the file or has ended: a moment.
  int asked_again = 0;
  while (flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    if (++asked_again > 100) {
      close(file_);
      core::fail(ErrorCode::io, "check: another batch is writing '", path, "'");
    }
    usleep(20000);
  }
  if (resume != nullptr) {
    keep_whole_folders(*resume);
  } else if (ftruncate(file_, 0) != 0 && errno != EINVAL) {
    const int why = errno;
    close(file_);
    core::fail(ErrorCode::io, "check: cannot write '", path, "': ", std::strerror(why));
  }
}

ResultsFile::~ResultsFile() {
  if (file_ >= 0) close(file_);
}

void ResultsFile::keep_whole_folders(const Asked& asked) {
  const ResultsRead read = read_results(path_);
  for (const Judged& each : read.judged) there_[{each.diagnosis.folder, each.sources}].push_back(each);
  std::size_t kept = 0;
  for (auto it = there_.begin(); it != there_.end();) {
    std::vector<Judged>& lines = it->second;
    std::sort(lines.begin(), lines.end(),
              [](const Judged& a, const Judged& b) { return a.number < b.number; });
    const auto of_folder = asked.find(it->first.first);
    const bool other = of_folder != asked.end() && of_folder->second.count(it->first.second) == 0;
    const bool whole = !other && lines.size() == static_cast<std::size_t>(std::max(lines.front().of, 0));
    kept += whole ? lines.size() : 0;
    it = whole ? std::next(it) : there_.erase(it);
  }
  if (read.broken + read.replaced == 0 && kept == read.judged.size()) return;
  // Beside it and then into it, so that what was judged is not lost by a stop in between.
  const std::string beside = path_ + ".part";
  const int fresh = open(beside.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
  if (fresh < 0) core::fail(ErrorCode::io, "check: cannot write '", beside, "': ", std::strerror(errno));
  flock(fresh, LOCK_EX | LOCK_NB);
  const int old = std::exchange(file_, fresh);
  for (const auto& [name, lines] : there_) put(text_of_lines(lines));
  if (rename(beside.c_str(), path_.c_str()) != 0)
    core::fail(ErrorCode::io, "check: cannot write '", path_, "': ", std::strerror(errno));
  close(old);
}

const std::vector<Judged>* ResultsFile::lines_of(const std::string& folder,
                                                 const std::string& sources) const {
  const auto it = there_.find({folder, sources});
  return it == there_.end() ? nullptr : &it->second;
}

void ResultsFile::add(const std::vector<Judged>& lines) { put(text_of_lines(lines)); }

void ResultsFile::put(const std::string& text) {
  struct stat before {};
  const bool regular = fstat(file_, &before) == 0 && S_ISREG(before.st_mode);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = write(file_, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const int why = errno;
      if (regular) [[maybe_unused]]
        const int cut = ftruncate(file_, before.st_size);
      core::fail(ErrorCode::io, "check: cannot write '", path_, "': ", std::strerror(why));
    }
    done += static_cast<std::size_t>(count);
  }
}

}  // namespace isomer::lab
