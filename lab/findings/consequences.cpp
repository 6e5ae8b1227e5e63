#include "lab/findings/consequences.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace isomer::lab {
namespace {

/// The variations that take a scale from beyond its matrix wherever the matrix is small, and whose it is.
struct ReadsBeyond {
  std::string_view variation;
  std::array<std::string_view, 2> arguments;
};
constexpr ReadsBeyond kReadsBeyond[] = {{"b_s=columns-of-", {"b_s", ""}},
                                        {"scale=steps-of-", {"a_s", "b_s"}},
                                        {"scale=rows-of-steps-of-", {"a_s", "b_s"}}};

/// Whether an access outside is what a wrong index of scales, which is told, comes to.
bool is_wrong_index(const Finding& access, const std::vector<Finding>& numbers) {
  if (access.code != Code::out_of_bounds_read) return false;
  for (const Finding& finding : numbers)
    for (const std::string& variation : finding.variations)
      for (const ReadsBeyond& each : kReadsBeyond)
        if (finding.strength != Strength::nearest && variation.starts_with(each.variation) &&
            std::find(each.arguments.begin(), each.arguments.end(), access.argument) != each.arguments.end())
          return true;
  return false;
}

/// The variations that hide keys, so that a row of few has none.
constexpr std::string_view kHideKeys[] = {"keys=without-", "window_right=exclusive", "window_left=exclusive"};

bool hides_keys(const Finding& finding) {
  return std::any_of(finding.variations.begin(), finding.variations.end(), [](const std::string& name) {
    return std::any_of(std::begin(kHideKeys), std::end(kHideKeys),
                       [&](std::string_view each) { return name.starts_with(each); });
  });
}

/// Memory of a block that is read before anyone has written it.
bool unwritten_shared(const Finding& finding) {
  return finding.code == Code::uninitialised_read && finding.shared;
}

/// Whether what a device refuses for an empty tensor it refuses of the same kernel for others.
bool refused_anyway(const Finding& of_empty, const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& each) {
    return each.code == Code::launch_failed && each.refused.is_alike(of_empty.refused);
  });
}

}  // namespace

void leave_unwritten_shared(std::vector<Finding>& findings) {
  const auto has = [&](const auto& is) { return std::any_of(findings.begin(), findings.end(), is); };
  const auto is_barrier = [](const Finding& f) { return f.code == Code::missing_barrier && !f.same_store; };
  if (!has(unwritten_shared) || has(is_barrier)) return;
  const auto strays = [](const Finding& f) {
    return f.code == Code::out_of_bounds_write || f.code == Code::out_of_bounds_read;
  };
  const bool astray = has(strays);
  std::erase_if(findings, [&](const Finding& f) {
    return strays(f) || f.code == Code::unwritten_output || f.code == Code::missing_term ||
           (astray && f.code == Code::uninitialised_read && !f.shared);
  });
}

void add_causes(std::vector<Finding> numbers, std::vector<Finding> probed, std::vector<Finding>& findings,
                bool recorded) {
  const auto by_wrong_index = [&](const Finding& each) { return is_wrong_index(each, numbers); };
  std::erase_if(findings, by_wrong_index);
  std::erase_if(probed, by_wrong_index);
  // Stores of one value in any order, of which the answer is the same, are no cause of another one.
  const bool benign = std::any_of(findings.begin(), findings.end(),
                                  [](const Finding& f) { return f.code == Code::benign_race; });
  const auto found = [&](Code code) {
    const auto has = [&](const std::vector<Finding>& list) {
      return std::any_of(list.begin(), list.end(), [&](const Finding& f) {
        return f.code == code && !f.absent_lane && !(benign && f.same_store);
      });
    };
    return has(probed) || has(findings);
  };
  // Too few blocks are none at all where the size is small: the tail is the fault.
  const auto without_blocks = [](const Finding& f) {
    return f.no_blocks && (f.code == Code::launch_failed || f.code == Code::crash);
  };
  if (std::any_of(probed.begin(), probed.end(), [](const Finding& f) {
        return f.code == Code::tail_mask || f.code == Code::unwritten_output;
      })) {
    std::erase_if(findings, without_blocks);
    std::erase_if(probed, without_blocks);
  }
  // Rows far apart are a probe's: nearer ones are right, or wrong for another reason.
  const bool wrapped = std::any_of(findings.begin(), findings.end(),
                                   [](const Finding& f) { return f.code == Code::index_overflow; });
  for (Finding& finding : numbers) {
    // Numbers that no set explains have their cause where memory or threads go wrong.
    const bool memory =
        found(Code::race) || found(Code::missing_barrier) || found(Code::out_of_bounds_read) ||
        found(Code::warp_size) || found(Code::uninitialised_read) || found(Code::unwritten_output) ||
        found(Code::tail_mask) || found(Code::out_of_bounds_write) || found(Code::stale_state) || wrapped ||
        found(Code::ignores_index) || found(Code::nondeterministic);
    const bool unexplained =
        finding.code == Code::unexplained || (finding.code == Code::nan_inf && finding.variations.empty());
    if ((unexplained || finding.row_factor) && memory) continue;
    // One fault, one finding: the probe's has the better evidence.
    const bool probed_too = finding.code == Code::tail_mask || finding.code == Code::ignores_index ||
                            finding.code == Code::assumes_contiguous;
    if (probed_too && found(finding.code)) continue;
    add_once(findings, std::move(finding));
  }
  const bool read_by_kernel = std::any_of(findings.begin(), findings.end(), [](const Finding& f) {
    return f.code == Code::uninitialised_read && f.location.line != 0;
  });
  for (Finding& finding : probed) {
    // On a real device these are seen as other answers to one call, which chance gives as well.
    if ((finding.code == Code::stale_state || finding.code == Code::uninitialised_read) &&
        found(Code::nondeterministic))
      continue;
    // What is not written at the end of every size is the tail; what was not launched writes nothing.
    if (finding.code == Code::unwritten_output && (found(Code::tail_mask) || found(Code::launch_failed)))
      continue;
    // Sizes that cannot be launched are wrong for no mask.
    if (finding.code == Code::tail_mask && found(Code::launch_failed)) continue;
    // NaN of a size at which no key is left.
    if (finding.code == Code::nan_inf && std::any_of(findings.begin(), findings.end(), hides_keys)) continue;
    // What a device refuses with elements as well is nothing of the empty tensor's.
    if (finding.code == Code::empty_input && refused_anyway(finding, findings)) continue;
    // Rows that another output of the same index leaves out are not where the index says.
    if (finding.code == Code::unwritten_output && found(Code::ignores_index)) continue;
    // What the kernel was seen to read is said with its line, and what it reads for want of a barrier there.
    if (finding.code == Code::uninitialised_read && finding.location.line == 0 &&
        (read_by_kernel || found(Code::missing_barrier)))
      continue;
    // Answers that depend on the order of threads are right for some sizes and wrong for others as well.
    if (finding.code == Code::tail_mask && (found(Code::missing_barrier) || found(Code::race) ||
                                            found(Code::uninitialised_read) || found(Code::stale_state)))
      continue;
    add_once(findings, std::move(finding));
  }
  // A store that leaves its row meets those of the next, and one past the end those of the memory behind it,
  // of whatever buffer; so does what reads there.
  const std::vector<Finding> all = findings;
  std::erase_if(findings, [&](const Finding& f) {
    return f.code == Code::race && std::any_of(all.begin(), all.end(), [&](const Finding& outside) {
             const bool strays =
                 outside.code == Code::out_of_bounds_write || outside.code == Code::out_of_bounds_read;
             return strays && outside.location.line != 0 &&
                    (outside.location.line == f.location.line || outside.location.line == f.other.line);
           });
  });
  // What was seen to leave its buffers is the cause of what comes of it: of an order that matters where no
  // two threads were seen to meet, of elements of that very buffer that were stored beside it, and of what is
  // read or crashes at that very line.
  const auto left_by = [&](const Finding& f, Code code) {
    return std::any_of(all.begin(), all.end(), [&](const Finding& other) {
      const bool here = f.location.line != 0 && other.location.line == f.location.line;
      const bool buffer = f.role >= 0 && other.role == f.role;
      return other.code == code &&
             (f.code == Code::race || (f.code == Code::unwritten_output ? buffer : here));
    });
  };
  std::erase_if(findings, [&](const Finding& f) {
    const bool unplaced_race = f.code == Code::race && f.location.line == 0 && f.argument.empty();
    if (unplaced_race)
      return left_by(f, Code::out_of_bounds_write) || left_by(f, Code::out_of_bounds_read) ||
             left_by(f, Code::uninitialised_read) || left_by(f, Code::missing_barrier);
    if (f.code == Code::unwritten_output) return left_by(f, Code::out_of_bounds_write);
    // Host code that looks at the device's last error gives up for what was seen to leave its buffers.
    if (f.code == Code::crash && f.said.find("illegal memory access") != std::string::npos)
      return found(Code::out_of_bounds_read) || found(Code::out_of_bounds_write);
    if (f.code == Code::uninitialised_read || f.code == Code::crash)
      return left_by(f, Code::out_of_bounds_read) || left_by(f, Code::out_of_bounds_write);
    return false;
  });
  // A thread that leaves them ends there, and is missing in what its warp does next.
  if (found(Code::out_of_bounds_read) || found(Code::out_of_bounds_write))
    std::erase_if(findings, [](const Finding& f) {
      return f.code == Code::warp_size && f.strength == Strength::observed && f.variations.empty();
    });
  // Sizes for which it leaves its buffers are no limit of one that leaves them for the sizes within it too.
  if (found(Code::out_of_bounds_read) || found(Code::out_of_bounds_write))
    std::erase_if(findings, [](const Finding& f) { return f.code == Code::shape_refused && f.strays; });
  leave_unwritten_shared(findings);
  if (found(Code::missing_barrier))  // what another thread has not written yet
    std::erase_if(findings, unwritten_shared);
  // Stores of one value, as all that were seen, change nothing beside what a missing barrier changes.
  const bool lacks_barrier = std::any_of(findings.begin(), findings.end(), [](const Finding& f) {
    return f.code == Code::missing_barrier && !f.same_store;
  });
  if (lacks_barrier) {
    bool told = false;
    for (Finding& finding : findings)
      if ((finding.code == Code::race || finding.code == Code::missing_barrier) && finding.same_store)
        finding.code = Code::benign_race;
    std::erase_if(findings, [&](const Finding& each) {
      return each.code == Code::benign_race && std::exchange(told, true);
    });
  }
  // Rows that no index names hold none either: threads that read through them stray, and end before they have
  // written what others wait for. The callers' own rows are all filled.
  const auto strayed = [&](const Finding& f) {
    return f.code == Code::out_of_bounds_read && ((recorded && f.made) || f.nowhere);
  };
  if (found(Code::ignores_index) && std::erase_if(findings, strayed) > 0)
    std::erase_if(findings, unwritten_shared);
}

}  // namespace isomer::lab
