// The outline of a source: its functions and device variables, found by their braces and specifiers, without
// a full parser. Enough to know what is a kernel, what runs on the device, and where bodies begin and end.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "source/tokens.hpp"

namespace isomer::emulator::source {

struct Function {
  std::string name;
  std::string scope;  ///< "ns::inner::" or empty
  bool global = false, device = false, host = false, constant_expression = false;
  bool is_template = false, member = false, definition = false;
  std::size_t name_at = 0;                 ///< tokens
  std::size_t parameters = 0;              ///< its opening parenthesis
  std::size_t begin = 0;                   ///< first token of the declaration
  std::size_t body = 0, end = 0;           ///< braces of the body
  std::vector<std::size_t> launch_bounds;  ///< first and last token of the first bound
  std::vector<std::size_t> cluster_dims;   ///< of all that stands in the brackets
};

struct Variable {
  std::string name, scope;
  bool constant = false;
  bool guarded = false;       ///< may stand in a section of its own, between bytes that belong to nobody
  bool zero = false;          ///< of a type of the language and without an initialiser
  std::size_t begin = 0;      ///< first token of the declaration
  std::size_t specifier = 0;  ///< the token of __device__, __constant__ or __managed__
};

/// A `__shared__` statement outside of every function.
struct GlobalShared {
  std::size_t begin = 0, end = 0;  ///< its tokens, the semicolon included
  std::string scope;
};

/// A type, constant or variable of a namespace or class.
struct Declaration {
  std::string name, scope;
  std::size_t begin = 0, end = 0;  ///< its tokens, the semicolon included
  std::size_t body = 0;            ///< where a class closes, else 0
};

struct Outline {
  std::vector<Function> functions;
  std::vector<Declaration> declarations;
  std::vector<Variable> variables;
  std::vector<GlobalShared> shared;
};

Outline outline(const Text& text);

/// The token that closes the bracket at `open`, or tokens.size().
std::size_t closing(const std::vector<Token>& tokens, std::size_t open);

}  // namespace isomer::emulator::source
