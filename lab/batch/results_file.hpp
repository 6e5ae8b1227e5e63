#pragma once

#include "lab/batch/judged.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace isomer::lab {

/// The file into which a batch writes a line for each candidate as soon as it is judged. The lines of a
/// folder are written at once; one batch at a time has the file.
class ResultsFile {
 public:
  /// The sums of what is to be judged in a folder, by its path.
  using Asked = std::map<std::string, std::set<std::string>>;
  /// "-" is standard output. With `resume`, what the file says stays, but for what is asked for and lacks
  /// lines or was judged by other files. Throws Error io where the file cannot be written or another batch
  /// has it.
  ResultsFile(const std::string& path, const Asked* resume);
  ~ResultsFile();
  ResultsFile(const ResultsFile&) = delete;
  ResultsFile& operator=(const ResultsFile&) = delete;

  /// The lines about this folder that the file had at its opening; none where it has to be judged.
  const std::vector<Judged>* lines_of(const std::string& folder, const std::string& sources) const;
  /// Its lock lasts as long as any process has it open, so one that is forked closes it.
  int descriptor() const { return file_; }
  /// Throws Error io where they cannot be written; what was written of them is taken back.
  void add(const std::vector<Judged>& lines);

 private:
  void keep_whole_folders(const Asked& asked);
  void put(const std::string& text);

  std::string path_;
  int file_ = -1;
  std::map<std::pair<std::string, std::string>, std::vector<Judged>> there_;  // by folder and sources
};

}  // namespace isomer::lab
