#pragma once

#include "lab/candidate/folder.hpp"
#include "lab/candidate/recording.hpp"
#include "lab/judge/diagnose.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace isomer::lab {

/// What a label does with copies of its arguments.
using Act = std::function<void(std::vector<Value>&)>;

/// One more call of the label with these arguments, and what it leaves of them.
void record(Recording& recording, const char* label, const std::vector<Value>& arguments, const Act& act);

/// One more call of a label that returns what it makes of its arguments, which it leaves as they are: `act`
/// fills the result.
using Make = std::function<void(const std::vector<Value>&, Value&)>;
void record_returned(Recording& recording, const char* label, const std::vector<Value>& arguments,
                     Value result, const Make& act);

/// A word as an argument.
Value text_value(const std::string& name, const std::string& text);

/// The elements of a tensor of f32.
float* f32(const Value& value);

/// What is said of a function of a file of candidates that its own text goes with, judged by a recording and
/// by what is read of the label. The file is compiled once.
Diagnosis judged(const char* file, const char* entry, Recording recording,
                 std::vector<std::string> texts = {});

/// A folder of such a candidate, with the recording beside it, which is written to `place`.
CaseFolder case_of(const std::filesystem::path& place, const std::string& source, const Recording& recording);

/// The findings are of just these codes, in this order, and `words` stand in what is told; of no code: it
/// passes.
void expect_told(const Diagnosis& said, const std::vector<Code>& found, const std::string& words);

}  // namespace isomer::lab
