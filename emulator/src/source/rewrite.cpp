#include "source/rewrite.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace isomer::emulator::source {
namespace {

constexpr const char* kUnwatched = "__attribute__((no_sanitize(\"thread\"))) ";

bool is_attribute_word(const std::vector<Token>& t, std::size_t i) {
  // __attribute__((__noinline__)) is the compiler's own.
  return i > 0 && (t[i - 1].is("(") || t[i - 1].is(",")) && i + 1 < t.size() &&
         (t[i + 1].is(")") || t[i + 1].is(","));
}

// In a PyTorch extension the device is this process: what asks for a GPU is told that the CPU is one.
void rewrite_aten(Source& s) {
  static const std::map<std::string_view, const char*> words = {{"is_cuda", "is_cpu"},
                                                                {"is_hip", "is_cpu"},
                                                                {"is_cpu", "is_cuda"},
                                                                {"kCUDA", "kCPU"},
                                                                {"kHIP", "kCPU"},
                                                                {"checkAllSameGPU", "checkAllDefined"},
                                                                {"checkSameGPU", "isomer_same_device"}};
  const auto& t = s.text.tokens;
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (t[i].is("\"cuda\"") || t[i].is("\"cuda:0\"") || t[i].is("\"hip\"") || t[i].is("\"hip:0\""))
      s.edits.replace(t[i].offset, t[i].text.size(), "\"cpu\"");
    if (t[i].kind != Token::name) continue;
    // A tensor of the CPU has no index, and the one device there is has index 0.
    if (t[i].is("index") && i >= 4 && t[i - 1].is(".") && t[i - 2].is(")") && t[i - 3].is("(") &&
        t[i - 4].is("device") && i + 2 < t.size() && t[i + 1].is("(") && t[i + 2].is(")"))
      s.edits.replace(t[i].offset, t[i].text.size(), "has_index");
    if (t[i].is("get_device") && i > 0 && (t[i - 1].is(".") || t[i - 1].is("->")) && i + 2 < t.size() &&
        t[i + 1].is("(") && t[i + 2].is(")"))
      s.edits.replace(t[i].offset, t[i].text.size(), "is_cuda");  // false, which is 0
    if (t[i].is("cuda") && i > 0 && (t[i - 1].is(".") || t[i - 1].is("->")) && i + 1 < t.size() &&
        t[i + 1].is("(")) {
      s.edits.replace(t[i].offset, t[i].text.size(), "cpu");
    } else if (const auto it = words.find(t[i].text); it != words.end()) {
      s.edits.replace(t[i].offset, t[i].text.size(), it->second);
    } else if ((t[i].is("CUDA") || t[i].is("HIP")) && i >= 2 && t[i - 1].is("::") &&
               t[i - 2].is("DeviceType")) {
      s.edits.replace(t[i].offset, t[i].text.size(), "CPU");
    }
  }
}

}  // namespace

void Edits::replace(std::size_t offset, std::size_t length, std::string text) {
  edits_.push_back({offset, length, std::move(text)});
}

std::string Edits::apply(std::string_view original) const {
  std::vector<const Edit*> order;
  for (const Edit& e : edits_) order.push_back(&e);
  std::stable_sort(order.begin(), order.end(),
                   [](const Edit* a, const Edit* b) { return a->offset < b->offset; });
  std::string out;
  std::size_t at = 0;
  for (const Edit* e : order) {
    if (e->offset < at) continue;  // inside of what a larger edit has replaced
    out.append(original.substr(at, e->offset - at));
    out += e->text;
    at = e->offset + e->length;
  }
  out.append(original.substr(at));
  return out;
}

std::string Source::place(std::size_t token) const {
  const Token& t = text.tokens[token];
  return text.files[t.file] + ":" + std::to_string(t.line);
}

std::string Source::written(std::size_t first, std::size_t last) const {
  std::string out;
  for (std::size_t i = first; i < last; ++i) {
    const Token& t = text.tokens[i];
    const bool glue = i > first && (t.kind == Token::mark || text.tokens[i - 1].kind == Token::mark) &&
                      text.tokens[i - 1].end() == t.offset;
    if (!out.empty() && !glue) out += ' ';
    out += t.text;
  }
  return out;
}

std::string Source::lines(std::size_t first, std::size_t last) const {
  // Line markers between the two, which a system header's macro leaves, go with what is replaced.
  const Token &from = text.tokens[first], &to = text.tokens[last];
  if (from.file == to.file && to.line >= from.line) return std::string(to.line - from.line, '\n');
  const std::string_view between = original.substr(from.offset, to.end() - from.offset);
  return std::string(static_cast<std::size_t>(std::count(between.begin(), between.end(), '\n')), '\n');
}

std::string quoted(std::string_view text) {
  std::string q = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') q += '\\';
    q += c == '\n' ? ' ' : c;
  }
  return q + "\"";
}

// nvcc takes A<T>::b<n>(x) where other compilers ask for the word template before b.
void rewrite_dependent_templates(Source& s) {
  constexpr std::size_t kLongest = 24;
  const auto& t = s.text.tokens;
  for (std::size_t i = 2; i + 2 < t.size(); ++i) {
    if (t[i].kind != Token::name || !t[i - 1].is("::") || !t[i - 2].is(">") || !t[i + 1].is("<")) continue;
    int depth = 0;
    for (std::size_t at = i + 1; at < std::min(t.size(), i + kLongest); ++at) {
      depth += t[at].is("<") ? 1 : t[at].is(">") ? -1 : 0;
      if (depth == 0) {
        if (at + 1 < t.size() && t[at + 1].is("(")) s.edits.replace(t[i].offset, 0, "template ");
        break;
      }
      if (t[at].is(";") || t[at].is("&&") || t[at].is("||") || t[at].is("{")) break;
    }
  }
}

/// A copy by the compiler's own word, whose length no single access has: it has no hooks, and the C library's
/// has.
bool copies_unseen(const std::vector<Token>& t, std::size_t i) {
  if (!t[i].is("__builtin_memcpy") && !t[i].is("__builtin_memmove") && !t[i].is("__builtin_memset"))
    return false;
  if (i + 1 >= t.size() || !t[i + 1].is("(")) return false;
  const std::size_t close = closing(t, i + 1);
  std::size_t last = i + 2;
  for (std::size_t at = last; at < close; ++at) {
    if (t[at].is("(") || t[at].is("[") || t[at].is("{")) at = closing(t, at);
    if (t[at].is(",")) last = at + 1;
  }
  if (t[last].is("sizeof")) return false;
  for (const char* length : {"1", "2", "4", "8", "16"})
    if (t[last].is(length) && last + 1 == close) return false;
  return true;
}

/// `#pragma unroll 4` that a macro stands for: a compiler reads it only on a line of its own.
void remove_pragma(Source& s, std::size_t i) {
  const auto& t = s.text.tokens;
  if (i + 2 >= t.size() || !t[i + 1].is("pragma") || !(t[i + 2].is("unroll") || t[i + 2].is("nounroll")))
    return;
  std::size_t last = i + 2;
  if (last + 1 < t.size() && t[last + 1].kind == Token::number) ++last;
  if (last + 1 < t.size() && t[last + 1].is("(")) last = closing(t, last + 1);
  s.edits.replace(t[i].offset, t[last].end() - t[i].offset, s.lines(i, last));
}

/// Whether host code can meet what a stream is still at: it asks for memory that the device reaches too, and
/// no library works on the host in the device's place.
bool shares_memory_with_host(const Source& s, std::string_view preprocessed) {
  static const std::set<std::string_view> names = {"cudaMallocManaged", "cudaMallocHost",   "cudaHostAlloc",
                                                   "cudaHostRegister",  "hipMallocManaged", "hipHostMalloc",
                                                   "hipMallocHost",     "hipHostAlloc",     "hipHostRegister",
                                                   "cuMemAllocManaged", "cuMemAllocHost",   "cuMemHostAlloc"};
  if (preprocessed.find("/isomer_emulator/host_library.h\"") != std::string_view::npos ||
      preprocessed.find("/isomer_emulator/thrust_memory.h\"") != std::string_view::npos)
    return false;
  return std::any_of(s.text.tokens.begin(), s.text.tokens.end(),
                     [](const Token& each) { return each.kind == Token::name && names.count(each.text); });
}

/// A backslash with blanks or a comment behind it, by which nvcc's front end takes the next line to this one.
void remove_backslash(Source& s, std::size_t i) {
  const std::size_t end = s.original.find_first_not_of(" \t\r", s.text.tokens[i].end());
  if (end == std::string_view::npos || s.original[end] == '\n') s.edits.remove(s.text.tokens[i]);
}

void rewrite_specifiers(Source& s, bool watch_host) {
  const auto& t = s.text.tokens;
  for (std::size_t i = 0; i < t.size(); ++i) {
    const Token& token = t[i];
    if (token.is("#")) remove_pragma(s, i);
    if (token.is("\\")) remove_backslash(s, i);
    if (token.kind != Token::name || token.text.size() < 8 || token.text.substr(0, 2) != "__") continue;
    if (token.is("__global__") || token.is("__device__") || token.is("__host__") ||
        token.is("__constant__") || token.is("__managed__") || token.is("__grid_constant__")) {
      s.edits.remove(token);
    } else if (copies_unseen(t, i)) {
      s.edits.replace(token.offset, 10, "::");
    } else if (token.is("__forceinline__")) {
      s.edits.replace(token.offset, token.text.size(), "inline");
    } else if (token.is("__noinline__") && !is_attribute_word(t, i)) {
      s.edits.replace(token.offset, token.text.size(), "__attribute__((noinline))");
    } else if ((token.is("__launch_bounds__") || token.is("__cluster_dims__") || token.is("__maxnreg__")) &&
               i + 1 < t.size() && t[i + 1].is("(")) {
      const std::size_t close = closing(t, i + 1);
      s.edits.replace(token.offset, t[close].end() - token.offset, s.lines(i, close));
    }
  }
  for (const Function& f : s.outline.functions) {
    if (f.global && f.definition && !f.launch_bounds.empty()) {
      s.edits.insert(t[f.body].end(), " ::isomer_emulator_launch_bounds(" +
                                          s.written(f.launch_bounds[0], f.launch_bounds[1]) + ");");
    }
    if (f.global && f.definition && !f.cluster_dims.empty()) {
      s.edits.insert(t[f.body].end(), " ::isomer::emulator::cluster_dims(" +
                                          s.written(f.cluster_dims[0], f.cluster_dims[1]) + ");");
    }
    if (f.name == "main" && f.scope.empty() && !f.member && f.definition) {
      s.edits.insert(t[f.begin].offset, std::string("extern \"C\" ") + (watch_host ? "" : kUnwatched));
      s.edits.replace(t[f.name_at].offset, 4, "isomer_emulator_main");
      s.edits.insert(t[f.end].offset, " return 0; ");
    }
  }
}

/// Where the watch judges device threads only, its hooks would cost time in functions of the host.
void leave_host_code_unwatched(Source& s) {
  const auto& t = s.text.tokens;
  for (const Function& f : s.outline.functions) {
    if (!f.definition || f.global || f.device || f.constant_expression || f.name == "main") continue;
    std::size_t at = f.begin;
    while (t[at].is("template") && t[at + 1].is("<")) {
      int depth = 0;
      for (++at; at < f.body; ++at) {
        if (t[at].is("(")) at = closing(t, at);
        depth += t[at].is("<") ? 1 : t[at].is(">") ? -1 : 0;
        if (depth == 0) break;
      }
      ++at;
    }
    if (t[at].is("extern") && t[at + 1].kind == Token::string) at += 2;
    // Attributes of the standard's own spelling stand in front of all others.
    if (at >= f.name_at || t[at].is("[") || t[at].is("requires")) continue;
    s.edits.insert(t[at].offset, kUnwatched);
  }
}

/// Each variable of the device stands in a section of its own, behind bytes that belong to nobody: an index
/// that leaves it meets them and not its neighbour.
void guard_variables(Source& s) {
  const auto& t = s.text.tokens;
  const auto guard = [](bool zero, const std::string& section) {
    return "__asm__(\".pushsection " + section + ",\\\"aw\\\",@" + (zero ? "nobits" : "progbits") +
           "\\n.balign 256\\n.skip 256\\n.popsection\");";
  };
  std::size_t last = t.size();
  int serial = 0;
  for (const Variable& v : s.outline.variables) {
    if (!v.guarded || v.begin == last) continue;
    last = v.begin;
    const std::string section = (v.zero ? ".bss.isomer_" : ".data.isomer_") + std::to_string(serial++);
    s.edits.insert(t[v.begin].offset, guard(v.zero, section) + " ");
    s.edits.insert(t[v.specifier].offset, "__attribute__((section(\"" + section + "\")))");
  }
  if (serial > 0) s.tail += guard(true, ".bss.isomer_end") + guard(false, ".data.isomer_end") + "\n";
}

Rewritten rewrite(std::string_view preprocessed, const std::vector<std::string>& instantiate,
                  bool with_entries) {
  Source s{preprocessed, tokenize(preprocessed), {}, {}, false, {}};
  s.outline = outline(s.text);
  refuse_what_cannot_run(s);
  rewrite_shared(s);
  guard_variables(s);
  rewrite_launches(s);
  rewrite_kernel_casts(s);
  rewrite_dependent_templates(s);
  const bool ext_vectors = rewrite_ext_vectors(s);
  if (ext_vectors) rewrite_swizzles(s);
  const bool watch_host = shares_memory_with_host(s, preprocessed);
  rewrite_specifiers(s, watch_host);
  rewrite_conversions(s);
  watch_local_values(s);
  mark_early_returns(s);
  if (!watch_host) leave_host_code_unwatched(s);
  if (s.text.uses_aten) rewrite_aten(s);
  Rewritten result;
  std::string tail =
      "\n# 1 \"isomer-registrations\"\n" + s.tail + waits(s) + registrations(s, instantiate, result.kernels);
  if (with_entries) tail += entries(s, instantiate, true);
  for (const Function& f : s.outline.functions) {
    result.has_main |= f.name == "main" && f.scope.empty() && !f.member && f.definition;
  }
  result.text = s.edits.apply(preprocessed) + tail;
  result.uses_ptx = s.uses_ptx;
  result.uses_texture_references = names_texture_reference(s.text);
  // TR1's <cmath> names them all.
  result.uses_special_functions =
      names_special_function(s.text) || preprocessed.find("/tr1/cmath\"") != std::string_view::npos;
  result.missing_headers = missing_headers(s.text, preprocessed);
  if (ext_vectors) result.missing_headers.emplace_back("isomer_emulator/ext_vector.h");
  return result;
}

Rewritten offered(std::string_view preprocessed, const std::vector<std::string>& instantiate) {
  Source s{preprocessed, tokenize(preprocessed), {}, {}, false, {}};
  s.outline = outline(s.text);
  Rewritten result;
  result.text = entries(s, instantiate, false);
  for (const Function& f : s.outline.functions) {
    if (f.global && f.definition && !f.member) result.kernels.push_back(f.scope + f.name);
    result.has_main |= f.name == "main" && f.scope.empty() && !f.member && f.definition;
  }
  return result;
}

}  // namespace isomer::emulator::source
