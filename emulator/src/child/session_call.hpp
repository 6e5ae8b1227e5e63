// One call of one entry, in a process that ends with it.
#pragma once

#include <string>
#include <vector>

#include "child/session_wire.hpp"
#include "runtime/entries.hpp"

namespace isomer::emulator {

/// Who takes the answer's bytes: at the end of the call, or from a signal's handler.
void answer_calls_with(void (*deliver)(const std::string& bytes));

/// Makes the call and answers; returns where the user's code let it: whether another call may follow in this
/// process.
bool make_call(const SessionRequest& request, const std::vector<OfferedEntry>& offered,
               const std::string& library);

}  // namespace isomer::emulator
