#pragma once

#include "core/fields.hpp"

#include <cstring>
#include <optional>
#include <string>

/// A contract with every kind of rule, and a valid call of it for tests to break.
namespace isomer::core {

struct ProbeArgs {
  Tensor x, scale, index, y, bias, cache, update, table;
};
struct ProbeOptions {
  int block = 4;
};

inline const Contract& probe_contract() {
  static const Contract contract = [] {
    Contract c;
    c.op = "probe";
    c.summary = "for tests";
    c.source = "tests";
    c.args = args<ProbeArgs>(
        tensor<&ProbeArgs::x>({.dtypes = {DType::f32, DType::f16}, .shapes = {"... M K"}}),
        tensor<&ProbeArgs::scale>({.dtypes = {DType::f32},
                                   .shapes = {"M ceil(K/block)", "M ceil(K/block) 1"},
                                   .strides = Strides::any}),
        tensor<&ProbeArgs::index>(
            {.dtypes = {DType::i32, DType::i64}, .shapes = {"M+1"}, .strides = Strides::contiguous}),
        tensor<&ProbeArgs::y>({.role = Role::out,
                               .dtypes = {DType::f32, DType::f16, DType::bf16},
                               .shapes = {"... M K"},
                               .may_alias = "x",
                               .dtype_same_as = "x"}),
        tensor<&ProbeArgs::bias>({.optional = true, .dtypes = {DType::f32}, .shapes = {"K"}}),
        tensor<&ProbeArgs::cache>({.role = Role::inout,
                                   .optional = true,
                                   .dtypes = {DType::f32},
                                   .shapes = {"_ K"},
                                   .written_with = "update"}),
        tensor<&ProbeArgs::update>(
            {.optional = true, .dtypes = {DType::f32}, .shapes = {"2*M K-1"}, .strides = Strides::any}),
        tensor<&ProbeArgs::table>({.role = Role::out,
                                   .optional = true,
                                   .dtypes = {DType::i8},
                                   .shapes = {"M 3"},
                                   .strides = Strides::any,
                                   .host_ok = true}));
    c.options = options<ProbeOptions>(option<&ProbeOptions::block>("elements of one scale"));
    c.clauses = {{.text = "block is positive",
                  .broken = [](const Call& call) -> std::optional<std::string> {
                    const int block = call.options<ProbeOptions>().block;
                    if (block > 0) return std::nullopt;
                    return "block is " + std::to_string(block) + ", expected a positive number";
                  }},
                 {.text = "index ascends",
                  .broken = [](const Call& call) -> std::optional<std::string> {
                    const Tensor& index = call.args<ProbeArgs>().index;
                    for (std::int64_t i = 0; i + 1 < index.numel(); ++i) {
                      const std::int32_t* at = index.at<const std::int32_t>(i);
                      if (at[1] < at[0]) return "index descends at " + std::to_string(i + 1);
                    }
                    return std::nullopt;
                  },
                  .reads_data = true}};
    c.symbols = [](const Call& call, Symbols& symbols) {
      symbols.set("block", call.options<ProbeOptions>().block);
    };
    return finish(std::move(c));
  }();
  return contract;
}

/// A valid call over one block of memory: x and y [2, 3, 8], scale [3, 2], index [4], update [6, 7], cache
/// [5, 8].
struct ProbeCall {
  ProbeCall() {
    args.x = Tensor(memory, DType::f32, {2, 3, 8});
    args.y = Tensor(memory + 1024, DType::f32, {2, 3, 8});
    args.scale = Tensor(memory + 2048, DType::f32, {3, 2});
    args.index = Tensor(memory + 3072, DType::i32, {4});
    std::memset(memory, 0, sizeof memory);
  }

  Call call() const { return bind(probe_contract(), args, options); }

  /// The sentence that validation gives, or "valid".
  std::string verdict(Device device = {}, bool check_data = true) const {
    try {
      validate(call(), device, check_data);
      return "valid";
    } catch (const Error& error) {
      return error.code() == ErrorCode::bad_argument ? error.what() : "another code";
    }
  }

  ProbeArgs args;
  ProbeOptions options;
  alignas(64) std::byte memory[8192];
};

}  // namespace isomer::core
