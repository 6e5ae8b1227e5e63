#pragma once

#include "lab/candidate/folder.hpp"
#include "lab/findings/finding.hpp"
#include "lab/record/facts.hpp"

#include <vector>

namespace isomer::lab {

/// What the test's text shows: outputs that nobody looks at, inputs that nobody can draw again.
void audit_test_text(const CaseFolder& folder, const Recording& recording, const Facts& facts,
                     std::vector<Finding>& findings);
/// What the recorded values show. `facts` may be null.
void audit_test_values(const CaseFolder& folder, const Recording& recording, const Facts* facts,
                       std::vector<Finding>& findings);
/// Where the label's kernels left the memory of their arguments, as the recorder saw it.
void audit_outside(const CaseFolder& folder, const Recording& recording, std::vector<Finding>& findings);
/// What the instruction says of the call and label or calls contradict. `facts` may be null.
void audit_instruction(const CaseFolder& folder, const Recording& recording, const Facts* facts,
                       std::vector<Finding>& findings);

/// The argument of that name; null where there is none.
const Value* argument_of(const std::vector<Value>& arguments, const std::string& name);
/// The line in a call's group, "test_sin:12"; 0 where there is none.
int line_of(const RecordedCall& call);
/// "1 call" or "3 calls".
std::string calls_in_words(std::size_t count);

}  // namespace isomer::lab
