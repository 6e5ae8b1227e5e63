// With the policies of the devices that are named by their vendor, and with the algorithms that the toolkit's
// policy brings with it.
#pragma once
#include_next <thrust/execution_policy.h>

#include <thrust/copy.h>
#include <thrust/fill.h>
#include <thrust/sequence.h>

#include "../isomer_emulator/thrust_policies.h"
