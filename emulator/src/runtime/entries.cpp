#include "runtime/entries.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <utility>

namespace isomer::emulator {
namespace {

std::mutex entries_mutex;
std::vector<CallEntry> registered;
// Names and texts of exported entries belong to objects that are gone when we look.
std::vector<std::unique_ptr<std::string>> kept;
std::vector<void (*)()> exports;

const char* keep(const char* text) {
  kept.push_back(std::make_unique<std::string>(text ? text : ""));
  return kept.back()->c_str();
}

std::string demangled(const char* mangled) {
  int status = 0;
  char* text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string result = status == 0 && text ? text : mangled;
  std::free(text);
  return result;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}
bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// Of a result's type: a tensor, a tuple or pair of them, or a list.
int tensors_in(const std::string& type) {
  if (has(type, "pybind11::")) return -1;
  if (has(type, "std::vector<")) return has(type, "at::Tensor") ? -1 : 0;
  int count = 0;
  for (auto at = type.find("at::Tensor"); at != std::string::npos; at = type.find("at::Tensor", at + 1))
    ++count;
  return count;
}

// "float const" gives "float"; returns whether there was something to strip.
bool strip(std::string& text, const std::string& end) {
  if (!ends_with(text, end)) return false;
  text.resize(text.size() - end.size());
  return true;
}

struct Word {
  const char* name;
  Element element;
};

// Types by their demangled names, the longer names before the shorter ones that they contain.
Element element_of(std::string type) {
  static const Word exact[] = {
      {"double", 1},         {"float", 2},      {"_Float16", 3},       {"half", 3},
      {"signed char", 9},    {"char", 9},       {"int", 10},           {"unsigned int", 10},
      {"long", 11},          {"long long", 11}, {"unsigned long", 11}, {"unsigned long long", 11},
      {"unsigned char", 12}, {"bool", 14},      {"short", 13},         {"uint", 10},
      {"uchar", 12},         {"longlong", 11},  {"ulonglong", 11},     {"ulong", 11}};
  static const Word parts[] = {{"E4m3Fnuz", 7}, {"e4m3fnuz", 7}, {"E5m2Fnuz", 8}, {"e5m2fnuz", 8},
                               {"E4m3", 5},     {"e4m3", 5},     {"E5m2", 6},     {"e5m2", 6},
                               {"Bfloat16", 4}, {"BFloat16", 4}, {"bfloat16", 4}, {"bf16", 4},
                               {"Float16", 3},  {"Half", 3},     {"half", 3}};
  for (const Word& w : exact) {
    if (type == w.name) return w.element;
  }
  // float4, int2: vectors of the element.
  if (!type.empty() && type.back() >= '1' && type.back() <= '4') {
    const std::string base = type.substr(0, type.size() - 1);
    for (const Word& w : exact) {
      if (base == w.name) return w.element;
    }
  }
  for (const Word& w : parts) {
    if (has(type, w.name)) return w.element;
  }
  return 0;
}

using EntryKind = EntryParameter::Kind;

EntryKind kind_of_value(const std::string& type, EntryParameter& p) {
  static const std::pair<const char*, int> integers[] = {
      {"int", 32},       {"unsigned int", 32},       {"long", 64},        {"unsigned long", 64},
      {"long long", 64}, {"unsigned long long", 64}, {"short", 16},       {"unsigned short", 16},
      {"char", 8},       {"signed char", 8},         {"unsigned char", 8}};
  for (const auto& [name, bits] : integers) {
    if (type == name) {
      p.bits = bits;
      // A handle as a number, as Python passes it.
      const bool handle = bits == 64 && (p.name == "stream" || ends_with(p.name, "_stream") ||
                                         p.name == "stream_ptr" || p.name == "stream_handle");
      return handle ? EntryKind::stream : EntryKind::integer;
    }
  }
  if (type == "bool") return EntryKind::boolean;
  if (type == "float" || type == "double") {
    p.bits = type == "float" ? 32 : 64;
    return EntryKind::real;
  }
  if (type == "at::Tensor") return EntryKind::tensor;
  if (type == "c10::ScalarType") return EntryKind::dtype;
  if (type == "c10::Scalar") return EntryKind::real;
  if (type == "c10::Device") return EntryKind::text;
  if (type.rfind("std::__cxx11::basic_string<char", 0) == 0 || type == "std::string" ||
      has(type, "string_view")) {
    return EntryKind::text;
  }
  const bool optional = type.rfind("c10::optional<", 0) == 0 || type.rfind("std::optional<", 0) == 0;
  if (optional) {
    const auto open = type.find('<');
    std::string inner = type.substr(open + 1, type.rfind('>') - open - 1);
    while (!inner.empty() && inner.back() == ' ') inner.pop_back();
    p.has_default = false;
    const EntryKind kind = kind_of_value(inner, p);
    return kind == EntryKind::tensor ? EntryKind::optional_tensor : kind;
  }
  if (type.rfind("std::vector<", 0) == 0 || type.rfind("c10::ArrayRef<", 0) == 0 ||
      type.rfind("std::array<", 0) == 0 || type.rfind("std::tuple<", 0) == 0 ||
      type.rfind("std::pair<", 0) == 0) {
    return EntryKind::list;
  }
  if (has(type, "TensorStream<")) return EntryKind::stream;
  static const std::pair<const char*, EntryKind> python[] = {
      {"object", EntryKind::any},    {"float_", EntryKind::real}, {"int_", EntryKind::integer},
      {"bool_", EntryKind::boolean}, {"str", EntryKind::text},    {"sequence", EntryKind::list},
      {"list", EntryKind::list},     {"tuple", EntryKind::list}};
  for (const auto& [name, kind] : python)
    if (type == std::string("pybind11::") + name) {
      p.bits = 64;
      return kind;
    }
  if (const Element e = element_of(type); e == 3 || e == 4) {
    p.bits = 16;
    return EntryKind::real;
  }
  return EntryKind::unknown;
}

// `mangled` is that of a pointer to the parameter's type.
void describe(const char* mangled, EntryParameter& p) {
  std::string type = demangled(mangled);
  strip(type, "*");
  if (p.type.empty()) p.type = type;
  strip(type, " const");
  std::string pointee = type;
  if (!strip(pointee, "*")) {
    p.kind = kind_of_value(type, p);
    return;
  }
  p.is_const = strip(pointee, " const");
  if (has(pointee, "DLTensor") || has(pointee, "DLManagedTensor")) {
    p.kind = EntryKind::tensor;
  } else if (has(pointee, "StreamHandle") || pointee == "CUstream_st" || pointee == "ihipStream_t") {
    p.kind = EntryKind::stream;
  } else if (pointee == "void" && (p.name == "stream" || ends_with(p.name, "_stream"))) {
    p.kind = EntryKind::stream;
  } else {
    p.kind = EntryKind::pointer;
    p.element = element_of(pointee);
  }
}

// The text of a registration: type, tab, name, tab, default, for each parameter.
struct Written {
  std::string type, name, default_text;
};
std::vector<Written> read_written(const char* text) {
  std::vector<Written> all;
  std::istringstream lines(text ? text : "");
  for (std::string line; std::getline(lines, line);) {
    Written w;
    std::istringstream fields(line);
    std::getline(fields, w.type, '\t');
    std::getline(fields, w.name, '\t');
    std::getline(fields, w.default_text);
    if (w.type != "void" || !w.name.empty()) all.push_back(std::move(w));
  }
  return all;
}

OfferedEntry offer(const CallEntry& call, const std::vector<CallEntry>& all) {
  OfferedEntry offered{{}, call, call.name, {}};
  EntryInfo& info = offered.info;
  info.form = static_cast<EntryInfo::Form>(call.form);
  info.name = call.name;
  info.file = call.file;
  info.line = static_cast<int>(call.line);
  std::vector<Written> written = read_written(call.parameters);
  if (call.form == CallForm::exported) {
    // The function behind the name gives the place and the parameters' own names.
    for (const CallEntry& other : all) {
      if (!call.address || other.address != call.address || other.form != CallForm::function) continue;
      info.function = other.name;
      info.file = other.file;
      info.line = static_cast<int>(other.line);
      std::vector<Written> own = read_written(other.parameters);
      for (std::size_t i = 0; i < own.size(); ++i) {
        if (i < written.size()) own[i].name = written[i].name;
        // C++'s own defaults are not the exported function's.
        own[i].default_text = i < written.size() ? written[i].default_text : std::string();
      }
      written = std::move(own);
    }
  } else {
    info.function = call.name;
  }
  if (!call.signature) {  // a template: what its text says
    info.callable = false;
    std::istringstream types(static_cast<const char*>(call.state));
    for (std::string type; std::getline(types, type, ',');) info.template_types.push_back(type);
    for (const Written& w : written) {
      EntryParameter p;
      p.name = w.name;
      p.type = w.type;
      p.is_const = has(w.type, "const");
      p.kind = has(w.type, "*") ? EntryKind::pointer : kind_of_value(w.type, p);
      if (p.kind == EntryKind::unknown && (has(w.type, "size_t") || has(w.type, "int")))
        p.kind = EntryKind::integer, p.bits = 64;
      // A number of a type that is a parameter of the template.
      for (const std::string& type : info.template_types)
        if (p.kind == EntryKind::unknown &&
            (w.type == type || w.type == "const " + type || w.type == type + " const"))
          p.kind = EntryKind::real, p.bits = 32;
      info.parameters.push_back(p);
    }
    return offered;
  }
  const CallSignature& signature = *call.signature;
  info.callable = signature.possible != 0;
  info.returned_tensors = tensors_in(demangled(signature.result));
  for (std::uint32_t i = 0; i < signature.count; ++i) {
    EntryParameter p;
    const Written* w =
        i < written.size() && (written.size() == signature.count || call.form == CallForm::exported)
            ? &written[i]
            : nullptr;
    if (w) p.name = w->name, p.type = w->type;
    describe(signature.types[i], p);
    const std::string type = demangled(signature.types[i]);
    const bool packed = has(type, "pybind11::args") || has(type, "pybind11::kwargs");
    // pybind11 knows no names but those that it is told.
    p.has_keyword = call.form != CallForm::exported || *call.parameters != 0;
    p.has_default = packed || (w && !w->default_text.empty());
    offered.defaults.push_back(packed ? "none" : w ? w->default_text : "");
    info.takes_tensors |= has(demangled(signature.types[i]), "at::Tensor");
    info.parameters.push_back(std::move(p));
  }
  return offered;
}

}  // namespace

std::vector<OfferedEntry> offered_entries() {
  std::vector<void (*)()> late;
  {
    std::lock_guard lock(entries_mutex);
    late = std::exchange(exports, {});
  }
  for (auto* run : late) run();
  std::lock_guard lock(entries_mutex);
  std::vector<OfferedEntry> offered;
  for (const bool exported : {true, false}) {
    for (const CallEntry& call : registered) {
      if ((call.form == CallForm::exported) == exported) offered.push_back(offer(call, registered));
    }
  }
  return offered;
}

}  // namespace isomer::emulator

extern "C" {
__attribute__((visibility("default"))) void isomer_emulator_register_entry(
    const isomer::emulator::CallEntry* entry) {
  using namespace isomer::emulator;
  std::lock_guard lock(isomer::emulator::entries_mutex);
  CallEntry own = *entry;
  own.name = keep(entry->name);
  own.file = keep(entry->file);
  own.parameters = keep(entry->parameters);
  registered.push_back(own);
}
__attribute__((visibility("default"))) void isomer_emulator_register_exports(void (*run)()) {
  std::lock_guard lock(isomer::emulator::entries_mutex);
  isomer::emulator::exports.push_back(run);
}
}
