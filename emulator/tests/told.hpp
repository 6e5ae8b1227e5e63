// Programs whose one argument says which fault is in them, and what is told of it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "isomer/emulator/module.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {

/// Whether a report of that kind has those words.
inline bool told(const RunResult& run, Kind kind, const std::string& words) {
  return std::any_of(run.reports.begin(), run.reports.end(), [&](const Report& each) {
    return each.kind == kind && each.text.find(words) != std::string::npos;
  });
}

/// A program that is built once, watched.
class ProgramWithFaults {
 public:
  ProgramWithFaults(const char* text, const char* name)
      : source_(text, name), module_(Module::build({.sources = {source_.path()}, .watch = true})) {}

  RunResult run(const char* how) const { return module_.run_main({how}); }
  void expect_told(const char* how, Kind kind, const char* words) const {
    const RunResult r = run(how);
    if (told(r, kind, words)) return;
    ADD_FAILURE() << how << ": " << words;
    for (const Report& each : r.reports) ADD_FAILURE() << each.text;
  }

 private:
  WrittenSource source_;
  Module module_;
};

}  // namespace isomer::emulator::tests
