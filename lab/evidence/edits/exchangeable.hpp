#pragma once

#include "lab/findings/code.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

/// A source in which many expressions can be exchanged for others, one at a time, by a number that each call
/// chooses: it is compiled once, and hundreds of edits of it are tried.
namespace isomer::lab {

/// A line without its indentation, as it is and as it becomes.
struct EditedLine {
  int line = 0;
  std::string was, becomes;
};

/// One edit, of one line or of several.
struct Exchange {
  int number = 0;  ///< CallSettings::edit
  int line = 0;
  Code code = Code::wrong_expression;  ///< what a source is told to have that this edit makes right
  int rank = 0;                        ///< the likeliest mistakes first
  std::string was, becomes;            ///< the first line, as in EditedLine
  std::vector<EditedLine> also;        ///< the lines behind it that become others with it
};

struct Exchangeable {
  std::string source;  ///< as it is compiled: its lines have the numbers that they had
  std::vector<Exchange> edits;
};

/// What of a line is left as it is, since it does not compile otherwise: each leaves what stands before it
/// alone, too.
enum class LeftAlone { rewrites, statements, all };

/// What a label has that a port may lack, as C++ writes it.
struct OfLabel {
  std::vector<std::string> bounds = {"0.0f"};        ///< numbers between which a value may have to be
  std::vector<std::string> functions = {};           ///< of one number: "expf"
  std::vector<std::string> numbers = {};             ///< all that it writes, without signs
  std::vector<std::vector<std::string>> lists = {};  ///< of more than one number, in brackets
};

/// The source with every edit that is worth trying, but for those of some lines.
Exchangeable exchangeable(const std::string& source, const std::map<int, LeftAlone>& lines = {},
                          const OfLabel& label = {});

/// The numbers and lists that a label has, those that it bounds values by, and the functions that it takes.
OfLabel of_label(const std::string& label);

}  // namespace isomer::lab
