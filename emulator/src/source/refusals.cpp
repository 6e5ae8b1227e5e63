// What no rewriting can run, named with its place: inline assembly, machine intrinsics, host functions called
// from device code.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "isomer/emulator/error.hpp"
#include "source/rewrite.hpp"

namespace isomer::emulator::source {
namespace {

bool begins_with(std::string_view text, std::string_view what) { return text.substr(0, what.size()) == what; }

/// Whether the scope, "outer::inner::", ends with that name.
bool ends_with(std::string_view scope, std::string_view name) {
  return scope.size() >= name.size() + 2 && scope.substr(scope.size() - name.size() - 2, name.size()) == name;
}

/// What programs ask their own processor for: its clock, its kind, a pause.
bool of_host_processor(std::string_view instruction) {
  static const std::set<std::string_view> known = {"rdtsc",  "rdtscp", "cpuid", "pause",  "lfence", "mfence",
                                                   "sfence", "nop",    "bswap", "popcnt", "bsr",    "bsf"};
  return known.count(instruction) != 0 || begins_with(instruction, ".byte");
}

/// Instructions of GCN that wait for what a thread has asked for, or for nothing, and change nothing.
bool only_waits_for_memory(const Token& text) {
  if (text.kind != Token::string) return false;
  static const std::set<std::string_view> known = {"s_waitcnt", "s_nop", "s_waitcnt_vscnt", "s_setprio"};
  std::string_view rest = text.text.substr(1, text.text.size() - 2);
  bool any = false;
  while (!rest.empty()) {
    const std::size_t end = std::min({rest.find(';'), rest.find("\\n"), rest.size()});
    std::string_view one = rest.substr(0, end);
    while (!one.empty() && (one[0] == ' ' || one[0] == '\t')) one.remove_prefix(1);
    if (!one.empty() && known.count(one.substr(0, one.find(' '))) == 0) return false;
    any |= !one.empty();
    rest.remove_prefix(end == rest.size() ? end : end + (rest[end] == ';' ? 1 : 2));
  }
  return any;
}

bool in_device_code(const Source& s, std::size_t token) {
  return std::any_of(s.outline.functions.begin(), s.outline.functions.end(), [&](const Function& f) {
    return f.definition && (f.global || f.device) && token > f.body && token < f.end;
  });
}

void run_or_refuse_assembly(Source& s, std::size_t i) {
  const auto& t = s.text.tokens;
  std::size_t open = i + 1;
  while (open < t.size() &&
         (t[open].is("volatile") || t[open].is("__volatile__") || t[open].is("inline") || t[open].is("goto")))
    ++open;
  if (open + 1 >= t.size() || !t[open].is("(")) return;
  std::string instruction;
  if (t[open + 1].kind == Token::string) {
    instruction = std::string(t[open + 1].text.substr(1, t[open + 1].text.size() - 2));
    for (std::size_t at = 0; (at = instruction.find_first_of("{\\\t")) == 0;)
      instruction.erase(0, instruction[0] == '\\' ? 2 : 1);
    while (!instruction.empty() && instruction[0] == ' ') instruction.erase(0, 1);
    instruction.resize(std::min(instruction.find_first_of("; \\\n"), instruction.size()));
  }
  const bool gcn = begins_with(instruction, "s_") || begins_with(instruction, "v_") ||
                   begins_with(instruction, "ds_") || begins_with(instruction, "global_") ||
                   begins_with(instruction, "buffer_") || begins_with(instruction, "flat_");
  if (of_host_processor(instruction) && !in_device_code(s, i)) return;
  if (only_waits_for_memory(t[open + 1])) {  // what is read here is there at once
    const std::size_t close = closing(t, open);
    s.edits.replace(t[i].offset, t[close].end() - t[i].offset, "static_cast<void>(0)" + s.lines(i, close));
    return;
  }
  instruction = rewrite_assembly(s, i, gcn);
  if (instruction.empty()) return;  // it runs, or orders the compiler only
  throw Error(s.place(i) + ": inline " + (gcn ? "GCN" : "PTX") + " assembly '" + instruction +
              "' cannot be emulated; give this code a C++ path");
}

// "thread" of no_sanitize("thread"), in whatever pieces.
void refuse_unwatched(const Source& s, std::size_t i) {
  const auto& t = s.text.tokens;
  std::string name(t[i].text), what;
  while (name.size() > 4 && name.rfind("__", 0) == 0 && name.compare(name.size() - 2, 2, "__") == 0)
    name = name.substr(2, name.size() - 4);
  if (name == "no_sanitize") {
    for (std::size_t k = i + 1; k < t.size() && !t[k].is(")"); ++k)
      if (t[k].kind == Token::string) what += t[k].text.substr(1, t[k].text.size() - 2);
    if (what.find("thread") == std::string::npos && what.find("alignment") == std::string::npos &&
        what.find("all") == std::string::npos)
      return;
    name += "(\"" + what + "\")";
  } else if (name != "no_sanitize_thread" && name != "disable_sanitizer_instrumentation") {
    return;
  }
  throw Error(s.place(i) + ": the attribute " + name + " hides this code from the checker's watch");
}

/// Whether `using namespace` names the last part of the scope.
bool is_opened(const std::set<std::string_view>& opened, std::string_view scope) {
  return std::any_of(opened.begin(), opened.end(),
                     [scope](std::string_view name) { return ends_with(scope, name); });
}

void check_body(const Source& s, const Function& f, const std::set<std::string_view>& opened,
                const std::map<std::string_view, const Function*>& host_only) {
  static const std::set<std::string_view> host_library = {
      "vector",        "string",     "cout",       "cerr",         "endl",        "map",
      "unordered_map", "set",        "list",       "deque",        "sort",        "thread",
      "mutex",         "unique_ptr", "shared_ptr", "make_unique",  "make_shared", "function",
      "ifstream",      "ofstream",   "to_string",  "random_device"};
  const auto& t = s.text.tokens;
  std::set<std::string_view> local;
  for (std::size_t i = f.parameters; i < f.end; ++i) {
    if (t[i].kind != Token::name) continue;
    const bool plain = i == 0 || !(t[i - 1].is(".") || t[i - 1].is("->"));
    if (t[i].is("std") && i + 2 < f.end && t[i + 1].is("::") && host_library.count(t[i + 2].text) &&
        i > f.body) {
      throw Error(s.place(i) + ": " + (f.global ? "kernel " : "device function ") + f.name +
                  " uses std::" + std::string(t[i + 2].text) + ", which is host code");
    }
    // Instructions of the host's processor, which no device compiler takes and the watch does not see.
    for (const std::string_view begin : {"__builtin_ia32_", "_mm_", "_mm256_", "_mm512_"})
      if (i > f.body && begins_with(t[i].text, begin))
        throw Error(s.place(i) + ": " + (f.global ? "kernel " : "device function ") + f.name + " uses " +
                    std::string(t[i].text) + ", an intrinsic of the host's processor");
    const bool called = i + 1 < f.end && t[i + 1].is("(");
    if (t[i - 1].kind == Token::name && !t[i - 1].is("return") && !t[i - 1].is("else"))
      local.insert(t[i].text);
    if (!called || !plain || i <= f.body || local.count(t[i].text)) continue;
    if (const auto it = host_only.find(t[i].text); it != host_only.end()) {
      // Nor is min() or ::min() the min of a namespace that nobody has opened and that this code is not in.
      const bool named = t[i - 1].is("::") && t[i - 2].kind == Token::name;
      if (!named && !begins_with(f.scope, it->second->scope) && !is_opened(opened, it->second->scope)) continue;
      // cg::reduce is not the reduce of this source.
      if (t[i - 1].is("::") && t[i - 2].kind == Token::name && !ends_with(it->second->scope, t[i - 2].text))
        continue;
      throw Error(s.place(i) + ": " + (f.global ? "kernel " : "device function ") + f.name + " calls " +
                  it->second->name + ", a host function (" + s.place(it->second->name_at) +
                  " declares it without __device__)");
    }
  }
}

/// sin(Tensor) of the host stands beside the C library's sin(double), which device code has too: which of the
/// two is called is the compiler's to say.
bool in_c_library(const Source& s, std::string_view name) {
  const std::string declared = " " + std::string(name) + " (";
  for (std::size_t at = s.original.find(declared); at != std::string_view::npos;
       at = s.original.find(declared, at + 1)) {
    const std::size_t line = s.original.rfind('\n', at) + 1;
    if (s.original.substr(line, at - line).find("extern ") != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

void refuse_what_cannot_run(Source& s) {
  const auto& t = s.text.tokens;
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (t[i].kind != Token::name) continue;
    if (t[i].text.find("sanitize") != std::string_view::npos) refuse_unwatched(s, i);
    if (t[i].is("asm") || t[i].is("__asm__") || t[i].is("__asm")) run_or_refuse_assembly(s, i);
    if (begins_with(t[i].text, "__builtin_amdgcn_") || begins_with(t[i].text, "__nvvm_") ||
        begins_with(t[i].text, "__ockl_") || begins_with(t[i].text, "__ocml_")) {
      throw Error(s.place(i) + ": the machine intrinsic " + std::string(t[i].text) + " cannot be emulated");
    }
    if (t[i].is("surface") && i + 3 < t.size() && t[i + 1].is("<") && t[i + 2].is("void") && t[i + 3].is(","))
      throw Error(
          s.place(i) +
          ": surface references, which CUDA 12 has no more, cannot be emulated; make a surface object of the "
          "array (cudaCreateSurfaceObject)");
  }
  std::map<std::string_view, const Function*> host_only;
  std::set<std::string_view> device_too = {"min", "max", "abs"};  // as the device has them beside
  for (const Function& f : s.outline.functions) {
    if (f.device || f.global || f.constant_expression || f.member || f.name == "operator") {
      device_too.insert(f.name);
    } else {
      host_only.emplace(f.name, &f);
    }
  }
  for (auto it = host_only.begin(); it != host_only.end();)
    it = in_c_library(s, it->first) ? host_only.erase(it) : std::next(it);
  for (std::string_view name : device_too) host_only.erase(name);
  std::set<std::string_view> opened;
  for (std::size_t i = 2; i < t.size(); ++i)
    if (t[i].kind == Token::name && t[i - 1].is("namespace") && t[i - 2].is("using"))
      for (opened.insert(t[i].text); i + 2 < t.size() && t[i + 1].is("::"); i += 2) opened.insert(t[i + 2].text);
  for (const Function& f : s.outline.functions) {
    // __host__ __device__ code may hold a host branch behind a macro; it is judged where it runs.
    if (f.definition && (f.global || (f.device && !f.host))) check_body(s, f, opened, host_only);
  }
}

}  // namespace isomer::emulator::source
