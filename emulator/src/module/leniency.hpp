// What nvcc's front end takes and g++ refuses: a type of a template named without `typename` where nothing else may
// stand, as C++20 has it, a name of a class that means something else behind its first use, and a function that is declared
// behind the template that calls it.
#pragma once

#include <string>
#include <vector>

namespace isomer::emulator {

/// The flags with which g++ takes what it complains of, where that is such a thing and they do not say it yet; else none.
std::vector<std::string> lenient_flags(const std::string& complaint, const std::vector<std::string>& flags);

/// What else g++ let through with these flags, as an error says it; empty: nothing.
std::string let_through(const std::string& output);

}  // namespace isomer::emulator
