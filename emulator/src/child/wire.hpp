// What travels between the caller and the process that runs the user's code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "isomer/emulator/module.hpp"
#include "runtime/settings.hpp"

namespace isomer::emulator {

enum class Job : std::uint8_t { kernel, function, program };

struct Request {
  Job job = Job::kernel;
  std::string library, name;
  int lanes = 32;
  bool watch = false, hip = false;
  Geometry geometry;
  RunOptions options;
  std::vector<std::string> words;  ///< of a program's command line
  struct Parameter {
    Argument::Role role = Argument::Role::value;
    std::string name, bits;
    std::uint64_t bytes = 0, offset = 0;  ///< of a buffer, in the shared file
  };
  std::vector<Parameter> parameters;
  BuiltFrom built_from;
};

std::string pack(const Request& request);
Request unpack_request(const std::string& bytes);
std::string pack(const RunResult& result);
RunResult unpack_result(const std::string& bytes);

}  // namespace isomer::emulator
