#include "lab/record/kept.hpp"

#include "core/sha256.hpp"
#include "lab/candidate/cache_folder.hpp"
#include "lab/record/python_files.hpp"
#include "lab/record/record.hpp"

#include <isomer/error.hpp>

#include <fstream>
#include <iterator>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;

/// A check is not to wait for a test as long as its author may.
constexpr double kSeconds = 60, kSecondsOfEdits = 5;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string key_of(const fs::path& label, const fs::path& test) {
  core::Sha256 key;
  // The names too: facts and sentences hold them.
  for (const fs::path& path : {label, test})
    key.field(path.filename().string()).field(path.empty() ? std::string() : text_of(path));
  for (const PythonFile& file : python_files()) key.field(file.text);
  return key.hex();
}

}  // namespace

Recording kept_recording(const fs::path& label, const fs::path& test) {
  const fs::path folder = cache_folder("recordings"),
                 file = folder.empty() ? folder : folder / (key_of(label, test) + ".safetensors");
  std::error_code failed;
  if (!file.empty() && fs::exists(file, failed)) {
    try {
      return load_recording(file.string());
    } catch (const Error&) {
      // A torn or foreign entry is made again.
    }
  }
  RecordSettings settings;
  settings.label = label;
  settings.test = test;
  settings.timeout_seconds = kSeconds;
  settings.edit_seconds = kSecondsOfEdits;
  Recording recording = record(settings).recording;
  // Without answers it is as good as none: another day Triton may be there.
  const auto answers = recording.metadata.find("answers");
  const bool answered = answers == recording.metadata.end() || answers->second != "none";
  if (!file.empty() && answered) {
    fs::create_directories(folder, failed);
    try {
      save_recording(file.string(), recording);
    } catch (const Error&) {
      // A cache that cannot be written is none.
    }
  }
  return recording;
}

}  // namespace isomer::lab
