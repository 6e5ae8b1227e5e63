#include "source/device_paths.hpp"

#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "source/rewrite.hpp"

namespace isomer::emulator::source {
namespace {

/// The definitions of a reading by their names; those of one name in their order.
std::map<std::string, std::vector<const Function*>> definitions(const Outline& outline) {
  std::map<std::string, std::vector<const Function*>> found;
  for (const Function& f : outline.functions)
    if (f.definition) found[f.scope + f.name].push_back(&f);
  return found;
}

bool same_body(const Text& one, const Function& f, const Text& other, const Function& g) {
  if (f.end - f.body != g.end - g.body) return false;
  for (std::size_t i = 0; i <= f.end - f.body; ++i)
    if (one.tokens[f.body + i].text != other.tokens[g.body + i].text) return false;
  return true;
}

std::string marker(const Text& text, std::size_t token) {
  const Token& t = text.tokens[token];
  return "\n# " + std::to_string(t.line) + " " + quoted(text.files[t.file]) + "\n";
}

std::string body_of(std::string_view written, const Text& text, const Function& f) {
  const std::size_t begin = text.tokens[f.body].offset;
  return marker(text, f.body) + std::string(written.substr(begin, text.tokens[f.end].end() - begin));
}

/// The functions that only the device's reading has stand in front of the next one that both have.
void add_functions_of_device(const Text& ours, const Outline& here, std::string_view device,
                             const Text& theirs, const Outline& there, Edits& edits) {
  const auto known = definitions(here);
  std::map<std::string, std::size_t> met;
  std::vector<const Function*> waiting;
  for (const Function& g : there.functions) {
    if (!g.definition) continue;
    const std::string name = g.scope + g.name;
    const auto found = known.find(name);
    if (found == known.end()) {
      if ((g.global || g.device) && !g.member) waiting.push_back(&g);
      continue;
    }
    const std::size_t at = met[name]++;
    if (waiting.empty() || at >= found->second.size()) continue;
    const Function& f = *found->second[at];
    std::string text;
    for (const Function* each : waiting) {
      if (each->scope != f.scope || f.member) continue;
      const std::size_t begin = theirs.tokens[each->begin].offset;
      text += marker(theirs, each->begin) +
              std::string(device.substr(begin, theirs.tokens[each->end].end() - begin));
    }
    if (f.member) continue;
    if (!text.empty()) edits.insert(ours.tokens[f.begin].offset, text + marker(ours, f.begin));
    waiting.clear();
  }
}

}  // namespace

bool asks_for_device(std::string_view preprocessed) {
  for (const std::string& path : tokenize(preprocessed).files) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    for (const char* macro : {"__CUDA_ARCH__", "__HIP_DEVICE_COMPILE__"})
      if (text.view().find(macro) != std::string_view::npos) return true;
  }
  return false;
}

std::string with_device_paths(std::string_view host, std::string_view device) {
  const Text ours = tokenize(host), theirs = tokenize(device);
  const Outline here = outline(ours), there = outline(theirs);
  const auto of_device = definitions(there);
  Edits edits;
  add_functions_of_device(ours, here, device, theirs, there, edits);
  for (const auto& [name, functions] : definitions(here)) {
    const auto found = of_device.find(name);
    if (found == of_device.end() || found->second.size() != functions.size()) continue;
    for (std::size_t i = 0; i < functions.size(); ++i) {
      const Function &f = *functions[i], &g = *found->second[i];
      if (!(f.global || f.device) || same_body(ours, f, theirs, g)) continue;
      std::string body = body_of(device, theirs, g);
      if (f.host)
        body = "{ if (!__builtin_is_constant_evaluated() && ::isomer_emulator_on_device())" + body +
               " else " + body_of(host, ours, f) + "}";
      const std::size_t begin = ours.tokens[f.body].offset;
      edits.replace(begin, ours.tokens[f.end].end() - begin, body + marker(ours, f.end));
    }
  }
  return edits.apply(host);
}

}  // namespace isomer::emulator::source
