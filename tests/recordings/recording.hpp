#pragma once

#include <isomer/bundle.hpp>

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

/// The bundles beside this file: calls of the original kernels on a GPU and what they answered (README.md).
namespace isomer::recordings {

/// How near a recorded output is to the op; the kinds are described in README.md.
struct Rule {
  enum class Kind { exact, ulp, step, tolerance, scaled };
  Kind kind = Kind::exact;
  double limit = 0;        ///< ulps, a factor of the op's tolerance, or a factor of max(1, |ref|)
  bool c_of_gemm = false;  ///< tolerance: limit is fp8_gemm's c instead of a factor
};

struct Recording {
  std::string name;
  Bundle bundle;
  std::string op;
  nlohmann::json options;
  std::vector<std::string> inputs, outputs;
  std::map<std::string, Rule> rules;                            ///< by output
  std::vector<std::string> variations;                          ///< with which the reference is the original
  std::map<std::string, std::vector<std::string>> exact_under;  ///< by output: further variations
  std::map<std::string, std::int64_t> departures;  ///< by output: elements that are not the op's answer
  bool undefined = false;                          ///< has inputs marked †
};

/// Folder of the bundles.
std::string folder();
/// Names of the files there, without the suffix, in order; empty where the folder is not there.
std::vector<std::string> names();
/// Names in the table of the folder's README.md, in order.
std::vector<std::string> listed_names();
/// Throws for a bundle that lacks a key or names an unknown rule.
Recording read(const std::string& name);

}  // namespace isomer::recordings
