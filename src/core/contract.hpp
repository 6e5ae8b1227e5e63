#pragma once

#include <isomer/queue.hpp>
#include <isomer/tensor.hpp>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

/// What an op accepts and promises, as data. It validates calls, is printed by `isomer ops`, and tells the
/// lab what to poison, to hash and to compare.
namespace isomer::core {

struct Contract;

/// One concrete invocation: the op's contract, its tensors in the order of contract.args, and the op's own
/// typed structs. Borrowed; made by the op's bind() and alive for one call.
struct Call {
  static constexpr int kMaxArgs = 32;

  const Contract* contract = nullptr;
  std::array<const Tensor*, kMaxArgs> tensors{};  ///< never null; an absent argument is an undefined Tensor
  int count = 0;
  const void* args_struct = nullptr;
  std::size_t args_bytes = 0;  ///< of the args struct, which is trivially copyable
  const void* options_struct = nullptr;
  std::size_t options_bytes = 0;  ///< of the options struct, which is trivially copyable

  template <class Args>
  const Args& args() const {
    return *static_cast<const Args*>(args_struct);
  }
  template <class Options>
  const Options& options() const {
    return *static_cast<const Options*>(options_struct);
  }
  const Tensor& tensor(int index) const { return *tensors[static_cast<std::size_t>(index)]; }
};

enum class Role { in, out, inout };
enum class Strides {
  any,              ///< every dimension
  last_contiguous,  ///< the last dimension has stride 1 (or size 1)
  contiguous,       ///< compact row-major
};

/// A parsed shape alternative; made by finish().
struct ShapeRule {
  struct Term {
    enum class Kind { any, number, symbol, expression } kind = Kind::any;
    std::int64_t number = 0;
    int symbol = -1;
    std::vector<std::int64_t> program;  ///< postfix: kind/value pairs
    std::string text;
  };
  bool leading = false;  ///< begins with `...`
  std::vector<Term> terms;
  std::string text;
};

/// The offset of what the C ABI does not have.
inline constexpr std::size_t kNotInC = SIZE_MAX;

/// One argument. A shape is dimensions separated by spaces, several alternatives are several strings. A
/// dimension is
/// `...` (any leading dimensions, the same for every argument that has it), an integer, or an expression over
/// symbols with + - * / and ceil(a/b): "B Sq Hq D", "... K/block_size", "ceil(M/B) N+1". A symbol is bound
/// where it first stands alone (or by Contract::symbols), and must agree everywhere else. `_` matches any
/// size.
struct Arg {
  std::string name = {};
  Role role = Role::in;
  bool optional = false;
  std::vector<DType> dtypes = {};
  std::vector<std::string> shapes = {};
  Strides strides = Strides::last_contiguous;
  std::string meaning = {};
  std::string may_alias = {};      ///< the argument of which this output may be the very same view
  std::string dtype_same_as = {};  ///< the argument whose dtype this one must have
  std::string written_with = {};   ///< an inout is only read in calls without this argument
  bool host_ok = false;            ///< may live in host memory whatever the queue's device
  std::size_t offset = 0;          ///< of the Tensor in the args struct; made by tensor() of core/fields.hpp
  std::size_t offset_in_c = kNotInC;  ///< of the pointer in the C ABI's struct; likewise
  std::vector<ShapeRule> rules = {};  ///< from shapes; made by finish()
};

/// One option, made by option() of core/fields.hpp. The op's clauses check its value.
struct Option {
  enum class Kind : std::uint8_t { integer, f32, boolean, choice };
  std::string name;
  Kind kind = Kind::integer;
  std::vector<std::string> enumerators = {};  ///< of a choice, counted from 0
  double value = 0;                           ///< the default; of a choice, its number
  std::string fallback = {};                  ///< the default in words: "128", "1/sqrt(D)", "row_major"
  std::string meaning = {};
  std::size_t offset = 0, bytes = 0;  ///< in the options struct
  /// In the C ABI's struct, where an integer is isomer_int64, an f32 double, everything else int.
  std::size_t offset_in_c = kNotInC;

  std::string type() const;  ///< "int", "f32", "bool", "f32 | ue8m0"
  /// A value of its kind in words.
  std::string text_of(double value) const;
  /// From and to an options struct. An integer that its type has no room for becomes the nearest one.
  std::int64_t integer_in(const void* options) const;
  void set(void* options, std::int64_t integer) const;
  void set(void* options, float number) const;
};

/// A rule that dtypes, shapes and strides cannot say. `broken` gives what is wrong ("k has 3 kv heads, which
/// do not divide 16 query heads", without the op's name), or nothing. Runs only once everything declarative
/// holds.
struct Clause {
  std::string text;
  std::function<std::optional<std::string>(const Call&)> broken;
  bool reads_data = false;  ///< looks at tensor contents: on the CPU always, elsewhere in checked mode
};

/// The symbols of a call: names bound to sizes.
class Symbols {
 public:
  static constexpr std::int64_t kUnbound = INT64_MIN;
  explicit Symbols(const std::vector<std::string>& names) : names_(&names) { values_.fill(kUnbound); }
  /// Names that no shape uses are ignored.
  void set(std::string_view name, std::int64_t value);
  /// kUnbound for a name that nothing bound.
  std::int64_t operator[](std::string_view name) const;
  std::int64_t& at(int index) { return values_[static_cast<std::size_t>(index)]; }
  std::int64_t at(int index) const { return values_[static_cast<std::size_t>(index)]; }

 private:
  const std::vector<std::string>* names_;
  std::array<std::int64_t, 32> values_;
};

struct Work {
  double bytes = 0;  ///< each input read once, each output written once
  double flops = 0;
};

struct Contract {
  std::string op;
  std::string summary;  ///< one line with the formula
  std::string source;   ///< where the semantics come from
  std::vector<Arg> args;
  std::vector<Option> options = {};
  std::vector<Clause> clauses = {};
  std::string tolerance = {};  ///< as text; the reference gives the bound of each element
  std::function<void(const Call&, Symbols&)> symbols =
      {};  ///< binds symbols that come from options; may be null
  std::function<Work(const Call&)> work = {};
  /// Strides of an output of shape_outputs() that is not to be compact; may be null.
  std::function<void(const Call&, std::size_t arg, Tensor& form)> lay_out = {};
  std::vector<std::string> symbol_names = {};  ///< made by finish()
  std::vector<std::size_t> offsets = {};       ///< of the args in their struct; made by finish()

  int index_of(std::string_view arg) const;                  ///< −1 where there is none
  const Option* find_option(std::string_view option) const;  ///< null where there is none
};

/// Makes the Call of a public entry.
template <class Args, class Options>
Call bind(const Contract& contract, const Args& args, const Options& options) {
  static_assert(std::is_trivially_copyable_v<Args> && std::is_trivially_copyable_v<Options>);
  Call call;
  call.contract = &contract;
  for (const std::size_t offset : contract.offsets)
    call.tensors[static_cast<std::size_t>(call.count++)] =
        reinterpret_cast<const Tensor*>(reinterpret_cast<const std::byte*>(&args) + offset);
  call.args_struct = &args;
  call.args_bytes = sizeof(Args);
  call.options_struct = &options;
  call.options_bytes = std::is_empty_v<Options> ? 0 : sizeof(Options);
  return call;
}

/// The clause that every choice is one of its enumerators.
std::optional<std::string> not_an_enumerator(const Call& call);

/// The role of an argument in this call: Arg::role, but for Arg::written_with.
Role role_in(const Call& call, std::size_t index);

/// Parses the shapes. Every contract goes through it once; throws Error internal for a shape that does not
/// parse.
Contract finish(Contract contract);

/// Throws Error bad_argument with one sentence for the first clause that the call breaks. `check_data` also
/// runs the clauses that read tensor contents. Writes nothing.
void validate(const Call& call, Device device, bool check_data);
/// Only what depends on the tensors' addresses: devices, null data, alignment, overlaps. For a call of which
/// everything else is known to hold.
void check_addresses(const Call& call, Device device);
/// Only the clauses that read tensor contents, of a call that is otherwise valid.
void check_data(const Call& call);

/// What the outputs would be that a call lacks: dtype, shape and strides of each argument in `asked`, a bit
/// for each, into `forms`, which has a tensor for each argument. `element` is the dtype of outputs that may
/// have several; none: that of the first argument, or bf16 where it may not have that. Throws Error
/// bad_argument with one sentence for inputs whose dtypes or shapes break a clause, and for an output whose
/// sizes follow from no input.
void shape_outputs(const Call& call, std::uint32_t asked, DType element, Tensor* forms);

/// The symbol values of a valid call, for printing and for plans that want them.
Symbols symbols_of(const Call& call);

/// True when some element of one view shares a byte with some element of the other. Exact for the strided
/// views that occur; where a bounded search does not decide, false.
bool overlap(const Tensor& a, const Tensor& b);
/// True when two index tuples of one view name the same element.
bool overlaps_itself(const Tensor& tensor);

/// Bytes of a tensor's elements, each counted once.
double bytes_of(const Tensor& tensor);

}  // namespace isomer::core
