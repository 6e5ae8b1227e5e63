// A build for another machine has no emulated device: candidates are refused in one sentence.
#include "lab/candidate/candidate.hpp"

#include <isomer/error.hpp>

namespace isomer::lab {

std::shared_ptr<const Candidate> build_candidate(const std::filesystem::path& path, const BuildSettings&,
                                                 BuildFailure&) {
  throw Error(ErrorCode::unsupported,
              path.string() + ": this build of Isomer has no emulator to run candidates on");
}

}  // namespace isomer::lab
