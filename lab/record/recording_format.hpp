#pragma once

#include "lab/candidate/recording.hpp"

#include <isomer/bundle.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// A recording as a bundle. Every storage is one compact tensor; the metadata key "calls" holds a JSON list:
///   {"function", "group", "raised", "before": [value…], "left_out": [value…], "computed": [value…],
///   "around": [value…], "after": [value…], "returned": [value…], "unset": [value…], "noise": [value…],
///   "seconds": [number…]}
/// ("unset" only where the label leaves elements of what it returns as the memory was: of each returned value
/// which, as true and false, or none; "noise" only where rounding alone moves elements by more than their
/// last digits: how far, of each returned value, or none; "full": true where no operator of the label's was
/// seen to round to fewer than 32 bits; "seconds" only where the device's times of the call were taken, on
/// the device that the key "device" names; "left_out", numbers that are the defaults of parameters which the
/// call leaves out, and "computed", whole numbers that the label's function has in variables once it returns,
/// and small tensors that it, or a function of its file, makes of the arguments and no kernel writes, by
/// their names, only where there are any; "around", whole numbers that the test has in variables where it
/// makes the call, in the same way) with each value {"kind", "name"} and
///   tensor   "storage" (the tensor's name in the file), "dtype", "shape", "strides" in elements, "offset" in
///            bytes, "boolean": true of a u8 tensor that holds true and false
///   integer, real, boolean, text, dtype   "value"; a real that JSON lacks is "nan", "inf" or "-inf"
///   list     "items"
/// and, in "before", "keyword": true where the argument was passed by its name, "held": true where a module
/// that was passed held it, which is not among the arguments itself, and "strided": n of a tensor whose first
/// n strides may be others with the same answer, and "idle": true of what may be another with the same answer
/// to this call, false where it was asked and the answer is another. Two values of one side of a call (its
/// arguments; its answers) that name one storage share memory. The metadata key "asked" is a list of such
/// calls that no test made, each with "asked": "large" or "small", the size of its values, "smaller", all
/// sizes of a large call divided by one number, or "size", and then "size": [64, 63] where 63 stands in place
/// of every dimension and whole number of 64, or "larger", and then "size": [64, 131]; absent where there are
/// none. The metadata key "edited" holds what the reference answers once its text has one edit, absent where
/// none was tried:
///   {"calls": [{"call", "outputs": [{"of": "returned" or "after", "index", "at": [element…]}]}],
///    "edits": [{"line", "was", "becomes", "code"}], "storage"}
/// with the tensor "storage" of f32: for each edit what stands at the elements of all the calls. "format" is
/// kRecordingFormat; every other key is the recording's own.
namespace isomer::lab {

inline constexpr std::string_view kRecordingFormat = "isomer-calls 1";

/// The calls in a bundle whose tensors live as long as the recording. `subject` begins every sentence. Throws
/// Error io.
Recording recording_of(const Bundle& bundle, const std::string& subject);

/// What the text of the metadata key "edited" says of such calls; `answers` gives the tensor of a name, null
/// where there is none. Throws Error io with a sentence that `subject` begins.
EditedReference edited_reference_of(const std::string& text, const std::vector<RecordedCall>& calls,
                                    const std::function<const Tensor*(const std::string&)>& answers,
                                    const std::string& subject);
/// That text again, and the elements of the tensor that it calls `storage`.
std::string text_of(const EditedReference& edited, const std::string& storage, std::vector<float>& answers);

/// "tensor", "integer", …
std::string_view name_of(Value::Kind kind);

}  // namespace isomer::lab
