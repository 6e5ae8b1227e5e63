#pragma once

#include "lab/ask/trial.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace isomer::lab {

/// One answered call: what was given, and what came.
struct Evidence {
  std::shared_ptr<const Given> given;
  std::vector<std::vector<double>> outputs;
  std::vector<std::vector<std::uint8_t>> untouched;
  bool outside = false;  ///< the call was seen to read outside of its buffers
};

/// How far answers are from a varied reference.
struct Distance {
  std::size_t wrong = 0, elements = 0;
  std::size_t unknown = 0;  ///< read from outside, of which a set of variations says nothing
  double worst = 0;  ///< largest error over its bound; infinite where the bound is 0 and the error is not
  double error = 0;  ///< Σ error / bound over elements, capped each at 1000
};

/// The variations that explain what a candidate answers.
struct Explanation {
  std::vector<std::string> set;                  ///< empty: the reference itself does
  bool explains = false;                         ///< nothing is left over
  bool separated = false;                        ///< no other set that is not larger explains it
  Distance plain, left;                          ///< from the op, and from `set`
  std::vector<std::vector<std::string>> others;  ///< sets of the same size that explain it as well
  /// Of `set`, what alone shows only where the original leaves the answer open: no fault.
  std::vector<std::string> beside;
  /// Of `set`, what alone changes no answer at all: it shows because of the others.
  std::vector<std::string> brought;
  /// Variations that beside `set` change nothing on any input, while alone they would.
  std::vector<std::string> masked;
  /// Variations that explain what is different only where the original leaves the answer open.
  std::vector<std::string> open_set;
  double steps = 0;           ///< of the reference that it took to find this
  bool open_differs = false;  ///< it differs there, `open_set` explaining it or not
};

/// Looks for the smallest set of an op's variations under which its reference gives a candidate's answers.
class Search {
 public:
  explicit Search(const oracle::Oracle& oracle) : oracle_(oracle) {}

  void add(Evidence evidence);
  /// How long sets are looked for, in steps of the reference for each of the ways. Steps are counted and not
  /// timed, so that every machine finds the same.
  void set_patience(double steps) { patience_ = steps; }
  const std::vector<Evidence>& evidence() const { return evidence_; }

  /// `more`, where not null, answers a call with another case (null where it cannot): asked for inputs that
  /// separate two sets that explain everything so far.
  Explanation run(const std::function<std::shared_ptr<Evidence>(const std::string& line)>& more = {});

  Distance distance(const std::vector<std::string>& set, bool open = false) const;

 private:
  using Set = std::vector<int>;  ///< of indices into the op's variations, ascending
  std::vector<std::string> names(const Set& set) const;
  Distance distance(const Set& set, bool open, std::size_t enough) const;
  Distance of(const Set& set, const Evidence& evidence, bool open, std::size_t enough) const;
  const oracle::Expected& expected(const Set& set, std::size_t evidence) const;
  std::vector<std::size_t> smallest_first() const;
  std::optional<Distance> promising(const Set& set, bool open, std::size_t enough,
                                    const std::vector<std::size_t>& wrong_before,
                                    std::vector<std::size_t>& wrong) const;
  bool explains(const Set& set, bool open = false) const;
  Set greedy(const std::vector<int>& active, const Set& from, bool open);
  std::vector<Set> equals(const Set& set, const std::vector<int>& active) const;
  enum class Judged : std::uint8_t { right, wrong, unknown };
  static Judged judge(const Set& set, const Evidence& evidence, const oracle::ExpectedTensor& want,
                      std::size_t tensor, std::size_t i);
  std::vector<std::size_t> wrong_elements(const Set& set, std::size_t evidence) const;
  std::vector<std::vector<bool>> influences(const Set& beside, const std::vector<int>& active,
                                            std::size_t evidence) const;
  bool same(const Set& a, const Set& b) const;
  std::vector<int> active(bool open) const;
  std::string separating_line(const Set& a, const Set& b) const;
  oracle::Expected varied_by(const Set& set, std::size_t evidence) const;

  const oracle::Oracle& oracle_;
  double patience_ = 1.5e8;
  mutable double steps_ = 0;  ///< that the reference has made so far
  std::size_t plain_wrong_ = 0;
  mutable std::vector<std::size_t> failed_;  ///< how many sets did, by call
  std::vector<Evidence> evidence_;
  mutable std::map<std::pair<Set, std::size_t>, oracle::Expected> cache_;
};

}  // namespace isomer::lab
