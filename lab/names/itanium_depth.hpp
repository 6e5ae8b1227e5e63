#pragma once

#include "lab/names/itanium_parser.hpp"

namespace isomer::lab {

/// One level of recursion. No compiler's name comes near the limit; a malicious one would take the stack.
struct ItaniumParser::Depth {
  explicit Depth(int& depth) : depth_(depth), allowed(++depth <= 512) {}
  ~Depth() { --depth_; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;

 private:
  int& depth_;

 public:
  const bool allowed;
};

}  // namespace isomer::lab
