#include "lab/candidate/emulated/convert.hpp"

#include <isomer/dtype.hpp>

#include <cstring>
#include <span>

#include <fmt/format.h>

namespace isomer::lab {
namespace {

using emulator::EntryInfo;
using emulator::EntryParameter;
using emulator::SessionValue;

// The emulator's numbers of element types are ours; one more of its own has no name here.
constexpr emulator::Element kBoolean = 14;

DType dtype_of_element(emulator::Element element) {
  if (element == kBoolean) return DType::u8;
  return element < kDTypeCount ? static_cast<DType>(element) : DType::none;
}

static_assert(static_cast<int>(DType::u8) == 12 && static_cast<int>(DType::i16) == 13 &&
              static_cast<int>(Parameter::Kind::unknown) == static_cast<int>(EntryParameter::Kind::unknown));

SourcePlace place_of(const emulator::Place& place) { return {place.file, static_cast<int>(place.line)}; }

/// What the emulator says of an access in a sentence, as facts.
Seen seen_of(emulator::Report& r) {
  // Stores that agree for these inputs may not for others: whether they are harmless is judged by the
  // answers.
  const bool benign = r.kind == emulator::Kind::benign_race;
  if (benign) r.kind = emulator::Kind::race;
  Seen seen{emulator::name(r.kind),
            std::move(r.text),
            std::move(r.kernel),
            std::move(r.buffer),
            -1,
            place_of(r.place),
            place_of(r.other),
            r.count};
  seen.stores_twice = benign;
  seen.shared = r.where == emulator::Where::shared;
  seen.local = r.where == emulator::Where::local;
  seen.null = r.where == emulator::Where::null;
  seen.nowhere = r.where == emulator::Where::nowhere;
  seen.unnamed_lane = r.own_lane_unnamed;
  return seen;
}

Value with_storage_of(Value value, const SessionValue& left) {
  if (value.is_tensor()) {
    value.storage = left.storage;
    value.tensor.data = static_cast<std::byte*>(left.storage.get()) + value.storage_offset;
  }
  for (std::size_t i = 0; i < value.items.size(); ++i)
    value.items[i] = with_storage_of(value.items[i], left.items[i]);
  return value;
}

}  // namespace

SessionValue session_value(const Value& value, std::size_t index) {
  SessionValue out;
  out.kind = static_cast<emulator::ValueKind>(value.kind);
  out.name = value.name.empty() ? fmt::format("argument {}", index + 1) : value.name;
  out.integer = value.integer;
  out.real = value.real;
  out.text = value.text;
  if (value.kind == Value::Kind::dtype)
    out.element = static_cast<emulator::Element>(dtype_of(value.text).value_or(DType::none));
  if (value.is_tensor()) {
    const auto rank = static_cast<std::size_t>(value.tensor.rank);
    out.element = value.boolean ? kBoolean : static_cast<emulator::Element>(value.tensor.dtype);
    out.shape.assign(value.tensor.shape.begin(), value.tensor.shape.begin() + rank);
    out.strides.assign(value.tensor.strides.begin(), value.tensor.strides.begin() + rank);
    out.storage = value.storage;
    out.storage_bytes = value.storage_bytes;
    out.storage_offset = value.storage_offset;
  }
  for (std::size_t i = 0; i < value.items.size(); ++i) out.items.push_back(session_value(value.items[i], i));
  return out;
}

Value lab_value(const SessionValue& from) {
  Value value;
  value.kind = static_cast<Value::Kind>(from.kind);
  value.integer = from.integer;
  value.real = from.real;
  value.text = from.text;
  if (value.kind == Value::Kind::dtype) value.text = name_of(dtype_of_element(from.element));
  if (value.is_tensor()) {
    value.boolean = from.element == kBoolean;
    value.storage = from.storage;
    value.storage_bytes = from.storage_bytes;
    value.storage_offset = from.storage_offset;
    value.tensor =
        Tensor::strided(static_cast<std::byte*>(from.storage.get()) + from.storage_offset,
                        dtype_of_element(from.element), std::span(from.shape), std::span(from.strides));
  }
  for (const SessionValue& item : from.items) value.items.push_back(lab_value(item));
  return value;
}

Entry lab_entry(const EntryInfo& info) {
  Entry entry;
  entry.form = info.form == EntryInfo::Form::kernel ? Entry::Form::kernel
               : info.form == EntryInfo::Form::exported || info.takes_tensors || info.returned_tensors
                   ? Entry::Form::extension
                   : Entry::Form::function;
  entry.name = info.name;
  entry.function = info.function;
  entry.exported = info.form == EntryInfo::Form::exported;
  entry.returned_tensors = info.returned_tensors;
  entry.place = {info.file, info.line};
  for (const EntryParameter& p : info.parameters) {
    Parameter parameter;
    parameter.kind = static_cast<Parameter::Kind>(p.kind);
    parameter.name = p.name;
    parameter.type = p.type;
    // Words of 16 bits may hold numbers of any such type.
    parameter.element = dtype_of_element(p.element);
    if (parameter.element == DType::i16) parameter.element = DType::none;
    parameter.is_const = p.is_const;
    parameter.bits = p.bits;
    parameter.has_default = p.has_default;
    parameter.has_keyword = p.has_keyword;
    entry.parameters.push_back(std::move(parameter));
  }
  return entry;
}

Answer lab_answer(emulator::CallResult result, const std::vector<Value>& arguments) {
  static_assert(static_cast<int>(Answer::End::too_large) ==
                static_cast<int>(emulator::CallResult::End::too_large));
  Answer answer;
  answer.end = static_cast<Answer::End>(result.end);
  answer.message = std::move(result.message);
  // What PyTorch asks of its developers is nothing to the reader.
  answer.message = answer.message.substr(0, answer.message.find("  (Could this error message be improved?"));
  answer.place = place_of(result.place);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    answer.arguments.push_back(with_storage_of(arguments[i], result.arguments[i]));
  for (const SessionValue& v : result.returned) answer.returned.push_back(lab_value(v));
  for (emulator::Report& r : result.reports) {
    // Whatever such a read has seen, the swap decides.
    if (!r.looks_again) answer.seen.push_back(seen_of(r));
    // A kernel that stopped the process tells where by its report.
    const bool ended = r.kind == emulator::Kind::crash || r.kind == emulator::Kind::stack_overflow ||
                       r.kind == emulator::Kind::step_limit || r.kind == emulator::Kind::endless_wait;
    if (ended && answer.place.line == 0) answer.place = place_of(r.place);
    // After an assertion that fails a device answers nothing. Where its very first thread says no, and by no
    // element of an array, it refuses the call; where others do, something in the kernel is not as its author
    // thinks.
    if (r.kind == emulator::Kind::assertion && !answer.asserted) {
      constexpr emulator::Index3 kFirst{};
      const bool says_no =
          r.block == kFirst && r.thread == kFirst && r.asserted.find('[') == std::string::npos;
      answer.asserted = true;
      answer.end = says_no ? Answer::End::refused : Answer::End::crashed;
      answer.place = place_of(r.place);
      answer.message =
          fmt::format("{} asserts {}, which does not hold{}", answer.seen.back().kernel, r.asserted,
                      says_no ? ""
                              : fmt::format(" in thread ({},{},{}) of block ({},{},{})", r.thread[0],
                                            r.thread[1], r.thread[2], r.block[0], r.block[1], r.block[2]));
    }
    // What the emulator has let go of would never have come back from a device. On a slow machine its time
    // may be up before that.
    if (r.kind == emulator::Kind::endless_wait &&
        (answer.end == Answer::End::returned || answer.end == Answer::End::timed_out)) {
      answer.end = Answer::End::timed_out;
      answer.waits_for_ever = true;
      answer.message = answer.seen.back().text;
    }
  }
  static_assert(static_cast<int>(RefusedLaunch::Cause::no_host_memory) ==
                static_cast<int>(emulator::Refusal::Cause::no_host_memory));
  for (emulator::Refusal& each : result.refusals)
    answer.refused_launches.push_back(
        {static_cast<RefusedLaunch::Cause>(each.cause), std::move(each.kernel), std::move(each.text)});
  answer.unknown_element = result.unknown_element;
  answer.no_blocks =
      !answer.refused_launches.empty() &&
      std::all_of(answer.refused_launches.begin(), answer.refused_launches.end(),
                  [](const RefusedLaunch& each) { return each.cause == RefusedLaunch::Cause::no_blocks; });
  answer.launches = static_cast<int>(result.launches.size());
  answer.worked_seconds = result.worked_seconds;
  answer.reached_edits = std::move(result.reached_edits);
  answer.output = std::move(result.output);
  answer.device = std::move(result.device);
  answer.seconds = std::move(result.seconds);
  answer.differing = result.differing;
  return answer;
}

}  // namespace isomer::lab
