#pragma once

// Everything that Isomer offers in C++.
#include <isomer/act_quant.hpp>
#include <isomer/attention.hpp>
#include <isomer/bundle.hpp>
#include <isomer/dtype.hpp>
#include <isomer/error.hpp>
#include <isomer/executor.hpp>
#include <isomer/quantize_copy_kv.hpp>
#include <isomer/queue.hpp>
#include <isomer/sin.hpp>
#include <isomer/tensor.hpp>
#include <isomer/weight_dequant.hpp>
