#include "core/contract.hpp"

#include "core/call_copy.hpp"
#include "core/sentence.hpp"
#include "core/shape_fit.hpp"
#include "core/tensor_text.hpp"

#include <algorithm>
#include <array>

namespace isomer::core {
namespace {

/// One validation: binds symbols and leading dimensions as the arguments come.
class Validation {
 public:
  Validation(const Call& call) : call_(call), contract_(*call.contract), fit_(contract_.symbol_names) {
    // Whatever asks a tensor for its sizes, the op's own symbols first, relies on this.
    for (std::size_t i = 0; i < contract_.args.size(); ++i) rank_and_signs(contract_.args[i], tensor(i));
    if (contract_.symbols) contract_.symbols(call, fit_.symbols());
  }

  const Symbols& symbols() { return fit_.symbols(); }

  void bind_all() {
    for (std::size_t i = 0; i < contract_.args.size(); ++i)
      if (tensor(i).defined() && !fit_.take(contract_.args[i], tensor(i))) refuse_shape(i);
  }

  void run(Device device, bool check_data) {
    for (std::size_t i = 0; i < contract_.args.size(); ++i) {
      const Arg& arg = contract_.args[i];
      if (!tensor(i).defined()) {
        if (!arg.optional) refuse(arg.name, " is required, got no tensor");
        continue;
      }
      element_type(arg, tensor(i));
      sizes(arg, tensor(i));
      if (!fit_.take(arg, tensor(i))) refuse_shape(i);
      memory(arg, tensor(i), device);
      stride_rule(i);
    }
    aliasing();
    clauses(false);
    if (check_data) clauses(true);
  }

  /// What inputs say before there are outputs.
  ShapeFit fit_inputs() {
    for (std::size_t i = 0; i < contract_.args.size(); ++i) {
      const Arg& arg = contract_.args[i];
      if (!tensor(i).defined()) {
        if (!arg.optional && arg.role != Role::out) refuse(arg.name, " is required, got no tensor");
        continue;
      }
      element_type(arg, tensor(i));
      if (!fit_.take(arg, tensor(i))) refuse_shape(i);
    }
    return fit_;
  }

  void addresses(Device device) const {
    for (std::size_t i = 0; i < contract_.args.size(); ++i)
      if (tensor(i).defined()) memory(contract_.args[i], tensor(i), device);
    aliasing();
  }

  void clauses(bool that_read_data) const {
    for (const Clause& clause : contract_.clauses)
      if (clause.reads_data == that_read_data)
        if (const auto broken = clause.broken(call_)) refuse(*broken);
  }

 private:
  const Tensor& tensor(std::size_t i) const { return *call_.tensors[i]; }

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(ErrorCode::bad_argument, contract_.op, ": ", parts...);
  }

  void element_type(const Arg& arg, const Tensor& t) const {
    if (!arg.dtype_same_as.empty()) {
      const Tensor& other = tensor(static_cast<std::size_t>(contract_.index_of(arg.dtype_same_as)));
      if (other.defined() && t.dtype != other.dtype)
        refuse(arg.name, " has dtype ", name_of(t.dtype), ", expected ", name_of(other.dtype), " as ",
               arg.dtype_same_as);
    }
    if (std::find(arg.dtypes.begin(), arg.dtypes.end(), t.dtype) != arg.dtypes.end()) return;
    std::vector<std::string_view> names;
    for (const DType type : arg.dtypes) names.push_back(name_of(type));
    refuse(arg.name, " has dtype ", name_of(t.dtype), ", expected ", either(names));
  }

  void rank_and_signs(const Arg& arg, const Tensor& t) const {
    if (t.rank < 0 || t.rank > Tensor::kMaxRank)
      refuse(arg.name, " has rank ", t.rank, ", expected 0 to ", Tensor::kMaxRank);
    for (int i = 0; i < t.rank; ++i)
      if (t.size(i) < 0) refuse(arg.name, " has shape ", shape_text(t), ", expected no negative size");
  }

  void sizes(const Arg& arg, const Tensor& t) const {
    std::int64_t low = 0, high = 0, elements = size_of(t.dtype);
    for (int i = 0; i < t.rank; ++i)
      if (t.size(i) == 0) return;
    for (int i = 0; i < t.rank; ++i) {
      std::int64_t span = 0;
      const bool wide = __builtin_mul_overflow(t.size(i) - 1, t.stride(i), &span) ||
                        __builtin_mul_overflow(span, std::int64_t{size_of(t.dtype)}, &span) ||
                        __builtin_add_overflow(span > 0 ? high : low, span, span > 0 ? &high : &low) ||
                        __builtin_mul_overflow(elements, t.size(i), &elements);
      if (wide || high - low < 0 || high > INT64_MAX / 4 || low < INT64_MIN / 4)
        refuse(arg.name, " has shape ", shape_text(t), ", which spans more than 2^61 bytes");
    }
  }

  /// Of the tensors whose shapes disagree, the one that the others do not bear out is named: that without
  /// which all agree. Where there are several, it is an output, which has to follow its inputs, and otherwise
  /// the one that was found.
  [[noreturn]] void refuse_shape(std::size_t found) const {
    std::size_t wrong = found;
    std::optional<ShapeFit> others = fit_without(found);
    bool output = others && role_in(call_, found) != Role::in;
    const bool rank_is_allowed = ShapeFit::allows_rank(contract_.args[found], tensor(found).rank);
    for (std::size_t i = 0; rank_is_allowed && i < contract_.args.size(); ++i) {
      if (i == found || !tensor(i).defined() || (others && (output || role_in(call_, i) == Role::in)))
        continue;
      const std::optional<ShapeFit> rest = fit_without(i);
      if (!rest) continue;
      wrong = i;
      others = rest;
      output = role_in(call_, i) != Role::in;
    }
    if (!others) others = fit_;
    // What the arguments before it and the options have said, it has had no part in.
    if (wrong == found) others->learn_from(fit_);
    const Arg& arg = contract_.args[wrong];
    refuse(arg.name, " has shape ", shape_text(tensor(wrong)), ", expected ",
           others->expected(arg, tensor(wrong)));
  }

  /// What the shapes without that argument's say; nothing where they disagree too.
  std::optional<ShapeFit> fit_without(std::size_t left_out) const {
    CallCopy copy(call_);
    copy.tensor(static_cast<int>(left_out)) = {};
    ShapeFit fit(contract_.symbol_names);
    if (contract_.symbols) contract_.symbols(copy.call(), fit.symbols());
    // Twice: an expression is held against symbols that later arguments bind.
    for (int pass = 0; pass < 2; ++pass)
      for (std::size_t i = 0; i < contract_.args.size(); ++i)
        if (i != left_out && tensor(i).defined() && !fit.take(contract_.args[i], tensor(i))) return {};
    return fit;
  }

  void memory(const Arg& arg, const Tensor& t, Device device) const {
    const bool on_host = t.device.type == DeviceType::cpu;
    if (t.device != device && !(arg.host_ok && on_host))
      refuse(arg.name, " is on ", to_string(t.device), ", expected ", to_string(device), " as the queue");
    if (t.empty()) return;
    if (t.data == nullptr) refuse(arg.name, " has null data, expected ", t.numel(), " elements");
    const auto address = reinterpret_cast<std::uintptr_t>(t.data);
    if (address % static_cast<std::uintptr_t>(size_of(t.dtype)) != 0)
      refuse(arg.name, " is misaligned: its address must be a multiple of ", size_of(t.dtype), " bytes for ",
             name_of(t.dtype));
  }

  void stride_rule(std::size_t index) const {
    const Arg& arg = contract_.args[index];
    const Tensor& t = tensor(index);
    if (t.empty()) return;
    if (arg.strides == Strides::last_contiguous && t.rank > 0 && t.size(-1) > 1 && t.stride(-1) != 1)
      refuse(arg.name, " has stride ", t.stride(-1), " in its last dimension, expected 1");
    if (arg.strides == Strides::contiguous && !t.is_contiguous())
      refuse(arg.name, " is ", t.describe(), ", expected compact row-major strides");
    if (role_in(call_, index) != Role::in && overlaps_itself(t))
      refuse(arg.name, " is ", t.describe(),
             ", in which elements overlap; an output needs each element of its own");
  }

  void aliasing() const {
    for (std::size_t i = 0; i < contract_.args.size(); ++i) {
      const Arg& out = contract_.args[i];
      if (role_in(call_, i) == Role::in || !tensor(i).defined()) continue;
      for (std::size_t j = 0; j < contract_.args.size(); ++j) {
        if (j == i || !tensor(j).defined() || (role_in(call_, j) != Role::in && j < i)) continue;
        if (out.may_alias == contract_.args[j].name && same_view(tensor(i), tensor(j))) continue;
        if (contract_.args[j].may_alias == out.name && same_view(tensor(i), tensor(j))) continue;
        if (overlap(tensor(i), tensor(j)))
          refuse(out.name, " overlaps ", contract_.args[j].name, " in memory, expected an output of its own");
      }
    }
  }

  static bool same_view(const Tensor& a, const Tensor& b) {
    if (a.data != b.data || a.dtype != b.dtype || a.rank != b.rank) return false;
    for (int i = 0; i < a.rank; ++i)
      if (a.size(i) != b.size(i) || (a.size(i) > 1 && a.stride(i) != b.stride(i))) return false;
    return true;
  }

  const Call& call_;
  const Contract& contract_;
  ShapeFit fit_;
};

}  // namespace

int Contract::index_of(std::string_view arg) const {
  for (std::size_t i = 0; i < args.size(); ++i)
    if (args[i].name == arg) return static_cast<int>(i);
  return -1;
}

const Option* Contract::find_option(std::string_view option) const {
  for (const Option& each : options)
    if (each.name == option) return &each;
  return nullptr;
}

Role role_in(const Call& call, std::size_t index) {
  const Arg& arg = call.contract->args[index];
  if (arg.written_with.empty() || call.tensor(call.contract->index_of(arg.written_with)).defined())
    return arg.role;
  return Role::in;
}

Contract finish(Contract contract) {
  for (Arg& arg : contract.args) {
    for (const std::string& shape : arg.shapes)
      arg.rules.push_back(parse_shape(shape, contract.symbol_names));
    if (std::find(contract.offsets.begin(), contract.offsets.end(), arg.offset) != contract.offsets.end())
      fail(ErrorCode::internal, contract.op, ": the contract has argument ", arg.name, " twice");
    contract.offsets.push_back(arg.offset);
  }
  for (const Option& option : contract.options)
    if (contract.find_option(option.name) != &option)
      fail(ErrorCode::internal, contract.op, ": the contract has option ", option.name, " twice");
  if (contract.symbol_names.size() > 32 || contract.args.size() > Call::kMaxArgs)
    fail(ErrorCode::internal, contract.op, ": at most 32 arguments and 32 symbols expected in a contract");
  return contract;
}

void validate(const Call& call, Device device, bool check_data) { Validation(call).run(device, check_data); }

void check_addresses(const Call& call, Device device) { Validation(call).addresses(device); }

void check_data(const Call& call) {
  for (const Clause& clause : call.contract->clauses)
    if (clause.reads_data)
      if (const auto broken = clause.broken(call))
        fail(ErrorCode::bad_argument, call.contract->op, ": ", *broken);
}

namespace {

/// A size may be unknown for a clause that the inputs break: a row that is no whole number of blocks.
void explain_unknown_size(const Call& call) {
  for (const Clause& clause : call.contract->clauses) {
    std::optional<std::string> broken;
    try {
      if (!clause.reads_data) broken = clause.broken(call);
    } catch (const Error&) {  // it asks for the shape of an output that is not there
    }
    if (broken) fail(ErrorCode::bad_argument, call.contract->op, ": ", *broken);
  }
}

}  // namespace

void shape_outputs(const Call& call, std::uint32_t asked, DType element, Tensor* forms) {
  const Contract& contract = *call.contract;
  const ShapeFit fit = Validation(call).fit_inputs();
  for (std::size_t i = 0; i < contract.args.size(); ++i) {
    if ((asked >> i & 1) == 0) continue;
    const Arg& arg = contract.args[i];
    Tensor form;
    if (!fit.known(arg, form)) {
      explain_unknown_size(call);
      fail(ErrorCode::bad_argument, contract.op, ": ", arg.name,
           " is required: its sizes follow from no input");
    }
    const auto takes = [&](DType type) {
      return std::find(arg.dtypes.begin(), arg.dtypes.end(), type) != arg.dtypes.end();
    };
    const DType first = call.tensor(0).dtype;
    form.dtype = arg.dtypes.size() == 1       ? arg.dtypes.front()
                 : !arg.dtype_same_as.empty() ? call.tensor(contract.index_of(arg.dtype_same_as)).dtype
                 : element != DType::none     ? element
                 : takes(first)               ? first
                                              : DType::bf16;
    if (!takes(form.dtype)) {
      std::vector<std::string_view> names;
      for (const DType type : arg.dtypes) names.push_back(name_of(type));
      fail(ErrorCode::bad_argument, contract.op, ": ", arg.name, " has dtype ", name_of(form.dtype),
           ", expected ", either(names));
    }
    form.device = call.tensor(0).device;
    std::int64_t stride = 1;
    for (int d = form.rank; d-- > 0;) {
      form.strides[static_cast<std::size_t>(d)] = stride;
      if (__builtin_mul_overflow(stride, std::max<std::int64_t>(form.size(d), 1), &stride) ||
          stride > INT64_MAX / 16)
        fail(ErrorCode::bad_argument, contract.op, ": ", arg.name, " has shape ", shape_text(form),
             ", which spans more than 2^59 elements");
    }
    if (contract.lay_out) contract.lay_out(call, i, form);
    forms[i] = form;
  }
}

Symbols symbols_of(const Call& call) {
  Validation validation(call);
  validation.bind_all();
  return validation.symbols();
}

}  // namespace isomer::core
