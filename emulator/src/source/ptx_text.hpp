// How the text of PTX is taken apart, and how the C++ that is made of it is put together.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::emulator::source {

using Words = std::vector<std::string>;

std::string trimmed(std::string_view text);
/// Parts between marks that stand in no bracket.
Words split(const std::string& text, char by);
bool has(const Words& parts, const char* what);
/// The type of ptx.h that an instruction's last word names.
std::optional<std::string> type_of(const std::string& word);

bool is_label(const std::string& text);
/// What it is called in C++.
std::string label(const std::string& name);
/// Whether the statement is a loop that only waits for a barrier.
bool only_waits(const std::string& text);

/// With the names of ptx.h in full: the user's own may be the same.
std::string qualified(const std::string& code);

}  // namespace isomer::emulator::source
