// The module isomer._isomer: the ops of the registry as functions, queues and plans as classes, and what the
// contracts say as data. isomer/_functions.py makes the package's functions of it.
#include "op.hpp"

#include <isomer/devices.hpp>

#include "core/public_plan.hpp"
#include "core/record.hpp"
#include "core/sentence.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <mutex>
#include <optional>

namespace nb = nanobind;
using namespace nb::literals;

namespace isomer::python {
namespace {

PyObject* call_op(PyObject* self, PyObject* const* given, Py_ssize_t count) {
  try {
    return static_cast<const Op*>(PyCapsule_GetPointer(self, nullptr))->call(given, count).release();
  } catch (...) {
    raise_caught();
    return nullptr;
  }
}

const char* role_text(const core::Arg& arg) {
  return arg.role == core::Role::in ? "in" : arg.role == core::Role::out ? "out" : "inout";
}

const char* strides_text(core::Strides strides) {
  return strides == core::Strides::any               ? "any strides"
         : strides == core::Strides::last_contiguous ? "last dimension contiguous"
                                                     : "contiguous";
}

nb::str text(const std::string& words) { return nb::str(words.data(), words.size()); }

nb::object value_of(const core::Option& option) {
  using Kind = core::Option::Kind;
  if (option.kind == Kind::boolean) return nb::bool_(option.value != 0);
  if (option.kind == Kind::choice) return text(option.enumerators.at(static_cast<std::size_t>(option.value)));
  if (option.fallback != option.text_of(option.value)) return nb::none();
  if (option.kind == Kind::f32) return nb::float_(std::stod(option.fallback));
  return nb::int_(static_cast<std::int64_t>(option.value));
}

nb::dict option_dict(const core::Option& option) {
  nb::dict d;
  d["name"] = text(option.name);
  d["type"] = text(option.type());
  nb::list choices;
  for (const std::string& name : option.enumerators) choices.append(text(name));
  d["choices"] = nb::tuple(choices);
  d["default"] = value_of(option);
  d["default_text"] = text(option.fallback);
  d["meaning"] = text(option.meaning);
  return d;
}

nb::dict describe(const Op& op) {
  const core::Contract& contract = op.contract();
  nb::dict d;
  d["name"] = text(contract.op);
  d["summary"] = text(contract.summary);
  d["source"] = text(contract.source);
  d["tolerance"] = text(contract.tolerance);
  d["chooses_dtype"] = op.chooses_dtype();
  nb::list arguments, options, parameters, clauses, implementations;
  for (std::size_t i = 0; i < contract.args.size(); ++i) {
    const core::Arg& arg = contract.args[i];
    nb::dict a;
    a["name"] = text(arg.name);
    a["role"] = role_text(arg);
    a["optional"] = arg.optional;
    a["derivable"] = op.derivable(i);
    nb::list dtypes, shapes;
    for (const DType type : arg.dtypes) dtypes.append(text(std::string(name_of(type))));
    for (const std::string& shape : arg.shapes) shapes.append(text(shape));
    a["dtypes"] = nb::tuple(dtypes);
    a["shapes"] = nb::tuple(shapes);
    a["strides"] = strides_text(arg.strides);
    a["meaning"] = text(arg.meaning);
    arguments.append(a);
  }
  for (const core::Option& option : contract.options) options.append(option_dict(option));
  for (const Op::Parameter& parameter : op.parameters()) {
    nb::list members;
    members.append(option_dict(*parameter.first));
    if (parameter.second != nullptr) members.append(option_dict(*parameter.second));
    parameters.append(nb::make_tuple(text(parameter.name), nb::tuple(members)));
  }
  for (const core::Clause& clause : contract.clauses) clauses.append(text(clause.text));
  for (const auto& implementation : op.entry().implementations) {
    const std::string reason = implementation->unavailable();
    implementations.append(nb::make_tuple(text(implementation->name()), text(reason)));
  }
  d["arguments"] = nb::tuple(arguments);
  d["options"] = nb::tuple(options);
  d["parameters"] = nb::tuple(parameters);
  d["clauses"] = nb::tuple(clauses);
  d["implementations"] = nb::tuple(implementations);
  return d;
}

nb::list devices() {
  nb::list list;
  for (const DeviceInfo& each : isomer::devices())
    list.append(nb::make_tuple(text(to_string(each.device)), text(each.name), text(each.architecture),
                               each.memory_bytes));
  return list;
}

nb::dict named(const Named& values) {
  nb::dict d;
  for (const auto& [name, value] : values) d[text(name)] = text(value);
  return d;
}

nb::tuple launches_of(const Description& description) {
  nb::list launches;
  for (const Launch& launch : description.launches) {
    nb::dict l;
    const auto triple = [](const std::array<std::int64_t, 3>& of) {
      return nb::make_tuple(of[0], of[1], of[2]);
    };
    l["kernel"] = text(launch.kernel);
    l["grid"] = triple(launch.grid);
    l["block"] = triple(launch.block);
    l["cluster"] = triple(launch.cluster);
    l["shared_bytes"] = launch.shared_bytes;
    l["registers"] = launch.binary.registers;
    launches.append(l);
  }
  return nb::tuple(launches);
}

/// What an explanation and a launch record both have.
void add_description(nb::dict& d, const Description& description) {
  d["variant"] = named(description.variant);
  d["parameters"] = named(description.parameters);
  d["constants"] = named(description.constants);
  d["launches"] = launches_of(description);
}

nb::dict explanation_dict(const Explanation& explanation) {
  nb::dict d;
  d["op"] = text(explanation.op);
  d["implementation"] = text(explanation.implementation);
  nb::list refusals;
  for (const auto& refusal : explanation.refusals)
    refusals.append(nb::make_tuple(text(refusal.implementation), text(refusal.reason)));
  d["refusals"] = nb::tuple(refusals);
  add_description(d, explanation.description);
  d["workspace_bytes"] = explanation.workspace_bytes;
  return d;
}

/// Keeps the record of every call from its making to its stop, in any thread and without the interpreter's
/// lock.
class Listener {
 public:
  explicit Listener(bool timed) {
    listening_.emplace(
        [this](const core::LaunchRecord& record) {
          const std::lock_guard lock(mutex_);
          records_.push_back(record);
        },
        timed);
  }
  void stop() { listening_.reset(); }
  /// The records since the last time.
  nb::list take() {
    std::vector<core::LaunchRecord> taken;
    {
      const std::lock_guard lock(mutex_);
      taken.swap(records_);
    }
    nb::list list;
    for (const core::LaunchRecord& record : taken) {
      nb::dict d;
      d["op"] = text(record.op);
      d["implementation"] = text(record.implementation);
      add_description(d, record.description);
      d["seconds"] = record.seconds;
      list.append(d);
    }
    return list;
  }

 private:
  std::mutex mutex_;
  std::vector<core::LaunchRecord> records_;
  std::optional<core::Listening> listening_;  ///< ends before what it writes to
};

/// An integer, or an object of PyTorch's or CuPy's that has one.
void* stream_of(nb::handle stream) {
  if (stream.is_none()) return nullptr;
  nb::object number = nb::borrow(stream);
  for (const char* name : {"cuda_stream", "ptr"})
    if (!nb::isinstance<nb::int_>(number) && nb::hasattr(number, name)) number = number.attr(name);
  if (!nb::isinstance<nb::int_>(number))
    core::fail(ErrorCode::bad_argument, "queue: stream is ", shown(stream.ptr()),
               ", expected a stream of PyTorch or CuPy, or its handle as an integer");
  void* const pointer = PyLong_AsVoidPtr(number.ptr());
  if (PyErr_Occurred()) {
    take_raised();
    core::fail(ErrorCode::bad_argument, "queue: stream is ", shown(number.ptr()), ", expected an address");
  }
  return pointer;
}

Queue make_queue(nb::handle device, nb::handle stream, nb::handle implementation, nb::handle threads,
                 nb::handle checked) {
  const auto fail_for = [](const char* name, nb::handle value, const char* expected) {
    core::fail(ErrorCode::bad_argument, "queue: ", name, " is ", shown(value.ptr()), ", expected ", expected);
  };
  QueueOptions options;
  if (!PyBool_Check(checked.ptr())) fail_for("checked", checked, "True or False");
  options.checked = checked.ptr() == Py_True;
  if (!implementation.is_none() && !as_text(implementation.ptr(), options.implementation))
    fail_for("implementation", implementation, "a name as 'cpu/avx2'");
  if (!threads.is_none()) {
    long number = 0;
    if (!PyLong_Check(threads.ptr()) || PyBool_Check(threads.ptr()) ||
        (number = PyLong_AsLong(threads.ptr())) < 1 || number > Executor::kMaxConcurrency) {
      PyErr_Clear();
      fail_for("threads", threads, "a number from 1 to 4096");
    }
    options.executor = Executor::with_threads(static_cast<int>(number));
  }
  void* const on = stream_of(stream);
  std::string name;
  if (device.is_none()) {
    if (on != nullptr) core::fail(ErrorCode::bad_argument, "queue: stream is given without its device");
    return Queue::best(std::move(options));
  }
  if (!as_text(device.ptr(), name)) {
    const Ref words = owned(PyObject_Str(device.ptr()));  // torch.device
    if (type_of(device.ptr()) != "device" || !as_text(words.get(), name))
      fail_for("device", device, "'cpu', 'cuda:0' or 'hip:0'");
  }
  return Queue::on(device_named(name), std::move(options), on);
}

}  // namespace

const PyQueue* queue_of(PyObject* object) {
  const PyQueue* queue = nullptr;
  return nb::try_cast(nb::handle(object), queue, false) ? queue : nullptr;
}

const Request* request_of(PyObject* object) {
  const Request* request = nullptr;
  return nb::try_cast(nb::handle(object), request, false) ? request : nullptr;
}

Ref plan_object(PyPlan plan) { return Ref(nb::cast(std::move(plan)).release().ptr()); }

Ref explanation_object(const Explanation& explanation) {
  return Ref(explanation_dict(explanation).release().ptr());
}

}  // namespace isomer::python

using namespace isomer::python;

NB_MODULE(_isomer, m) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const isomer::Error&) {
      raise_caught();
    } catch (const Raised&) {
    }
  });

  nb::class_<PyQueue>(m, "Queue")
      .def(
          "__init__",
          [](PyQueue* self, nb::object device, nb::object stream, nb::object implementation,
             nb::object threads, nb::object checked) {
            new (self) PyQueue{make_queue(device, stream, implementation, threads, checked)};
          },
          "device"_a = nb::none(), nb::kw_only(), "stream"_a = nb::none(), "implementation"_a = nb::none(),
          "threads"_a = nb::none(), "checked"_a = nb::bool_(false))
      .def("synchronize",
           [](const PyQueue& self) {
             const isomer::Queue queue = self.open("queue");
             const Unlocked unlocked;
             queue.synchronize();
           })
      .def("preparing", [](const PyQueue& self) { return PyQueue{self.open("queue").preparing()}; })
      .def("close", [](PyQueue& self) { self.queue.reset(); })
      .def_prop_ro("closed", [](const PyQueue& self) { return !self.queue; })
      .def_prop_ro("device",
                   [](const PyQueue& self) { return isomer::to_string(self.open("queue").device()); })
      .def_prop_ro(
          "stream",
          [](const PyQueue& self) { return reinterpret_cast<std::uintptr_t>(self.open("queue").stream()); })
      .def_prop_ro("implementation",
                   [](const PyQueue& self) { return self.open("queue").options().implementation; })
      .def_prop_ro("checked", [](const PyQueue& self) { return self.open("queue").options().checked; })
      .def_prop_ro("threads",
                   [](const PyQueue& self) { return self.open("queue").executor().concurrency(); });

  nb::class_<PyPlan>(m, "Plan")
      .def_prop_ro("op", [](const PyPlan& self) { return self.op->contract().op; })
      .def_prop_ro("implementation", [](const PyPlan& self) { return self.plan.implementation(); })
      .def_prop_ro("workspace_bytes", [](const PyPlan& self) { return self.plan.workspace_bytes(); })
      .def_prop_ro("device", [](const PyPlan& self) { return isomer::to_string(self.plan.queue().device()); })
      .def("explain", [](const PyPlan& self) { return explanation_dict(self.plan.explain()); })
      .def("prepare", [](const PyPlan& self) {
        const isomer::AnyPlan plan = self.plan;
        const Unlocked unlocked;
        plan.prepare();
      });

  nb::class_<Listener>(m, "Listening")
      .def(nb::init<bool>(), "timed"_a)
      .def("stop", &Listener::stop)
      .def("take", &Listener::take);

  nb::class_<Request>(m, "Request");
  const auto asking = [](Request::Kind kind) {
    return [kind](nb::object queue) { return Request{kind, Ref(queue.release().ptr())}; };
  };
  m.def("explaining", asking(Request::Kind::explain), "queue"_a.none());
  m.def("planning", asking(Request::Kind::plan), "queue"_a.none());
  m.def("running", [](nb::object plan) {
    const PyPlan* const planned = nb::cast<const PyPlan*>(plan);
    return Request{Request::Kind::run, Ref(), Ref(plan.release().ptr()), planned};
  });
  m.def("describe", [] {
    nb::list list;
    for (const Op& op : ops()) list.append(describe(op));
    return list;
  });
  m.def("devices", &devices);
  m.def("version", [] { return isomer_version(); });
  m.def("set_error", [](nb::object type) { set_error_type(type.ptr()); });
  m.def("close", [] { Unlocked::close(); });

  // These are called often and with dozens of parameters: the interpreter's own fast call. A definition lives
  // as long as its function.
  nb::dict functions;
  for (const Op& op : ops()) {
    auto* const definition = new PyMethodDef{
        op.contract().op.c_str(), reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call_op)),
        METH_FASTCALL, nullptr};
    nb::object capsule = nb::steal(PyCapsule_New(const_cast<Op*>(&op), nullptr, nullptr));
    functions[op.contract().op.c_str()] = nb::steal(PyCFunction_NewEx(definition, capsule.ptr(), nullptr));
  }
  m.attr("functions") = functions;
}
