#pragma once

#include <cstdint>
#include <string>

namespace isomer::lab {

enum class Status { passed, failed, refused };
constexpr const char* name_of(Status status) {
  return status == Status::passed ? "passed" : status == Status::failed ? "failed" : "refused";
}

/// One case through one implementation.
struct Outcome {
  std::string op;
  std::string implementation;
  std::string line;  ///< the case, with its seed: paste it back
  Status status = Status::passed;
  std::string reason;        ///< empty where it passed
  double max_abs = 0;        ///< largest |got − expected| of finite elements
  double max_rel = 0;        ///< largest |got − expected| / |expected| of finite, non-zero elements
  double tolerance = 0;      ///< the bound where the error comes nearest to it
  double worst = 0;          ///< largest error over its bound; above 1 is a failure
  std::int64_t lenient = 0;  ///< elements that pass only by the op's rule for approximate division
  double seconds = 0;        ///< of both runs of the implementation
};

}  // namespace isomer::lab
