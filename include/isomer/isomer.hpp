#pragma once

/// The whole C++ API.
#include <isomer/act_quant.hpp>
#include <isomer/attention.hpp>
#include <isomer/bundle.hpp>
#include <isomer/devices.hpp>
#include <isomer/expert_layer.hpp>
#include <isomer/flash_decode.hpp>
#include <isomer/fp8_gemm.hpp>
#include <isomer/fp8_linear.hpp>
#include <isomer/quantize_copy_kv.hpp>
#include <isomer/silu_mul_quant.hpp>
#include <isomer/sin.hpp>
#include <isomer/weight_dequant.hpp>
#include <isomer/weight_quant.hpp>
