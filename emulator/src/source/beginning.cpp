#include "source/beginning.hpp"

#include <algorithm>

namespace isomer::emulator::source {
namespace {

/// The file of a marker `# 12 "file" 1 3`, as it is written there; empty for other lines.
std::string_view file_of_marker(std::string_view line) {
  if (!line.starts_with("# ")) return {};
  const std::size_t open = line.find('"'), close = line.rfind('"');
  if (open == std::string_view::npos || close <= open) return {};
  if (line.find_first_not_of("0123456789", 2) != open - 1) return {};
  return line.substr(open + 1, close - open - 1);
}

bool is_within(std::string_view file, const std::vector<std::string>& folders) {
  return std::any_of(folders.begin(), folders.end(), [&](const std::string& name) {
    return file.size() > name.size() && file.starts_with(name) && file[name.size()] == '/';
  });
}

}  // namespace

Beginning beginning_of_headers(std::string_view text, const std::vector<std::string>& folders,
                               std::size_t large) {
  struct End {
    std::size_t headers, marker;  // of the last header's last line, and the marker behind it
  };
  std::vector<End> ends;  // of what the source includes itself, one after the other
  std::string_view source;
  bool within = false;
  std::size_t so_far = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, end - at);
    if (const std::string_view file = file_of_marker(line); !file.empty()) {
      if (source.empty()) source = file;
      within = is_within(file, folders);
      if (!within && file == source && so_far > 0) ends.push_back({so_far, at});
    } else if (line.find_first_not_of(" \t\r\n") != std::string_view::npos) {
      if (!within) break;
      so_far = end;
    }
    at = end;
  }
  if (ends.empty()) return {};
  // Without the small headers at the end, which differ where the large ones do not.
  const bool common = ends.back().headers - ends.front().headers < large;
  const auto chosen = std::find_if(ends.begin(), ends.end(), [&](const End& each) {
    return common || each.headers >= ends.back().headers / 10 * 9;
  });
  Beginning found;
  const std::string_view headers = text.substr(0, chosen->headers);
  found.headers.reserve(headers.size());
  for (std::size_t at = 0; at < headers.size();) {
    const std::size_t end = headers.find('\n', at) + 1;
    const std::string_view line = headers.substr(at, end - at), file = file_of_marker(line);
    if (file.empty() || is_within(file, folders)) found.headers += line;
    at = end;
  }
  // The marker says that a header is left. Nothing has been entered by then.
  const std::size_t quote = text.find('"', text.find('"', chosen->marker) + 1) + 1;
  found.rest = std::string(text.substr(chosen->marker, quote - chosen->marker)) +
               std::string(text.substr(text.find('\n', quote)));
  return found;
}

}  // namespace isomer::emulator::source
