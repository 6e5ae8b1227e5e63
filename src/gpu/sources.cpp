#include "gpu/sources.hpp"

#include "core/sentence.hpp"

#include <algorithm>

namespace isomer::gpu {
namespace {

/// The files that a text includes by `#include "…"`.
std::vector<std::string_view> includes(std::string_view text) {
  std::vector<std::string_view> list;
  constexpr std::string_view kWord = "#include \"";
  for (std::size_t at = 0; (at = text.find(kWord, at)) != std::string_view::npos;) {
    const bool begins_line = at == 0 || text[at - 1] == '\n';
    at += kWord.size();
    const std::size_t end = text.find('"', at);
    if (begins_line && end != std::string_view::npos) list.push_back(text.substr(at, end - at));
  }
  return list;
}

}  // namespace

const Source* find_source(std::string_view path) {
  const auto all = sources();
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const Source& source) { return source.path == path; });
  return at == all.end() ? nullptr : &*at;
}

std::vector<const Source*> included_by(std::string_view path) {
  std::vector<const Source*> found;
  std::vector<std::string_view> open = {path};
  while (!open.empty()) {
    const std::string_view next = open.back();
    open.pop_back();
    const Source* source = find_source(next);
    if (source == nullptr)
      core::fail(ErrorCode::internal, "gpu: ", next, " is not among the embedded sources");
    if (std::find(found.begin(), found.end(), source) != found.end()) continue;
    found.push_back(source);
    for (const std::string_view include : includes(source->text)) open.push_back(include);
  }
  std::sort(found.begin(), found.end(), [](const Source* a, const Source* b) { return a->path < b->path; });
  return found;
}

}  // namespace isomer::gpu
