#pragma once

#include "lab/candidate/candidate.hpp"

#include <isomer/emulator/session.hpp>

#include <vector>

namespace isomer::lab {

/// The emulator's words for the lab's and back. Storages are shared, not copied.
emulator::SessionValue session_value(const Value& value, std::size_t index);
Value lab_value(const emulator::SessionValue& value);
Entry lab_entry(const emulator::EntryInfo& info);
Answer lab_answer(emulator::CallResult result, const std::vector<Value>& arguments);

}  // namespace isomer::lab
