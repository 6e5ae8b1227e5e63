#include "core/sentence.hpp"
#include "lab/record/recording_format.hpp"
#include "lab/text/read_json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace isomer::lab {
namespace {

using nlohmann::json;

/// Reads what may come from anywhere.
class Edited {
 public:
  Edited(const std::vector<RecordedCall>& calls, const std::string& subject)
      : calls_(calls), subject_(subject) {}

  EditedReference read(const std::string& text,
                       const std::function<const Tensor*(const std::string&)>& answers) const {
    const json whole = read_json(text);
    EditedReference edited;
    std::size_t elements = 0;
    for (const json& each : list(whole, "calls")) {
      edited.calls.push_back(call(each));
      for (const EditedReference::Output& output : edited.calls.back().outputs) elements += output.at.size();
    }
    const std::string name = string(whole, "storage");
    const Tensor* tensor = answers(name);
    if (tensor == nullptr || tensor->dtype != DType::f32 || !tensor->is_contiguous())
      refuse("its tensor ", name, " is no list of f32 in the file");
    const json& edits = list(whole, "edits");
    if (static_cast<std::size_t>(tensor->numel()) != edits.size() * elements)
      refuse("its tensor ", name, " has ", tensor->numel(), " elements, expected ", edits.size() * elements);
    const auto* next = static_cast<const float*>(tensor->data);
    for (const json& each : edits) {
      EditedReference::Edit edit{static_cast<int>(whole_number(each, "line", 1 << 30)), string(each, "was"),
                                 string(each, "becomes"), string(each, "code")};
      edit.answers.assign(next, next + elements);
      next += elements;
      edited.edits.push_back(std::move(edit));
    }
    return edited;
  }

 private:
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    core::fail(ErrorCode::io, subject_, ": edited: ", parts...);
  }
  const json& member(const json& object, const char* key) const {
    const auto found = object.is_object() ? object.find(key) : object.end();
    if (!object.is_object() || found == object.end()) refuse(key, " is absent");
    return *found;
  }
  const json& list(const json& object, const char* key) const {
    const json& value = member(object, key);
    if (!value.is_array()) refuse(key, " is not a list");
    return value;
  }
  std::string string(const json& object, const char* key) const {
    const json& value = member(object, key);
    if (!value.is_string()) refuse(key, " is not a text");
    return value.get<std::string>();
  }
  std::int64_t number(const json& value, const char* key, std::int64_t end) const {
    const bool whole =
        value.is_number_unsigned() && value.get<std::uint64_t>() < static_cast<std::uint64_t>(end);
    if (!whole) refuse(key, " is ", value.dump().substr(0, 40), ", expected a number from 0 to ", end - 1);
    return value.get<std::int64_t>();
  }
  std::int64_t whole_number(const json& object, const char* key, std::int64_t end) const {
    return number(member(object, key), key, end);
  }

  EditedReference::Call call(const json& text) const {
    EditedReference::Call call;
    call.call =
        static_cast<std::size_t>(whole_number(text, "call", static_cast<std::int64_t>(calls_.size())));
    const RecordedCall& recorded = calls_[call.call];
    for (const json& each : list(text, "outputs")) {
      EditedReference::Output output;
      output.returned = string(each, "of") == "returned";
      const std::vector<Value>& values = output.returned ? recorded.returned : recorded.after;
      output.index =
          static_cast<std::size_t>(whole_number(each, "index", static_cast<std::int64_t>(values.size())));
      const Value& value = values[output.index];
      for (const json& at : list(each, "at"))
        output.at.push_back(number(at, "at", value.is_tensor() ? value.tensor.numel() : 0));
      call.outputs.push_back(std::move(output));
    }
    return call;
  }

  const std::vector<RecordedCall>& calls_;
  const std::string& subject_;
};

}  // namespace

EditedReference edited_reference_of(const std::string& text, const std::vector<RecordedCall>& calls,
                                    const std::function<const Tensor*(const std::string&)>& answers,
                                    const std::string& subject) {
  return Edited(calls, subject).read(text, answers);
}

std::string text_of(const EditedReference& edited, const std::string& storage, std::vector<float>& answers) {
  json calls = json::array(), edits = json::array();
  for (const EditedReference::Call& call : edited.calls) {
    json outputs = json::array();
    for (const EditedReference::Output& each : call.outputs)
      outputs.push_back(
          {{"of", each.returned ? "returned" : "after"}, {"index", each.index}, {"at", each.at}});
    calls.push_back({{"call", call.call}, {"outputs", std::move(outputs)}});
  }
  for (const EditedReference::Edit& edit : edited.edits) {
    edits.push_back({{"line", edit.line}, {"was", edit.was}, {"becomes", edit.becomes}, {"code", edit.code}});
    answers.insert(answers.end(), edit.answers.begin(), edit.answers.end());
  }
  const json whole = {{"calls", std::move(calls)}, {"edits", std::move(edits)}, {"storage", storage}};
  return whole.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace isomer::lab
