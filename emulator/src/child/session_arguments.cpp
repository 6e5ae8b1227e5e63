#include "child/session_arguments.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

namespace isomer::emulator {
namespace {

bool read_default(const std::string& text, WireValue& v);

// "[0, inf]", without its brackets.
bool read_list(const std::string& text, WireValue& v) {
  v.kind = ValueKind::list;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size()), first = text.find_first_not_of(' ', at);
    WireValue item;
    if (first >= end || !read_default(text.substr(first, end - first), item)) return false;
    v.items.push_back(std::move(item));
    at = end + 1;
  }
  return true;
}

// A default as it stands in the source: a number, true, false, nothing, a text, or a list of these.
bool read_default(const std::string& text, WireValue& v) {
  if (text.size() > 2 && text.front() == '[' && text.back() == ']')
    return read_list(text.substr(1, text.size() - 2), v);
  if (text == "true" || text == "false") {
    v.kind = ValueKind::boolean;
    v.integer = text == "true";
    return true;
  }
  if (text == "none" || text == "nullptr" || text == "0" || text == "NULL" || text == "{}" ||
      text.find("nullopt") != std::string::npos) {
    v.kind = text == "0" ? ValueKind::integer : ValueKind::none;
    return true;
  }
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    v.kind = ValueKind::text;
    v.text = text.substr(1, text.size() - 2);
    return true;
  }
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) return false;
  while (*end && std::strchr("fFlLuU", *end)) ++end;
  if (*end) return false;
  const bool whole =
      (text.find_first_of(".eE") == std::string::npos && std::isfinite(number)) || text.rfind("0x", 0) == 0;
  v.kind = whole ? ValueKind::integer : ValueKind::real;
  v.integer = whole ? std::strtoll(text.c_str(), nullptr, 0) : 0;
  v.real = number;
  return true;
}

}  // namespace

CallValue Arguments::make(const WireValue& w) {
  CallValue v{};
  v.kind = static_cast<CallKind>(w.kind);
  v.integer = w.kind == ValueKind::real ? static_cast<std::int64_t>(std::max(-9e18, std::min(9e18, w.real)))
                                        : w.integer;
  v.real = w.kind == ValueKind::real ? w.real : static_cast<double>(w.integer);
  v.element = w.element;
  v.text = w.text.c_str();
  if (w.kind == ValueKind::tensor) {
    CallTensor t{};
    const StoragePlace place = w.storage < places_.size() ? places_[w.storage] : StoragePlace{};
    t.storage = place.begin;
    t.storage_bytes = place.bytes;
    t.data = place.begin ? place.begin + w.storage_offset : nullptr;
    t.element = w.element;
    t.rank = static_cast<std::int32_t>(w.shape.size());
    for (std::size_t i = 0; i < w.shape.size() && i < 8; ++i)
      t.shape[i] = w.shape[i], t.strides[i] = w.strides[i];
    tensors_.push_back(t);
    v.tensor = &tensors_.back();
  }
  if (!w.items.empty()) {
    std::vector<CallValue> items;
    for (const WireValue& item : w.items) items.push_back(make(item));
    lists_.push_back(std::move(items));
    v.items = lists_.back().data();
    v.count = lists_.back().size();
  }
  return v;
}

std::string complete(const OfferedEntry& entry, std::vector<WireValue>& values) {
  const std::size_t wanted = entry.info.parameters.size();
  if (values.size() > wanted)
    return fmt::format("{} takes {} argument{}, got {}", entry.info.name, wanted, wanted == 1 ? "" : "s",
                       values.size());
  const auto unknown = [&](std::size_t i) {
    return fmt::format("{}: the default of {} ({}) cannot be evaluated from outside: pass a value",
                       entry.info.name, entry.info.parameters[i].name, entry.defaults[i]);
  };
  const std::size_t given = values.size();
  values.resize(wanted);
  for (std::size_t i = 0; i < wanted; ++i) {
    if (i < given && values[i].kind != ValueKind::omitted) continue;
    WireValue v;
    const EntryParameter& p = entry.info.parameters[i];
    if (p.kind == EntryParameter::Kind::stream) {
      values[i] = v;
    } else if (!p.has_default) {
      return fmt::format("{} takes {} argument{}, got {}{}", entry.info.name, wanted, wanted == 1 ? "" : "s",
                         given, p.name.empty() ? "" : ": " + p.name + " is missing");
    } else if (read_default(entry.defaults[i], v)) {
      values[i] = v;
    } else {
      return unknown(i);
    }
  }
  return {};
}

}  // namespace isomer::emulator
