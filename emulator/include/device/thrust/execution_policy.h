// With the policies of the devices that are named by their vendor.
#pragma once
#include_next <thrust/execution_policy.h>

#include "../isomer_emulator/thrust_policies.h"
