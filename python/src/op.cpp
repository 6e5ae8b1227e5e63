#include "op.hpp"

#include "core/public_plan.hpp"
#include "core/sentence.hpp"
#include "dtypes.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace isomer::python {
namespace {

using core::fail;
using core::Role;
constexpr auto kBad = ErrorCode::bad_argument;

/// Ahead of the tensors.
constexpr std::size_t kQueue = 0, kDtype = 1, kTensors = 2;

/// What a bool, or NumPy's, says.
std::optional<bool> truth(PyObject* object) {
  if (object == Py_True || object == Py_False) return object == Py_True;
  const std::string type = type_of(object);
  if (type != "bool_" && type != "bool") return {};
  const int is = PyObject_IsTrue(object);
  if (is < 0) throw Raised{};
  return is != 0;
}

std::int64_t integer_of(PyObject* object, const std::string& op, const std::string& name) {
  if (PyBool_Check(object) || !PyIndex_Check(object))
    fail(kBad, op, ": ", name, " is ", shown(object), ", expected an integer");
  const Ref index(PyNumber_Index(object));  // an array of several has none
  if (!index) {
    take_raised();
    fail(kBad, op, ": ", name, " is ", shown(object), ", expected an integer");
  }
  const long long value = PyLong_AsLongLong(index.get());
  if (value == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    fail(kBad, op, ": ", name, " is ", shown(index.get()), ", expected an integer of 64 bits");
  }
  return value;
}

void set_option(const core::Option& option, PyObject* value, std::byte* options, const std::string& op) {
  using Kind = core::Option::Kind;
  switch (option.kind) {
    case Kind::integer: {
      const std::int64_t number = integer_of(value, op, option.name);
      if (option.bytes == 4 && number != static_cast<std::int32_t>(number))
        fail(kBad, op, ": ", option.name, " is ", number, ", expected an integer of 32 bits");
      return option.set(options, number);
    }
    case Kind::f32: {
      if (PyBool_Check(value) || PyUnicode_Check(value))
        fail(kBad, op, ": ", option.name, " is ", shown(value), ", expected a number");
      const double number = PyFloat_AsDouble(value);
      if (number == -1.0 && PyErr_Occurred()) {
        take_raised();
        fail(kBad, op, ": ", option.name, " is ", shown(value), ", expected a number");
      }
      return option.set(options, static_cast<float>(number));
    }
    case Kind::boolean: {
      const std::optional<bool> is = truth(value);
      if (!is) fail(kBad, op, ": ", option.name, " is ", shown(value), ", expected True or False");
      return option.set(options, std::int64_t{*is});
    }
    case Kind::choice: {
      std::string text;
      const auto& names = option.enumerators;
      const auto found = as_text(value, text) ? std::find(names.begin(), names.end(), text) : names.end();
      if (found == names.end())
        fail(kBad, op, ": ", option.name, " is ", shown(value), ", expected ", core::either(names));
      return option.set(options, std::int64_t{found - names.begin()});
    }
  }
}

std::uint32_t bit(std::size_t index) { return std::uint32_t{1} << index; }

/// The symbols that stand in a rule's dimensions.
bool symbols_within(const core::ShapeRule& rule, const std::vector<bool>& known, bool leading_known) {
  using Kind = core::ShapeRule::Term::Kind;
  if (rule.leading && !leading_known) return false;
  return std::all_of(rule.terms.begin(), rule.terms.end(), [&](const core::ShapeRule::Term& term) {
    if (term.kind == Kind::any) return false;
    if (term.kind == Kind::symbol) return bool{known[static_cast<std::size_t>(term.symbol)]};
    return true;  // a number, or an expression over symbols that stand alone somewhere
  });
}

}  // namespace

Op::Op(const core::Registry::Op& entry) : entry_(&entry) {
  const core::Contract& contract = *entry.contract;
  std::vector<bool> known(contract.symbol_names.size());
  bool leading_known = false;
  for (std::size_t i = 0; i < contract.args.size(); ++i) {
    const core::Arg& arg = contract.args[i];
    if (arg.role == Role::out) {
      outputs_ |= bit(i);
      if (arg.optional) optional_outputs_.push_back(i);
      chooses_dtype_ = chooses_dtype_ || (arg.dtypes.size() > 1 && arg.dtype_same_as.empty());
      continue;
    }
    inputs_ |= bit(i);
    for (const core::ShapeRule& rule : arg.rules) {
      leading_known = leading_known || rule.leading;
      for (const auto& term : rule.terms)
        if (term.kind == core::ShapeRule::Term::Kind::symbol)
          known[static_cast<std::size_t>(term.symbol)] = true;
    }
  }
  for (std::size_t i = 0; i < contract.args.size(); ++i)
    for (const core::ShapeRule& rule : contract.args[i].rules)
      if ((outputs_ & bit(i)) != 0 && symbols_within(rule, known, leading_known)) derivable_ |= bit(i);

  std::size_t bytes = 0;
  for (std::size_t i = 0; i < contract.options.size(); ++i) {
    const core::Option& option = contract.options[i];
    bytes = std::max(bytes, option.offset + option.bytes);
    const std::size_t stem = option.name.rfind("_left");
    if (i + 1 < contract.options.size() && stem != std::string::npos && stem + 5 == option.name.size() &&
        contract.options[i + 1].name == option.name.substr(0, stem) + "_right") {
      parameters_.push_back({option.name.substr(0, stem), &option, &contract.options[i + 1]});
      bytes = std::max(bytes, contract.options[i + 1].offset + contract.options[i + 1].bytes);
      ++i;
    } else {
      parameters_.push_back({option.name, &option});
    }
  }
  defaults_.resize((bytes + 7) / 8 * 8);
  for (const core::Option& option : contract.options)
    if (option.kind == core::Option::Kind::f32)
      option.set(defaults_.data(), static_cast<float>(option.value));
    else
      option.set(defaults_.data(), static_cast<std::int64_t>(option.value));
}

const std::vector<Op>& ops() {
  static const auto* const made = [] {
    auto* list = new std::vector<Op>;
    for (const core::Registry::Op& entry : core::Registry::builtin().ops()) list->emplace_back(entry);
    return list;
  }();
  return *made;
}

/// What one call has read.
struct Op::Frame {
  explicit Frame(const Op& called) : op(called), count(called.contract().args.size()) {
    for (std::size_t i = 0; i < count; ++i) new (tensors() + i) Tensor;
    call.contract = &op.contract();
    call.count = static_cast<int>(count);
    for (std::size_t i = 0; i < count; ++i)
      call.tensors[i] = reinterpret_cast<const Tensor*>(args + call.contract->offsets[i]);
    call.args_struct = args;
    call.args_bytes = count * sizeof(Tensor);
  }
  // Every args struct is its tensors and nothing else.
  Tensor* tensors() { return reinterpret_cast<Tensor*>(args); }
  Tensor& tensor(std::size_t i) { return *const_cast<Tensor*>(call.tensors[i]); }

  void read(std::size_t i, PyObject* object, bool written) {
    views[i].emplace().read(object, {op.contract().op, op.contract().args[i].name}, written);
    objects[i] = object;
    tensor(i) = views[i]->tensor;
  }
  void read_made(std::size_t i, PyObject* object) {
    views[i].emplace().read_made(object, {op.contract().op, op.contract().args[i].name});
    objects[i] = object;
    tensor(i) = views[i]->tensor;
  }

  const Op& op;
  std::size_t count;
  alignas(Tensor) std::byte args[core::Call::kMaxArgs * sizeof(Tensor)];
  std::array<std::optional<View>, core::Call::kMaxArgs> views;
  std::array<PyObject*, core::Call::kMaxArgs> objects{};  ///< borrowed, of the caller's or of `allocated`
  std::vector<Ref> allocated;
  core::Call call;
};

void Op::read_options(PyObject* const* given, std::byte* options) const {
  const std::string& op = contract().op;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& parameter = parameters_[i];
    if (given[i] == Py_None) continue;
    if (parameter.second == nullptr) {
      set_option(*parameter.first, given[i], options, op);
      continue;
    }
    const bool pair = (PyTuple_Check(given[i]) && PyTuple_Size(given[i]) == 2) ||
                      (PyList_Check(given[i]) && PyList_Size(given[i]) == 2);
    if (!pair)
      fail(kBad, op, ": ", parameter.name, " is ", shown(given[i]), ", expected two integers (left, right)");
    const Ref first = owned(PySequence_GetItem(given[i], 0)), second = owned(PySequence_GetItem(given[i], 1));
    set_option(*parameter.first, first.get(), options, op);
    set_option(*parameter.second, second.get(), options, op);
  }
}

Ref Op::outputs(const Frame& frame, std::uint32_t returned) const {
  Ref list;
  int count = 0;
  for (std::size_t i = 0; i < frame.count; ++i)
    if ((outputs_ & bit(i)) != 0 && (returned & bit(i)) != 0) ++count;
  if (count != 1) list = owned(PyTuple_New(count));
  int at = 0;
  for (std::size_t i = 0; i < frame.count; ++i) {
    if ((outputs_ & bit(i)) == 0 || (returned & bit(i)) == 0) continue;
    Py_INCREF(frame.objects[i]);
    if (count == 1) return Ref(frame.objects[i]);
    PyTuple_SetItem(list.get(), at++, frame.objects[i]);
  }
  return list;
}

Ref Op::call(PyObject* const* given, Py_ssize_t count) const {
  const core::Contract& contract = this->contract();
  const std::size_t tensors = contract.args.size();
  if (static_cast<std::size_t>(count) != kTensors + tensors + optional_outputs_.size() + parameters_.size())
    fail(ErrorCode::internal, contract.op, ": called with ", count, " parameters");
  const Request* const request = given[kQueue] == Py_None ? nullptr : request_of(given[kQueue]);
  const PyPlan* const planned = request != nullptr ? request->planned : nullptr;
  if (planned != nullptr && planned->op != this)
    fail(kBad, contract.op, ": the plan is one of ", planned->op->contract().op);

  Frame frame(*this);
  std::uint32_t present = 0;
  for (std::size_t i = 0; i < tensors; ++i)
    if (given[kTensors + i] != Py_None) {
      frame.read(i, given[kTensors + i], contract.args[i].role == Role::out);
      present |= bit(i);
    }
  if ((present & inputs_) == 0)
    fail(kBad, contract.op, ": ", contract.args[0].name, " is required, got no tensor");
  std::size_t first = 0;
  while ((present & inputs_ & bit(first)) == 0) ++first;
  const Family family = frame.views[first]->family;
  const Device device = frame.tensor(first).device;

  alignas(std::max_align_t) std::byte options[512];
  const std::size_t option_bytes = defaults_.size();
  if (option_bytes > sizeof options) fail(ErrorCode::internal, contract.op, ": too many options");
  std::memcpy(options, planned != nullptr ? planned->options.data() : defaults_.data(), option_bytes);
  PyObject* const* const flags = given + kTensors + tensors;
  if (planned == nullptr) read_options(flags + optional_outputs_.size(), options);
  frame.call.options_struct = options;
  frame.call.options_bytes = option_bytes;

  std::uint32_t returned = outputs_;
  for (std::size_t j = 0; j < optional_outputs_.size(); ++j) {
    const std::size_t i = optional_outputs_[j];
    const std::optional<bool> asked =
        planned != nullptr ? (planned->returned & bit(i)) != 0 : truth(flags[j]);
    if (!asked)
      fail(kBad, contract.op, ": return_", contract.args[i].name, " is ", shown(flags[j]),
           ", expected True or False");
    if (!*asked && (present & bit(i)) == 0) returned &= ~bit(i);
  }
  const DType element = planned != nullptr         ? planned->element
                        : given[kDtype] == Py_None ? DType::none
                                                   : dtype_of_object(given[kDtype], contract.op);
  if (const std::uint32_t missing = returned & ~present; missing != 0) {
    for (std::size_t i = 0; i < tensors; ++i)
      if ((missing & ~derivable_ & bit(i)) != 0)
        fail(kBad, contract.op, ": ", contract.args[i].name, " is required: its sizes follow from no input");
    std::array<Tensor, core::Call::kMaxArgs> forms;
    core::shape_outputs(frame.call, missing, element, forms.data());
    for (std::size_t i = 0; i < tensors; ++i) {
      if ((missing & bit(i)) == 0) continue;
      frame.allocated.push_back(allocate(forms[i], family, frame.objects[first], frame.tensor(first),
                                         {contract.op, contract.args[i].name}));
      frame.read_made(i, frame.allocated.back().get());
    }
  }

  if (planned != nullptr) {
    const Queue& queue = planned->plan.queue();
    {
      const Unlocked unlocked;
      core::PlanAccess::run(planned->plan, frame.args);
      if (family == Family::jax || family == Family::other) queue.synchronize();
    }
    return outputs(frame, returned);
  }
  PyObject* const where = request != nullptr ? request->queue.get() : given[kQueue];
  const PyQueue* const asked = where == Py_None ? nullptr : queue_of(where);
  if (where != Py_None && asked == nullptr)
    fail(kBad, contract.op, ": queue is ", shown(where), ", expected an isomer.Queue");
  // A copy: another thread may close the caller's while the call runs.
  const Queue queue = asked != nullptr ? asked->open(contract.op) : default_queue(device, family);
  if (request != nullptr && request->kind == Request::Kind::explain)
    return explanation_object(core::explain(queue, frame.call));
  if (request != nullptr) {
    std::optional<AnyPlan> plan;
    {
      const Unlocked unlocked;
      plan = core::PlanAccess::make(queue, frame.call);
    }
    return plan_object({*plan, this, {options, options + option_bytes}, returned, element});
  }
  {
    const Unlocked unlocked;
    core::dispatch(queue, frame.call);
    // Nobody tells these libraries' streams what must come after it.
    if (device.type != DeviceType::cpu && (family == Family::jax || family == Family::other))
      queue.synchronize();
  }
  return outputs(frame, returned);
}

}  // namespace isomer::python
