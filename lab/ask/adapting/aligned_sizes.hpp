#pragma once

#include "lab/ask/adapting/simpler_ports.hpp"
#include "lab/ask/find_call.hpp"

#include <memory>
#include <string>

namespace isomer::lab {

/// What was seen to touch more at once than an address is a multiple of; null where nothing did.
const Seen* unaligned(const Answer& answer);

/// The called port with those of its sizes alone with which nothing is touched so; null where there are none.
std::shared_ptr<Simpler> of_aligned_sizes(const Candidate& candidate, const Called& called,
                                          const CallSettings& settings);

/// Asks for these from here on, and tells the other sizes as a limit: `seen` in a call of `line`.
void take_aligned_sizes(const Candidate& candidate, const CallSettings& settings,
                        const std::shared_ptr<Simpler>& aligned, const Seen& seen, const std::string& line,
                        Called& called);

/// A stranger's call that ends where a vector lies at no multiple of its size, or that is refused, and goes
/// well with sizes of whole vectors and blocks.
void adapt_to_alignment(const Candidate& candidate, const CallRequest& request, Called& called);

}  // namespace isomer::lab
