#pragma once

#include "queues.hpp"
#include "view.hpp"

#include "core/registry.hpp"

#include <array>
#include <string>
#include <vector>

namespace isomer::python {

/// A plan as Python has it, with what its runs need to allocate outputs.
struct PyPlan {
  AnyPlan plan;
  const class Op* op;
  std::vector<std::byte> options;
  std::uint32_t returned;  ///< optional outputs that it was made with, a bit for each argument
  DType element;
};

/// What is asked for in the place of a queue: a call that is planned or explained, or the run of a plan.
struct Request {
  enum class Kind { explain, plan, run } kind;
  Ref queue;  ///< None, or a Queue
  Ref plan;   ///< of a run
  const PyPlan* planned = nullptr;
};

/// One op of the registry, called with every parameter in its place:
///   queue, dtype, a tensor for each argument, a flag for each optional output, and the options, of which a
///   pair x_left, x_right is one parameter x.
class Op {
 public:
  explicit Op(const core::Registry::Op& entry);

  struct Parameter {
    std::string name;
    const core::Option* first;
    const core::Option* second = nullptr;  ///< of a pair
  };
  const core::Registry::Op& entry() const { return *entry_; }
  const core::Contract& contract() const { return *entry_->contract; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  /// Whether the caller may leave an output out: its sizes follow from the inputs.
  bool derivable(std::size_t arg) const { return (derivable_ >> arg & 1) != 0; }
  /// Whether an output may have several dtypes.
  bool chooses_dtype() const { return chooses_dtype_; }

  /// The outputs of a call, or what the request asks for. Throws Error, Raised.
  Ref call(PyObject* const* given, Py_ssize_t count) const;

 private:
  struct Frame;
  void read_options(PyObject* const* given, std::byte* options) const;
  Ref outputs(const Frame& frame, std::uint32_t returned) const;

  const core::Registry::Op* entry_;
  std::vector<Parameter> parameters_;
  std::vector<std::size_t> optional_outputs_;
  std::vector<std::byte> defaults_;  ///< of the options struct
  std::uint32_t outputs_ = 0, inputs_ = 0, derivable_ = 0;
  bool chooses_dtype_ = false;
};

/// Every op of the registry, in its order.
const std::vector<Op>& ops();

/// A new tensor of that form by the library whose tensor `like`, of the form `beside`, is. Throws Error where
/// that library has not the dtype, Raised.
Ref allocate(const Tensor& form, Family family, PyObject* like, const Tensor& beside, const Place& place);

/// How the module sees a queue or a request among its objects; null where it is none.
const PyQueue* queue_of(PyObject* object);
const Request* request_of(PyObject* object);
Ref plan_object(PyPlan plan);
Ref explanation_object(const Explanation& explanation);

}  // namespace isomer::python
