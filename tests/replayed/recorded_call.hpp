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
