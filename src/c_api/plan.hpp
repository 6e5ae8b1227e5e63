#pragma once

#include <isomer/plan.hpp>

#include "c_api/entry.hpp"

struct isomer_plan {
  isomer::AnyPlan plan;
};

namespace isomer::c {

/// The plan of one call of an op, by the tables of its contract; null where there is none.
template <class Args, class Options, class CArgs, class COptions>
isomer_status make_plan(const core::Contract& (*contract)(), const isomer_queue* queue, const CArgs* args,
                        const CArgs& args_init, const COptions* options, const COptions& options_init,
                        isomer_plan** made) noexcept {
  if (made != nullptr) *made = nullptr;
  return with_call<Args, Options>(contract, queue, args, args_init, options, options_init,
                                  [&](const Queue& on, const Args& cxx_args, const Options& cxx_options) {
                                    check_given(contract().op, "plan", made);
                                    *made = new isomer_plan{plan(on, cxx_args, cxx_options)};
                                  });
}

}  // namespace isomer::c
