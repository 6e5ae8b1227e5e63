#include "planted.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <vector>

namespace isomer::planted {
namespace {

/// "planted/attention/k_not_waited_for", without what it ends with.
std::string stem_of(const Fault& fault) {
  const auto op = fault.file.find('/') + 1;
  return "planted/" + std::string(fault.file.substr(op, fault.file.find('/', op) - op)) + "/" +
         std::string(fault.name);
}

std::string_view text_of(std::string_view path) {
  for (const gpu::Source& source : embedded())
    if (source.path == path) return source.text;
  return {};
}

/// The text with the one place replaced where it stands.
std::string replaced(std::string_view original, std::string_view find, std::string_view replace) {
  std::string text(original);
  if (const auto at = text.find(find); at != std::string::npos) text.replace(at, find.size(), replace);
  return text;
}

/// Files that have the fault or include one that does, and where their copies lie.
std::map<std::string_view, std::string> copies_of(const Fault& fault, std::string_view kernel) {
  std::map<std::string_view, std::string> copies{{fault.file, place_of(fault)}};
  const auto includes_a_copy = [&](std::string_view text) {
    for (const auto& [path, copy] : copies)
      if (text.find("#include \"" + std::string(path) + "\"") != std::string_view::npos) return true;
    return false;
  };
  const std::string_view folder = kernel.substr(0, kernel.rfind('/') + 1);
  for (bool more = true; more;) {
    more = false;
    for (const gpu::Source& source : embedded()) {
      const bool header = !source.path.ends_with(".cu");
      if (!source.path.starts_with(folder) || (!header && source.path != kernel)) continue;
      if (copies.contains(source.path) || !includes_a_copy(source.text)) continue;
      copies[source.path] =
          header ? stem_of(fault) + "/" + std::string(source.path.substr(folder.size())) : path_of(fault);
      more = true;
    }
  }
  return copies;
}

/// The library's table and, for each fault, the file that has it and all that include that file, up to the
/// kernel.
std::vector<gpu::Source> with_faults() {
  static std::deque<std::string> texts;
  std::vector<gpu::Source> all(embedded().begin(), embedded().end());
  const auto add = [&](std::string path, std::string text) {
    const std::string& kept = texts.emplace_back(std::move(path));
    all.push_back({kept, texts.emplace_back(std::move(text))});
  };
  for (const Planted& planted :
       {attention_faults(), attention_wide_faults(), attention_piece_faults(), attention_combine_faults(),
        attention_append_faults(), attention_sm80_faults(), attention_decode_faults(), fp8_gemm_faults()})
    for (const Fault& fault : planted.faults) {
      const auto copies = copies_of(fault, planted.kernel);
      for (const auto& [path, copy] : copies) {
        std::string text(text_of(path));
        if (path == fault.file) text = replaced(text, fault.find, fault.replace);
        for (const auto& [included, its_copy] : copies)
          text = replaced(text, "\"" + std::string(included) + "\"", "\"" + its_copy + "\"");
        add(copy, std::move(text));
      }
    }
  return all;
}

}  // namespace

std::vector<Fault> first_of_each_kind(const Planted& planted) {
  std::vector<Fault> list;
  std::set<std::string> known;
  for (const Fault& fault : planted.faults) {
    const bool kind = known.insert("says " + std::string(fault.says)).second;
    const bool file = known.insert("file " + std::string(fault.file)).second;
    if (kind || file) list.push_back(fault);
  }
  return list;
}

std::vector<Fault> others(const Planted& planted) {
  const std::vector<Fault> first = first_of_each_kind(planted);
  std::vector<Fault> list;
  for (const Fault& fault : planted.faults)
    if (std::none_of(first.begin(), first.end(), [&](const Fault& each) { return each.name == fault.name; }))
      list.push_back(fault);
  return list;
}

std::string path_of(const Fault& fault) { return stem_of(fault) + ".cu"; }

std::string place_of(const Fault& fault) {
  return stem_of(fault) + std::string(fault.file.substr(fault.file.rfind('.')));
}

int occurrences(const Fault& fault) {
  const std::string_view text = text_of(fault.file);
  int count = 0;
  for (auto at = text.find(fault.find); at != std::string_view::npos; at = text.find(fault.find, at + 1))
    ++count;
  return count;
}

}  // namespace isomer::planted

namespace isomer::gpu {

std::span<const Source> sources() {
  static const std::vector<Source> all = planted::with_faults();
  return all;
}

}  // namespace isomer::gpu
