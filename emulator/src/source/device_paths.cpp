#include "source/device_paths.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
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

/// What only the device's reading has: a function, or a type, constant or variable.
struct Added {
  std::string scope;
  std::size_t begin, end;  ///< tokens of that reading
  bool placed = false;     ///< it has its place, or comes with a class that has
};

class Additions {
 public:
  Additions(const Text& ours, const Outline& here, std::string_view device, const Text& theirs,
            const Outline& there)
      : ours_(ours), here_(here), device_(device), theirs_(theirs), there_(there) {}

  /// Each stands in front of the next function of its own scope that both readings have, or else at the end
  /// of its class.
  void insert(Edits& edits) {
    collect();
    const auto known = definitions(here_);
    std::map<std::string, std::size_t> met;
    for (const Function& g : there_.functions) {
      if (!g.definition) continue;
      const auto found = known.find(g.scope + g.name);
      if (found == known.end()) continue;
      const std::size_t at = met[found->first]++;
      if (at >= found->second.size()) continue;
      const Function& f = *found->second[at];
      if (is_outside(ours_, f)) continue;
      const std::string text = taken(f.scope, g.begin);
      if (!text.empty()) edits.insert(ours_.tokens[f.begin].offset, text + marker(ours_, f.begin));
    }
    for (const Declaration& type : here_.declarations) {
      if (type.body == 0) continue;
      const std::string text = taken(type.scope + type.name + "::", theirs_.tokens.size());
      if (!text.empty()) edits.insert(ours_.tokens[type.body].offset, text + marker(ours_, type.body));
    }
  }

 private:
  /// A member that is defined outside of its class.
  static bool is_outside(const Text& text, const Function& f) {
    return f.member && f.name_at > 0 && text.tokens[f.name_at - 1].is("::");
  }

  void collect() {
    std::set<std::string> known;
    for (const Function& f : here_.functions) known.insert(f.scope + f.name);
    for (const Declaration& d : here_.declarations) known.insert(d.scope + d.name);
    for (const Function& g : there_.functions) {
      const bool ours = known.count(g.scope + g.name) != 0 || is_outside(theirs_, g);
      if (g.definition && (g.global || g.device) && !ours) added_.push_back({g.scope, g.begin, g.end});
    }
    for (const Declaration& d : there_.declarations)
      if (known.count(d.scope + d.name) == 0) added_.push_back({d.scope, d.begin, d.end});
    std::sort(added_.begin(), added_.end(), [](const Added& a, const Added& b) { return a.begin < b.begin; });
    // What a class has that is added as a whole comes with it.
    std::size_t end = 0;
    for (Added& each : added_) {
      each.placed = each.begin < end;
      end = std::max(end, each.end);
    }
  }

  /// The text of what stands in front of that token, in this scope, and has no place yet.
  std::string taken(const std::string& scope, std::size_t before) {
    std::string text;
    for (Added& each : added_) {
      if (each.placed || each.scope != scope || each.begin >= before) continue;
      each.placed = true;
      const std::size_t begin = theirs_.tokens[each.begin].offset;
      text += marker(theirs_, each.begin) +
              std::string(device_.substr(begin, theirs_.tokens[each.end].end() - begin));
    }
    return text;
  }

  const Text& ours_;
  const Outline& here_;
  std::string_view device_;
  const Text& theirs_;
  const Outline& there_;
  std::vector<Added> added_;
};

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
  Additions(ours, here, device, theirs, there).insert(edits);
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
