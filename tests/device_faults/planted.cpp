#include "planted.hpp"

#include <deque>
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

/// The library's table and, for each fault, the file that has it, and a kernel that includes that file where
/// it is not the kernel's own.
std::vector<gpu::Source> with_faults() {
  static std::deque<std::string> texts;
  std::vector<gpu::Source> all(embedded().begin(), embedded().end());
  const auto add = [&](std::string path, std::string text) {
    const std::string& kept = texts.emplace_back(std::move(path));
    all.push_back({kept, texts.emplace_back(std::move(text))});
  };
  for (const Planted& planted : {attention_faults(), attention_piece_faults(), attention_combine_faults(),
                                 attention_append_faults(), fp8_gemm_faults()})
    for (const Fault& fault : planted.faults) {
      add(place_of(fault), replaced(text_of(fault.file), fault.find, fault.replace));
      if (fault.file != planted.kernel)
        add(path_of(fault), replaced(text_of(planted.kernel), fault.file, place_of(fault)));
    }
  return all;
}

}  // namespace

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
