#pragma once

#include "lab/ask/port.hpp"
#include "lab/candidate/candidate.hpp"

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace isomer::lab {

/// A problem of an op as a candidate is given it, and what the reference makes of it.
struct Given {
  std::string line;  ///< the case, or where a recorded call came from
  std::shared_ptr<const oracle::Problem> problem;
  std::vector<Value> values;                    ///< one per role of the port, returned ones as they will be
  oracle::Expected plain;                       ///< of the reference without variations
  std::vector<std::vector<std::uint8_t>> open;  ///< per output: elements that the original leaves open
  std::vector<double>
      original_seconds;  ///< of a recorded call: the original's times, and where they were taken
  std::string original_device;
  bool made = false;  ///< of a case, not of a call that somebody recorded
};

/// Dtypes by the field of a case line that sets them: {"dtype": f32, "scales": f32}.
using Dtypes = std::map<std::string, DType>;

/// Of a case line, with or without the op's name, its dtypes replaced by those given. Throws Error where the
/// line makes no valid call.
std::shared_ptr<Given> given_by_line(const Port& port, const std::string& line, const Dtypes& dtypes = {});
/// Of values by role. Throws Error where the contract refuses them.
std::shared_ptr<Given> given_by_values(const Port& port, const std::string& origin,
                                       const std::vector<Value>& values, DType made = DType::none);

/// What one parameter of an entry is passed, made of the original's arguments.
struct Passing {
  /// `inner`: the product of the sizes from `dim` on. `scale_of_dot`: 1/sqrt of a size, which attention
  /// multiplies its dot products by. `first`: of a tensor, its first element as a number. `sizes`, `strides`:
  /// all of a tensor's, in an array of the host's, or, of a kernel, in the device's memory; `rank`: how many
  /// those are. `room`: memory that the caller lends, for what lies between. `keys_before`: how many keys
  /// come before the first query's own, which is a size less another. `ratio`: how often a size is another
  /// one. `bytes_of_element`: of a tensor's. `computed`: a number or a tensor that the original computes on
  /// its way, as it did in each call.
  enum class What : std::uint8_t {
    role,
    elements,
    rows,
    inner,
    size,
    scale_of_dot,
    stride,
    constant,
    first,
    sizes,
    strides,
    rank,
    room,
    keys_before,
    ratio,
    bytes_of_element,
    computed,
    none
  };
  What what = What::none;
  int role = -1;
  int dim = 0;   ///< of a size or stride; negative ones count from the last
  int with = 0;  ///< of a size: times that of this dimension, counted from the last; 0: alone
  int less = 0;  ///< of a size: so much less
  int less_role = -1, less_dim = 0;  ///< of `keys_before` and `ratio`: the other size
  int computed = -1;                 ///< of `computed`: its place among the values, behind all roles
  bool counts = false;               ///< of `keys_before`: is a count of them, which is not below 0
  double constant = 0;
  // Of a tensor role, how it differs from what the original is given:
  DType cast = DType::none;
  int drop = 0;           ///< so many trailing dimensions of size 1 less; negative: more
  bool inner = false;     ///< those that are more stand before the last dimension, not behind it
  std::vector<int> axes;  ///< its dimensions in another order; empty: as they are
  bool compact = false;   ///< copied into a compact tensor
  /// Its last two dimensions lie column by column, each column on from a multiple of so many elements; the
  /// shape stays. 0: as they are.
  int columns = 0;
  /// Its last dimension as two, the last of so many elements; `axes` are of what that makes. 0: as it is.
  int split = 0;
  bool bytes = false;      ///< of a stride: counted in bytes
  bool of_the_op = false;  ///< of a stride: of the op's dimension, wherever it lies in what is passed
  bool boxed = false;      ///< of a number: given as a tensor with one element
  bool zeros = false;      ///< of room: cleared by who lends it
  /// A dimension that the original's tensor does not have, before this one, as long as `longer` counts: its
  /// elements are copies.
  int inserted = -1;
  std::shared_ptr<const Passing> longer;
};

/// How a bare kernel is launched: each extent is so many, divided by `per` and rounded up, and `times` that.
struct LaunchForm {
  struct Axis {
    Passing count;
    std::int64_t per = 1, times = 1;
  };
  std::array<Axis, 3> grid, block;
  bool certain = false;  ///< the kernel's own text leaves no other
};
/// The numbers that three extents are for a problem's values.
std::array<std::int64_t, 3> extents(const std::array<LaunchForm::Axis, 3>& axes,
                                    const std::vector<Value>& values);

/// How an entry is called, and what its answers are.
struct Form {
  const Entry* entry = nullptr;
  std::vector<Passing> passings;             ///< one per parameter that is given
  std::vector<int> returned;                 ///< the role of each returned tensor
  std::map<int, int> in_place = {};          ///< by a result's role, the parameter whose memory holds it then
  std::shared_ptr<const LaunchForm> launch;  ///< of a bare kernel; null: what its source says or suggests
  std::uint8_t lent = 0xff;                  ///< what lies in memory that is lent
  bool cleared = false;                      ///< memory of its outputs is zero: it adds to what is there

  bool takes(int role) const;
};

/// Whether a parameter's memory holds a result after the call.
bool holds_a_result(const Form& form, std::size_t parameter);

/// The port, of which no case line asks an option that the form has no parameter for: another value of it is
/// no call of that candidate.
Port without_what_it_lacks(const Port& port, const Form& form);

/// Whether a parameter for which the original has nothing has to be given a tensor all the same: an
/// extension's, which is given one without elements.
bool wants_a_tensor(const Form& form, std::size_t parameter);

/// The values that a form makes of those of the original.
std::vector<Value> passed(const Form& form, const std::vector<Value>& values);

/// The numbers among what a form passes, by the candidate's names: "m=256, k=16, eps=1e-10".
std::string numbers_in_words(const Form& form, const std::vector<Value>& values);

/// The settings with the launch that a form has for these values; as they are where it has none.
CallSettings with_launch_of(const Form& form, const std::vector<Value>& values, const CallSettings& asked);

/// What came of calling a candidate with a problem.
struct Trial {
  Answer answer;
  /// Per output of the reference, row-major by its shape, rounded to its dtype.
  std::vector<std::vector<double>> outputs;
  /// 1 where an element is what it was before the call: poison.
  std::vector<std::vector<std::uint8_t>> untouched;
  std::string misfit;  ///< why there are no outputs although the call returned: a shape, a missing answer
  bool ok() const { return answer.ok() && misfit.empty(); }
};

/// Why a form cannot be asked for these values: a count in it would be below 0. Empty where it can.
std::string cannot_count(const Form& form, const std::vector<Value>& values);

/// Fills the outputs that are passed with `poison`, calls, and takes the answer back to the original's form.
Trial try_call(const Candidate& candidate, const Form& form, const Port& port, const Given& given,
               const CallSettings& settings = {}, std::uint8_t poison = 0x5a);

/// Fills outputs and `untouched` from `trial.answer`. `before`: the arguments as they were given; where it is
/// empty, nothing but 0xff bytes counts as untouched.
void take_outputs(const Form& form, const Port& port, const Given& given, const std::vector<Value>& before,
                  Trial& trial);

/// Whether one is an 8-bit float and the other the bytes that programs without such a type keep it in.
bool same_bytes(DType one, DType other);
/// A value with its whole storage converted to `dtype`, strides and offset kept; 8-bit floats in bytes, and
/// bytes in 8-bit floats, keep their patterns.
Value cast_to(const Value& value, DType dtype);
/// A compact copy.
Value compact_copy(const Value& value);

/// Whether an element is what the reference says, within its bound (any NaN for NaN, either zero for zero).
bool holds(const oracle::ExpectedTensor& expected, std::size_t i, double got);

}  // namespace isomer::lab
