#include "lab/ask/names/bare.hpp"
#include "lab/ask/names/role_names.hpp"
#include "lab/ask/recorded/replayed.hpp"

#include <algorithm>
#include <string>

namespace isomer::lab {
namespace {

bool is_python_number(const Value& value) {
  return value.kind == Value::Kind::integer || value.kind == Value::Kind::boolean ||
         value.kind == Value::Kind::real;
}

/// Memory that an entry may write, but for what is lent and for arguments that the call only reads.
std::vector<const Parameter*> written_by(const Entry& entry, const Replayed& call) {
  std::vector<const Parameter*> list;
  for (const Parameter& p : entry.parameters) {
    if (p.kind != Parameter::Kind::pointer || p.is_const) continue;
    const auto role = std::find_if(call.roles.begin(), call.roles.end(),
                                   [&](const Port::Role& each) { return bare(each.name) == bare(p.name); });
    if (role == call.roles.end() ? !is_lent_room(p) && !is_cleared_room(p) : role->output) list.push_back(&p);
  }
  return list;
}

/// The type of memory for a number: that of the first parameter that may be meant.
DType type_for(const Value& value, const std::vector<const Parameter*>& memory) {
  const bool real = value.kind == Value::Kind::real;
  for (const DType type :
       real ? std::vector<DType>{DType::f32, DType::f64} : std::vector<DType>{DType::i32, DType::i64})
    if (std::any_of(memory.begin(), memory.end(), [&](const Parameter* p) { return p->element == type; }))
      return type;
  return DType::none;
}

void put_number(const Value& value, const Tensor& tensor) {
  switch (tensor.dtype) {
    case DType::f32:
      *static_cast<float*>(tensor.data) = static_cast<float>(value.real);
      break;
    case DType::f64:
      *static_cast<double*>(tensor.data) = value.real;
      break;
    case DType::i32:
      *static_cast<std::int32_t*>(tensor.data) = static_cast<std::int32_t>(value.integer);
      break;
    default:
      *static_cast<std::int64_t*>(tensor.data) = value.integer;
      break;
  }
}

}  // namespace

void take_number_results(const Entry& entry, std::vector<Replayed>& calls) {
  if (entry.form == Entry::Form::extension || calls.empty()) return;
  for (Replayed& call : calls) {
    const std::vector<Value>& returned = call.call->returned;
    const auto numbers =
        static_cast<std::size_t>(std::count_if(returned.begin(), returned.end(), is_python_number));
    const auto others = static_cast<std::size_t>(std::count_if(call.outputs.begin(), call.outputs.end(),
                                                               [](const auto& each) { return !each.again; }));
    const std::vector<const Parameter*> memory = written_by(entry, call);
    if (numbers == 0 || memory.size() < numbers + others) continue;
    const std::size_t before = call.call->before.size();
    for (std::size_t i = 0; i < returned.size() && before + i < call.roles.size(); ++i) {
      if (!is_python_number(returned[i])) continue;
      const DType type = type_for(returned[i], memory);
      if (type == DType::none) continue;
      Port::Role& role = call.roles[before + i];
      Value want = tensor_value(role.name, type, {1});
      put_number(returned[i], want.tensor);
      role.tensor = true;
      call.values[before + i] = tensor_value(role.name, type, {1});
      call.outputs.push_back(
          {role.name, static_cast<int>(before + i), static_cast<int>(i), want.tensor, Tensor()});
      call.kept.push_back(std::move(want));
    }
  }
}

}  // namespace isomer::lab
