#pragma once

#include "lab/candidate/value.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace isomer::lab {

/// One call of a reference: what it was given and what it gave.
struct RecordedCall {
  std::string function;
  std::vector<Value> before = {};  ///< arguments as passed; a keyword argument bears its name and `keyword`
  std::vector<bool> keyword = {};  ///< per argument
  std::vector<Value> left_out =
      {};  ///< numbers that are the defaults of parameters which the call leaves out
  /// Numbers and small tensors that the reference computes on its way, by its names.
  std::vector<Value> computed = {};
  /// Whole numbers that the test has in variables where it makes the call, by their names.
  std::vector<Value> around = {};
  /// Per argument, how many of its first strides may be others than they were, and the reference's answer is
  /// the same: it was called so. 0 where it was not, or where the answer is another.
  std::vector<int> strided = {};
  /// Per argument, whether the reference's answer is the same with another one in its place; and whether it
  /// was asked that. May be shorter.
  std::vector<bool> idle = {}, idle_asked = {};
  std::vector<Value> after = {};  ///< the same arguments after the call; empty where no answer was recorded
  std::vector<Value> returned = {};  ///< flattened; empty for None
  /// Per returned value, true and false of its shape: where the reference left it as the memory was, or none.
  /// Empty where it set everything.
  std::vector<Value> unset = {};
  /// Per returned value, how far rounding alone moves each element, or none; empty where that is little of
  /// all.
  std::vector<Value> noise = {};
  bool full = false;        ///< no operator of the reference's rounds to fewer than 32 bits on its way
  std::string raised = {};  ///< the exception's text; empty where there was none
  std::string group = {};   ///< the test case or line that made the call
  std::string asked =
      {};  ///< of a call that no test makes: "large" or "small", the size of its values; "size", "larger"
  std::int64_t size = 0, size_before = 0;  ///< of these two: what a dimension has, and had in the test's call
  std::vector<double> seconds = {};  ///< the device's time of each of a few more such calls; empty: not taken
  /// Per argument, whether a module that the call was given held it: it stands in the module's place. May be
  /// shorter.
  std::vector<bool> held = {};
};

/// Whether a module brought some of the call's arguments along.
bool has_held(const RecordedCall& call);

/// What the reference answers to a few of its calls once its text has one edit: who gives just that has the
/// same fault.
struct EditedReference {
  struct Output {
    bool returned = false;              ///< else an argument that it writes
    std::size_t index = 0;              ///< of the returned values, or of the arguments
    std::vector<std::int64_t> at = {};  ///< elements in row-major order
  };
  struct Call {
    std::size_t call = 0;  ///< which of the recording's
    std::vector<Output> outputs = {};
  };
  struct Edit {
    int line = 0;                     ///< of the reference's text
    std::string was, becomes;         ///< the expression
    std::string code;                 ///< of the finding that it would be
    std::vector<float> answers = {};  ///< all elements of all calls, one behind the other
  };
  std::vector<Call> calls = {};
  std::vector<Edit> edits = {};  ///< the likeliest first
};

/// What a reference was called with, and what it gave: a bundle that replays with no Python.
struct Recording {
  std::vector<RecordedCall> calls;
  std::map<std::string, std::string> metadata =
      {};  ///< "python", "torch", "command", "answers": "triton" or "none", "device", …
  std::vector<RecordedCall> asked = {};  ///< made by the recorder, with values that the calls do not have
  EditedReference edited = {};           ///< without edits where none was tried
};

/// Safetensors plus JSON with strides (lab/record/recording_format.hpp). Throws Error io with one sentence
/// for a file that is truncated, foreign or inconsistent. Storages of equal content are loaded once: the
/// values of a loaded recording are to be read; to write into one, take a deep_copy.
void save_recording(const std::string& path, const Recording& recording);
Recording load_recording(const std::string& path);

}  // namespace isomer::lab
