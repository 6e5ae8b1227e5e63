#pragma once

#include "lab/candidate/candidate.hpp"
#include "lab/findings/code.hpp"

#include <string>
#include <utility>
#include <vector>

namespace isomer::lab {

enum class Subject : std::uint8_t { candidate, test, instruction };
/// How well a finding is founded. proved: bit-equal to the varied reference on all calls, and the inputs
/// separate that set from every other not larger. consistent: within the tolerance of the varied reference, 8
/// times outside of the plain one's, no other set as close. observed: a probe saw it. nearest: the best set
/// and what remains. unobservable: no finite input can show it.
enum class Strength : std::uint8_t { proved, consistent, observed, nearest, unobservable };
const char* name_of(Subject subject);
const char* name_of(Strength strength);

/// One diagnosed fault of a candidate, its test or its instruction.
struct Finding {
  Code code = Code::none;
  Subject subject = Subject::candidate;
  Strength strength = Strength::observed;
  std::string argument;  ///< as the candidate calls it; empty where none is meant
  std::string evidence;  ///< one sentence with numbers: what was done and what was seen
  SourcePlace location;
  std::string fix;  ///< one sentence: what to change
  // Of what `evidence` says, as facts:
  int role = -1;                 ///< of the original's arguments, the one that `argument` is
  SourcePlace other;             ///< the second access of a race
  std::string said;              ///< what ended the call, in its own words
  RefusedLaunch refused;         ///< of a launch that a device would refuse
  bool unknown_element = false;  ///< its PyTorch does not have the element type that was given at first
  bool shared = false;           ///< an access to shared memory
  bool harmless = false;         ///< a read of memory that nothing has written, which changes no answer
  bool absent_lane = false;      ///< a shuffle's value of a lane that is not there
  bool nowhere = false;          ///< one so far from every buffer that its index is none of the launch
  bool made = false;             ///< seen with inputs that were made, not recorded
  bool larger = false;           ///< seen with a size that no call of the test has
  bool beyond = false;           ///< seen in a call that the test has not, by one whose own calls are right
  bool narrow_integers = false;  ///< whole numbers of 64 bits are taken as such of 32
  bool same_store = false;       ///< a race of one line's stores with each other
  bool strays = false;           ///< of sizes that are not taken: the call leaves its buffers
  bool no_blocks = false;        ///< what ends a call that launches a grid without a block
  bool decides = false;          ///< the answer is wrong without it: no limit of what it takes
  bool row_factor = false;     ///< each row, or some elements, have a factor of their own, as where a number
                               ///< of the row is another
  bool by_influence = false;   ///< of an input that no element of a wrong answer depends on
  std::string edited;          ///< the line of `location` with the edit that makes every call right
  std::string edited_from;     ///< the same as it is
  std::vector<Code> also_fit;  ///< of an edit of the label: what others are that give the same answers
  std::vector<std::pair<int, std::string>> edited_also;  ///< other lines, by their numbers, that it needs
  bool whole = false;                                    ///< with its variations all of the answer is right
  std::string variation;                ///< the one of them that this finding names, where it names one
  std::vector<std::string> variations;  ///< of the op's reference, for findings of numbers
};

/// "rounding-mode K": the code, and the argument where one is meant.
std::string said_against(const Finding& finding);
/// Whether it is said of a candidate that may be right all the same: no fault.
bool is_remark(const Finding& finding);
/// Sorts by what to fix first; findings of one code stay in their order.
void order(std::vector<Finding>& findings);

/// Keeps one finding of each code, argument and place, the first.
void add_once(std::vector<Finding>& list, Finding finding);

enum class Stage : std::uint8_t { not_reached, passed, failed };
const char* name_of(Stage stage);

/// What is said about one candidate.
struct Diagnosis {
  std::string folder, candidate, op, entry;
  std::string called_with;           ///< the numbers of the first judged call: "m=256, k=16, eps=1e-10"
  std::string backend = "emulated";  ///< where it ran: emulated, cuda, hip
  Stage compile = Stage::not_reached, call = Stage::not_reached, exec = Stage::not_reached;
  std::vector<Finding> findings;   ///< ordered by what to fix first
  std::vector<std::string> notes;  ///< what is no fault: differences where the op is left open
  std::string error;               ///< why nothing could be said; empty otherwise
  int calls = 0;                   ///< judged against the reference
  double seconds = 0;
  /// Of the outputs of the first wrong call, for pictures.
  struct Difference {
    std::string output;
    std::vector<std::int64_t> shape;
    std::vector<std::uint8_t> wrong;  ///< per element, row-major
    std::vector<double> error;        ///< got − expected per element
  };
  std::vector<Difference> differences;
  /// "error" where nothing could be judged, "fail" with a finding against the candidate, else "pass".
  std::string verdict() const;
};

}  // namespace isomer::lab
