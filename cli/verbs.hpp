#pragma once

#include <CLI/CLI.hpp>

#include <isomer/tensor.hpp>

#include <functional>
#include <string>
#include <vector>

namespace isomer::cli {

/// Exit codes of every verb.
enum Exit { holds = 0, findings = 1, bad_usage = 2, nothing_checked = 3 };

/// A verb adds its options to `app` and gives what to do once they are parsed.
using Run = std::function<int()>;
Run check(CLI::App& app);
Run ops(CLI::App& app);
Run record(CLI::App& app);
Run explain(CLI::App& app);
Run bench(CLI::App& app);
Run prebuild(CLI::App& app);
Run doctor(CLI::App& app);
Run emulate(CLI::App& app);
/// The words behind `emulate` as its options have them: compilers write -std=, and what stands behind -- is
/// the program's, however it begins.
std::vector<std::string> emulate_words(const std::vector<std::string>& words);
Run kernels(CLI::App& app);
Run trace(CLI::App& app);
Run show(CLI::App& app);
Run diff(CLI::App& app);
Run report(CLI::App& app);

/// "cuda" or "cuda:1". Throws Error bad_argument for any other text.
Device device_of(const std::string& verb, const std::string& text);

/// What an unsigned option takes. CLI11 alone takes -1 for the largest number.
std::string whole_number(const std::string& text);
std::string positive_whole_number(const std::string& text);

}  // namespace isomer::cli
