#include "bundle/bundle.hpp"
#include "core/sentence.hpp"
#include "lab/record/recording_format.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace isomer::lab {

using nlohmann::json;

std::string_view name_of(Value::Kind kind) {
  constexpr std::string_view kNames[] = {"none", "tensor", "integer", "real",   "boolean",
                                         "text", "dtype",  "list",    "omitted"};
  return kNames[static_cast<std::size_t>(kind)];
}

namespace {

/// One side of a call: storages met here keep their identity.
using Side = std::map<const void*, std::string>;

class Writing {
 public:
  explicit Writing(std::string subject) : subject_(std::move(subject)) {}

  json value(const Value& value, const std::string& place, Side& side) {
    json text = {{"kind", name_of(value.kind)}, {"name", value.name}};
    switch (value.kind) {
      case Value::Kind::none:
      case Value::Kind::omitted:
        break;
      case Value::Kind::tensor:
        tensor(value, place, side, text);
        break;
      case Value::Kind::integer:
        text["value"] = value.integer;
        break;
      case Value::Kind::real:
        if (std::isfinite(value.real))
          text["value"] = value.real;
        else
          text["value"] = std::isnan(value.real) ? "nan" : value.real > 0 ? "inf" : "-inf";
        break;
      case Value::Kind::boolean:
        text["value"] = value.integer != 0;
        break;
      case Value::Kind::text:
      case Value::Kind::dtype:
        text["value"] = value.text;
        break;
      case Value::Kind::list:
        text["items"] = json::array();
        for (std::size_t i = 0; i < value.items.size(); ++i)
          text["items"].push_back(this->value(value.items[i], core::say(place, ".", i), side));
        break;
    }
    return text;
  }

  const std::vector<NamedTensor>& tensors() const { return tensors_; }

 private:
  void tensor(const Value& value, const std::string& place, Side& side, json& text) {
    const Tensor& tensor = value.tensor;
    const auto element = static_cast<std::size_t>(size_of(tensor.dtype));
    if (element == 0) core::fail(ErrorCode::bad_argument, subject_, place, " has an unknown dtype");
    const std::int64_t span = bundle::span_bytes(tensor);
    if (span < 0 || (value.storage_bytes > 0 && value.storage == nullptr) ||
        value.storage_offset > value.storage_bytes ||
        static_cast<std::size_t>(span) > value.storage_bytes - value.storage_offset)
      core::fail(ErrorCode::bad_argument, subject_, place, " does not lie in its storage of ",
                 value.storage_bytes, " bytes");
    text["dtype"] = isomer::name_of(tensor.dtype);
    if (value.boolean) text["boolean"] = true;
    text["shape"] = std::vector(tensor.shape.begin(), tensor.shape.begin() + tensor.rank);
    text["strides"] = std::vector(tensor.strides.begin(), tensor.strides.begin() + tensor.rank);
    text["offset"] = value.storage_offset;
    text["storage"] = storage(value, place, side);
  }

  /// The name of the file's tensor that holds these bytes. Storages of equal content are written once, but
  /// never two of one side: there they would look like one.
  std::string storage(const Value& value, const std::string& place, Side& side) {
    const void* identity = value.storage.get();
    if (identity != nullptr)
      if (const auto known = side.find(identity); known != side.end()) return known->second;
    const auto element = static_cast<std::size_t>(size_of(value.tensor.dtype));
    const bool whole = value.storage_bytes % element == 0;
    const DType type = whole ? value.tensor.dtype : DType::u8;
    const std::int64_t count[] = {
        static_cast<std::int64_t>(value.storage_bytes / (whole ? element : std::size_t{1}))};
    const Tensor flat(identity, type, count);
    const std::string_view bytes(value.storage_bytes > 0 ? static_cast<const char*>(identity) : "",
                                 value.storage_bytes);
    std::string name;
    auto [begin, end] = written_.equal_range(std::hash<std::string_view>{}(bytes));
    for (; begin != end && name.empty(); ++begin) {
      const NamedTensor& each = tensors_[begin->second];
      const bool taken =
          std::any_of(side.begin(), side.end(), [&](const auto& known) { return known.second == each.name; });
      if (each.tensor.dtype == type && each.tensor.size(0) == count[0] && !taken &&
          (bytes.empty() || std::memcmp(each.tensor.data, identity, bytes.size()) == 0))
        name = each.name;
    }
    if (name.empty()) {
      name = place;
      for (int again = 2; !names_.insert(name).second; ++again) name = core::say(place, "#", again);
      written_.emplace(std::hash<std::string_view>{}(bytes), tensors_.size());
      tensors_.push_back({name, flat});
    }
    if (identity != nullptr) side.emplace(identity, name);
    return name;
  }

  std::string subject_;
  std::vector<NamedTensor> tensors_;
  std::set<std::string> names_;
  std::multimap<std::size_t, std::size_t> written_;  ///< hash of the bytes → index in tensors_
};

std::string part(const Value& value, std::size_t index) {
  return value.name.empty() ? std::to_string(index) : value.name;
}

}  // namespace

void save_recording(const std::string& path, const Recording& recording) {
  Writing writing("save: " + path + ": ");
  const auto written = [&](const RecordedCall& call, const std::string& c) {
    if (!call.after.empty() && call.after.size() != call.before.size())
      core::fail(ErrorCode::bad_argument, "save: ", path, ": call ", c, " has ", call.before.size(),
                 " arguments before it and ", call.after.size(), " after it");
    json text = {{"function", call.function}, {"group", call.group}, {"raised", call.raised}};
    const auto list = [&](const char* when, const std::vector<Value>& values, Side& side) {
      json& all = text[when] = json::array();
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::string place = core::say(c, ".", when, ".", part(values[i], i));
        all.push_back(writing.value(values[i], place, side));
      }
    };
    Side arguments, answers;
    list("before", call.before, arguments);
    for (std::size_t i = 0; i < std::min(call.keyword.size(), call.before.size()); ++i)
      if (call.keyword[i]) text["before"][i]["keyword"] = true;
    for (std::size_t i = 0; i < std::min(call.held.size(), call.before.size()); ++i)
      if (call.held[i]) text["before"][i]["held"] = true;
    if (!call.left_out.empty()) list("left_out", call.left_out, arguments);
    if (!call.computed.empty()) list("computed", call.computed, arguments);
    if (!call.around.empty()) list("around", call.around, arguments);
    for (std::size_t i = 0; i < std::min(call.strided.size(), call.before.size()); ++i)
      if (call.strided[i] > 0) text["before"][i]["strided"] = call.strided[i];
    for (std::size_t i = 0; i < std::min(call.idle.size(), call.before.size()); ++i)
      if (call.idle[i] || (i < call.idle_asked.size() && call.idle_asked[i]))
        text["before"][i]["idle"] = bool(call.idle[i]);
    list("after", call.after, answers);
    list("returned", call.returned, answers);
    if (!call.unset.empty()) list("unset", call.unset, answers);
    if (!call.noise.empty()) list("noise", call.noise, answers);
    if (!call.seconds.empty()) text["seconds"] = call.seconds;
    if (call.full) text["full"] = true;
    if (!call.asked.empty()) text["asked"] = call.asked;
    if (call.asked == "size" || call.asked == "larger") text["size"] = {call.size_before, call.size};
    return text;
  };
  json calls = json::array(), asked = json::array();
  for (const RecordedCall& call : recording.calls)
    calls.push_back(written(call, std::to_string(calls.size())));
  for (const RecordedCall& call : recording.asked)
    asked.push_back(written(call, core::say("beyond.", asked.size())));
  std::map<std::string, std::string> metadata = recording.metadata;
  for (const char* own : {"format", "calls", "asked", "edited"})
    if (metadata.contains(own))
      core::fail(ErrorCode::bad_argument, "save: ", path, ": metadata ", own,
                 " is a key that save_recording itself writes");
  metadata["format"] = kRecordingFormat;
  metadata["calls"] = calls.dump(-1, ' ', false, json::error_handler_t::replace);
  if (!asked.empty()) metadata["asked"] = asked.dump(-1, ' ', false, json::error_handler_t::replace);
  std::vector<NamedTensor> tensors = writing.tensors();
  std::vector<float> answers;
  if (!recording.edited.edits.empty()) {
    constexpr const char* kStorage = "edited.answers";
    metadata["edited"] = text_of(recording.edited, kStorage, answers);
    const std::int64_t count[] = {static_cast<std::int64_t>(answers.size())};
    tensors.push_back({kStorage, Tensor(answers.data(), DType::f32, count)});
  }
  save(path, tensors, metadata);
}

}  // namespace isomer::lab
