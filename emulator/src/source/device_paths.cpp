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

/// By which overloads and specialisations of one name are told apart.
std::string signature(const Text& text, const Function& f) {
  const auto& t = text.tokens;
  std::string words;
  const auto add = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) words += std::string(t[i].text) + " ";
  };
  if (t[f.begin].is("template")) add(f.begin, std::min(f.begin + 3, f.name_at));
  const std::size_t close = f.parameters != 0 ? closing(t, f.parameters) : f.body - 1;
  add(f.name_at, close + 1);
  if (t[close + 1].is("const")) words += "const";
  return words;
}

using Pairs = std::map<const Function*, const Function*>;
/// The definitions of the device's reading and the host's of the same function: in their order where both
/// have as many of a name, or else by what tells them apart.
Pairs pairs_of(const Text& ours, const Outline& here, const Text& theirs, const Outline& there) {
  Pairs pairs;
  const auto known = definitions(here);
  for (const auto& [name, functions] : definitions(there)) {
    const auto found = known.find(name);
    if (found == known.end()) continue;
    if (found->second.size() == functions.size()) {
      for (std::size_t i = 0; i < functions.size(); ++i) pairs[functions[i]] = found->second[i];
      continue;
    }
    for (const Function* g : functions)
      for (const Function* f : found->second)
        if (signature(theirs, *g) == signature(ours, *f)) pairs[g] = f;
  }
  return pairs;
}

bool same_body(const Text& one, const Function& f, const Text& other, const Function& g) {
  if (f.end - f.body != g.end - g.body) return false;
  for (std::size_t i = 0; i <= f.end - f.body; ++i)
    if (one.tokens[f.body + i].text != other.tokens[g.body + i].text) return false;
  return true;
}

/// Where its declaration begins but for what says that it is a template.
std::size_t behind_template(const Text& text, const Function& f) {
  const auto& t = text.tokens;
  std::size_t at = f.begin;
  while (t[at].is("template") && t[at + 1].is("<")) {
    std::size_t open = 0;
    for (++at; at < f.name_at; ++at) {
      if (t[at].is("(")) at = closing(t, at);
      open += t[at].is("<");
      if (t[at].is(">") && --open == 0) break;
      if (t[at].is(">>") && (open -= 2) == 0) break;
    }
    ++at;
  }
  return at;
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
            const Outline& there, const Pairs& pairs)
      : ours_(ours), here_(here), device_(device), theirs_(theirs), there_(there), pairs_(pairs) {}

  /// Each stands in front of the next function of its own scope that both readings have, or else at the end
  /// of its class.
  void insert(Edits& edits) {
    collect();
    for (const Function& g : there_.functions) {
      const auto pair = pairs_.find(&g);
      if (pair == pairs_.end()) continue;
      const Function& f = *pair->second;
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
    const auto defined = definitions(here_);
    for (const Function& g : there_.functions) {
      // An overload or a specialisation is there beside others of its name.
      const bool named = known.count(g.scope + g.name) != 0 && defined.count(g.scope + g.name) == 0;
      const bool ours = pairs_.count(&g) != 0 || named || is_outside(theirs_, g);
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
  const Pairs& pairs_;
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
  const Pairs pairs = pairs_of(ours, here, theirs, there);
  Edits edits;
  Additions(ours, here, device, theirs, there, pairs).insert(edits);
  for (const auto& [of_device, of_host] : pairs) {
    const Function &f = *of_host, &g = *of_device;
    // Its specifiers may come of a macro that the host reads as nothing.
    const bool becomes_device = g.device && !f.device && !f.global;
    if (becomes_device) edits.insert(ours.tokens[behind_template(ours, f)].offset, "__host__ __device__ ");
    if (!(f.global || f.device || becomes_device) || same_body(ours, f, theirs, g)) continue;
    std::string body = body_of(device, theirs, g);
    if (f.host || becomes_device)
      body = "{ if (!__builtin_is_constant_evaluated() && ::isomer_emulator_on_device())" + body + " else " +
             body_of(host, ours, f) + "}";
    const std::size_t begin = ours.tokens[f.body].offset;
    edits.replace(begin, ours.tokens[f.end].end() - begin, body + marker(ours, f.end));
  }
  return edits.apply(host);
}

}  // namespace isomer::emulator::source
