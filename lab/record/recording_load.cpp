#include "bundle/bundle.hpp"
#include "core/sentence.hpp"
#include "lab/record/recording_format.hpp"
#include "lab/text/read_json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace isomer::lab {
namespace {

using nlohmann::json;

/// Lists in lists deeper than this are no argument of a kernel.
constexpr int kMaxDepth = 16;

/// Whose field it is that is wrong: "load: f: call 2 (sin): x".
class Place {
 public:
  explicit Place(std::string name) : name_(std::move(name)) {}
  template <class... Parts>
  Place operator()(const Parts&... parts) const {
    return Place(core::say(name_, ": ", parts...));
  }
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    core::fail(ErrorCode::io, name_, ": ", parts...);
  }

  const json& field(const json& object, const char* key, json::value_t type, const char* what) const {
    const auto found = object.find(key);
    if (found == object.end() || found->type() != type) refuse(key, " is not ", what);
    return *found;
  }
  std::string text(const json& object, const char* key) const {
    return field(object, key, json::value_t::string, "a text").get<std::string>();
  }
  std::string text_or_empty(const json& object, const char* key) const {
    return object.contains(key) ? text(object, key) : std::string();
  }
  std::int64_t integer(const json& value, const char* key) const {
    if (!value.is_number_integer()) refuse(key, " is not a whole number");
    if (value.is_number_unsigned() &&
        value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      refuse(key, " has ", value.get<std::uint64_t>(), ", more than 64 bits count");
    return value.get<std::int64_t>();
  }
  std::vector<std::int64_t> sizes(const json& object, const char* key) const {
    std::vector<std::int64_t> all;
    for (const json& each : field(object, key, json::value_t::array, "a list")) {
      all.push_back(integer(each, key));
      if (all.back() < 0) refuse(key, " has ", all.back(), ", expected 0 or more");
    }
    return all;
  }

  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

class Reading {
 public:
  Reading(const Bundle& bundle, std::string subject)
      : bundle_(std::make_shared<Bundle>(bundle)), subject_(std::move(subject)) {
    for (const auto& [name, tensor] : bundle_->tensors()) storages_.emplace(name, &tensor);
  }

  Recording recording() const {
    const auto format = bundle_->metadata().find("format");
    if (format == bundle_->metadata().end() || format->second != kRecordingFormat)
      subject_.refuse("it holds tensors, but no recorded calls: metadata format is ",
                      format == bundle_->metadata().end() ? "absent" : "'" + format->second + "'",
                      ", expected '", kRecordingFormat, "', which isomer record writes");
    Recording recording;
    recording.metadata = bundle_->metadata();
    const std::string text = std::exchange(recording.metadata["calls"], "");
    recording.metadata.erase("calls");
    recording.metadata.erase("format");
    const json calls = read_json(text);
    if (!calls.is_array()) subject_.refuse("metadata calls is not a JSON list");
    for (const json& each : calls) recording.calls.push_back(call(each, recording.calls.size()));
    if (const auto asked = recording.metadata.extract("asked"); !asked.empty()) {
      const json list = read_json(asked.mapped());
      if (!list.is_array()) subject_.refuse("metadata asked is not a JSON list");
      for (const json& each : list) recording.asked.push_back(call(each, recording.asked.size()));
    }
    if (const auto edited = recording.metadata.extract("edited"); !edited.empty())
      recording.edited = edited_reference_of(
          edited.mapped(), recording.calls,
          [&](const std::string& name) {
            const auto found = storages_.find(name);
            return found == storages_.end() ? nullptr : found->second;
          },
          subject_.name());
    return recording;
  }

 private:
  RecordedCall call(const json& text, std::size_t index) const {
    const Place number = subject_("call ", index);
    if (!text.is_object()) number.refuse("it is not a JSON object");
    RecordedCall call;
    call.function = number.text(text, "function");
    const Place place = subject_("call ", index, " (", call.function, ")");
    call.group = place.text_or_empty(text, "group");
    call.raised = place.text_or_empty(text, "raised");
    call.asked = place.text_or_empty(text, "asked");
    if (call.asked == "size" || call.asked == "larger") {
      const std::vector<std::int64_t> sizes = place.sizes(text, "size");
      if (sizes.size() != 2) place.refuse("size has ", sizes.size(), " numbers, expected two");
      call.size_before = sizes[0];
      call.size = sizes[1];
    }
    const json& before = place.field(text, "before", json::value_t::array, "a list");
    call.before = values(before, place("before"), 0);
    for (const json& each : before) {
      const auto keyword = each.find("keyword");
      if (keyword != each.end() && !keyword->is_boolean()) place.refuse("keyword is not true or false");
      call.keyword.push_back(keyword != each.end() && keyword->get<bool>());
      call.strided.push_back(strided(each, call.before[call.strided.size()], place));
      const auto idle = each.find("idle");
      if (idle != each.end() && !idle->is_boolean()) place.refuse("idle is not true or false");
      call.idle.push_back(idle != each.end() && idle->get<bool>());
      call.idle_asked.push_back(idle != each.end());
      const auto held = each.find("held");
      if (held != each.end() && !held->is_boolean()) place.refuse("held is not true or false");
      call.held.push_back(held != each.end() && held->get<bool>());
    }
    const auto list = [&](const char* when) {
      if (!text.contains(when)) return std::vector<Value>();
      return values(place.field(text, when, json::value_t::array, "a list"), place(when), 0);
    };
    call.left_out = list("left_out");
    call.computed = list("computed");
    call.around = list("around");
    if (const auto full = text.find("full"); full != text.end()) {
      if (!full->is_boolean()) place.refuse("full is not true or false");
      call.full = full->get<bool>();
    }
    call.after = list("after");
    call.returned = list("returned");
    call.unset = list("unset");
    check_unset(call, place);
    call.noise = list("noise");
    check_noise(call, place);
    if (text.contains("seconds"))
      for (const json& each : place.field(text, "seconds", json::value_t::array, "a list")) {
        if (!each.is_number() || each.get<double>() < 0) place.refuse("seconds is not a list of times");
        call.seconds.push_back(each.get<double>());
      }
    if (!call.after.empty() && call.after.size() != call.before.size())
      place.refuse("it has ", call.before.size(), " arguments before the call and ", call.after.size(),
                   " after it");
    return call;
  }

  static void check_unset(const RecordedCall& call, const Place& place) {
    if (!call.unset.empty() && call.unset.size() != call.returned.size())
      place.refuse("unset has ", call.unset.size(), " values, and returned ", call.returned.size());
    for (std::size_t i = 0; i < call.unset.size(); ++i) {
      const Value &mask = call.unset[i], &value = call.returned[i];
      if (!mask.is_tensor()) continue;
      if (!mask.boolean || !value.is_tensor() || mask.tensor.rank != value.tensor.rank ||
          mask.tensor.shape != value.tensor.shape)
        place.refuse("unset ", i, " is not true and false of the shape of what was returned");
    }
  }

  static void check_noise(const RecordedCall& call, const Place& place) {
    if (!call.noise.empty() && call.noise.size() != call.returned.size())
      place.refuse("noise has ", call.noise.size(), " values, and returned ", call.returned.size());
    for (std::size_t i = 0; i < call.noise.size(); ++i) {
      const Value &noise = call.noise[i], &value = call.returned[i];
      if (!noise.is_tensor()) continue;
      if (!is_float(noise.tensor.dtype) || !value.is_tensor() || noise.tensor.rank != value.tensor.rank ||
          noise.tensor.shape != value.tensor.shape)
        place.refuse("noise ", i, " is not real numbers of the shape of what was returned");
    }
  }

  static int strided(const json& text, const Value& value, const Place& place) {
    if (!text.contains("strided")) return 0;
    const std::int64_t count = place.integer(text["strided"], "strided");
    const int rank = value.is_tensor() ? value.tensor.rank : 0;
    if (count < 0 || count > rank) place.refuse("strided is ", count, ", expected 0 to ", rank);
    return static_cast<int>(count);
  }

  std::vector<Value> values(const json& list, const Place& place, int depth) const {
    std::vector<Value> all;
    for (const json& each : list) all.push_back(value(each, place(all.size()), depth));
    return all;
  }

  Value value(const json& text, const Place& number, int depth) const {
    if (!text.is_object()) number.refuse("it is not a JSON object");
    Value value;
    value.name = number.text_or_empty(text, "name");
    const Place place = value.name.empty() ? number : number(value.name);
    value.kind = kind(place.text(text, "kind"), place);
    const auto field = [&]() -> const json& {
      if (!text.contains("value")) place.refuse("value is absent");
      return text["value"];
    };
    switch (value.kind) {
      case Value::Kind::none:
      case Value::Kind::omitted:
        break;
      case Value::Kind::tensor:
        tensor(text, place, value);
        break;
      case Value::Kind::integer:
        value.integer = place.integer(field(), "value");
        break;
      case Value::Kind::real:
        value.real = real(field(), place);
        break;
      case Value::Kind::boolean:
        value.integer = place.field(text, "value", json::value_t::boolean, "true or false").get<bool>();
        break;
      case Value::Kind::text:
      case Value::Kind::dtype:
        value.text = place.text(text, "value");
        break;
      case Value::Kind::list:
        if (depth >= kMaxDepth) place.refuse("lists lie more than ", kMaxDepth, " deep");
        value.items = values(place.field(text, "items", json::value_t::array, "a list"), place, depth + 1);
        break;
    }
    return value;
  }

  static Value::Kind kind(const std::string& text, const Place& place) {
    for (int k = 0; k <= static_cast<int>(Value::Kind::list); ++k)
      if (text == name_of(static_cast<Value::Kind>(k))) return static_cast<Value::Kind>(k);
    place.refuse("kind '", text, "' is not a kind of value");
  }

  static double real(const json& value, const Place& place) {
    if (value.is_number()) return value.get<double>();
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
    place.refuse("value is not a number");
  }

  void tensor(const json& text, const Place& place, Value& value) const {
    const std::string type = place.text(text, "dtype"), storage = place.text(text, "storage");
    const std::optional<DType> dtype = dtype_of(type);
    if (!dtype) place.refuse("dtype '", type, "' is not one of Isomer's");
    if (text.contains("boolean"))
      value.boolean = place.field(text, "boolean", json::value_t::boolean, "true or false").get<bool>();
    if (value.boolean && *dtype != DType::u8) place.refuse("expected true and false as u8, got ", type);
    const std::vector<std::int64_t> shape = place.sizes(text, "shape"),
                                    strides = place.sizes(text, "strides");
    if (shape.size() > Tensor::kMaxRank)
      place.refuse("it has ", shape.size(), " dimensions, Isomer's tensors at most ", Tensor::kMaxRank);
    if (strides.size() != shape.size())
      place.refuse("it has ", shape.size(), " dimensions but ", strides.size(), " strides");
    // A zero anywhere makes it empty, whatever the other sizes multiply to.
    std::int64_t elements = 1;
    if (std::find(shape.begin(), shape.end(), 0) == shape.end())
      for (const std::int64_t size : shape)
        if (__builtin_mul_overflow(elements, size, &elements))
          place.refuse("its shape has more elements than 64 bits count");
    const auto found = storages_.find(storage);
    if (found == storages_.end()) place.refuse("its storage ", storage, " is not in the file");
    const Tensor& flat = *found->second;
    if (flat.rank != 1 || !flat.is_contiguous())
      place.refuse("its storage ", storage, " is not a plain list");
    value.storage_bytes =
        static_cast<std::size_t>(flat.numel()) * static_cast<std::size_t>(size_of(flat.dtype));
    value.storage = std::shared_ptr<void>(bundle_, flat.data);
    const auto at = text.find("offset");
    if (at == text.end()) place.refuse("offset is absent");
    const std::int64_t offset = place.integer(*at, "offset");
    value.tensor = Tensor::strided(nullptr, *dtype, shape, strides);
    const std::int64_t span = bundle::span_bytes(value.tensor),
                       bytes = static_cast<std::int64_t>(value.storage_bytes);
    if (offset < 0 || offset % size_of(*dtype) != 0)
      place.refuse("offset is ", offset, ", expected a multiple of ", size_of(*dtype), " bytes");
    if (offset > bytes || span < 0 || span > bytes - offset)
      place.refuse("its elements reach outside of its storage ", storage, " of ", bytes, " bytes");
    value.storage_offset = static_cast<std::size_t>(offset);
    if (flat.data != nullptr) value.tensor.data = static_cast<std::byte*>(flat.data) + offset;
  }

  std::shared_ptr<const Bundle> bundle_;
  std::map<std::string, const Tensor*> storages_;
  Place subject_;
};

}  // namespace

Recording recording_of(const Bundle& bundle, const std::string& subject) {
  return Reading(bundle, subject).recording();
}

bool has_held(const RecordedCall& call) {
  return std::find(call.held.begin(), call.held.end(), true) != call.held.end();
}

Recording load_recording(const std::string& path) { return recording_of(load(path), "load: " + path); }

}  // namespace isomer::lab
