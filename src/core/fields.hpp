#pragma once

#include "core/contract.hpp"

#include <climits>
#include <cstddef>
#include <string_view>
#include <utility>

/// An op's arguments and options as tables of members, each listed once:
///   core::args<SinArgs, isomer_sin_args>(core::tensor<&SinArgs::x, &isomer_sin_args::x>({.dtypes = …}), …)
///   core::options<…>(core::option<&ActQuantOptions::block_size, &isomer_act_quant_options::block_size>("…"),
///   …)
/// Names, kinds, defaults and enumerators come from the members themselves. bind(), the C ABI, `isomer ops`
/// and the options of case lines read these tables.
namespace isomer::core {

/// The last word of a member's or an enumerator's qualified name; empty for a number that no enumerator has.
template <auto kEntity>
constexpr std::string_view name_of_entity() {
  // GCC: "… [with auto kEntity = &isomer::SinArgs::x; …]"; Clang: "… [kEntity = &isomer::SinArgs::x]".
  constexpr std::string_view kText = __PRETTY_FUNCTION__, kBefore = "kEntity = ";
  std::string_view name = kText.substr(kText.find(kBefore) + kBefore.size());
  name = name.substr(0, name.find_first_of(";]"));
  if (name.front() == '(') return {};
  return name.substr(name.rfind(':') + 1);
}

template <class Member>
struct MemberOf;
template <class Struct, class Type>
struct MemberOf<Type Struct::*> {
  using Owner = Struct;
  using Value = Type;
};

template <class Struct, class Type>
std::size_t offset_of(Type Struct::*member) {
  const Struct object{};
  return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&(object.*member)) -
                                  reinterpret_cast<const std::byte*>(&object));
}

/// Initialises a member of any type; never defined.
struct AnyMember {
  template <class Type>
  operator Type() const;
};
template <class Struct, std::size_t... kIndex>
constexpr bool takes_members(std::index_sequence<kIndex...>) {
  return requires { Struct{(static_cast<void>(kIndex), AnyMember{})...}; };
}
/// The members of a plain struct.
template <class Struct, std::size_t kCount = 0>
constexpr std::size_t member_count() {
  if constexpr (takes_members<Struct>(std::make_index_sequence<kCount + 1>{}))
    return member_count<Struct, kCount + 1>();
  else
    return kCount;
}

/// The enumerators of an enum that counts from 0.
template <class Enum, int kFrom = 0>
void add_enumerators(std::vector<std::string>& names) {
  if constexpr (constexpr std::string_view kName = name_of_entity<static_cast<Enum>(kFrom)>();
                !kName.empty()) {
    names.emplace_back(kName);
    add_enumerators<Enum, kFrom + 1>(names);
  }
}

/// What C calls a member, which it must call by the same name.
template <auto kMember, auto kInC, class Type>
std::size_t offset_in_c() {
  if constexpr (std::is_null_pointer_v<decltype(kInC)>) {
    return kNotInC;
  } else {
    static_assert(std::is_same_v<typename MemberOf<decltype(kInC)>::Value, Type>,
                  "C has another type than this kind of member has there");
    static_assert(name_of_entity<kMember>() == name_of_entity<kInC>(), "C has another name for the member");
    return offset_of(kInC);
  }
}

/// One argument. `arg` says all but its name and place.
template <auto kMember, auto kInC = nullptr>
Arg tensor(Arg arg) {
  static_assert(std::is_same_v<typename MemberOf<decltype(kMember)>::Value, Tensor>);
  arg.name = name_of_entity<kMember>();
  arg.offset = offset_of(kMember);
  arg.offset_in_c = offset_in_c<kMember, kInC, const isomer_tensor*>();
  return arg;
}

/// One option. `fallback` says what the default means where its number does not ("1/sqrt(D)").
template <auto kMember, auto kInC = nullptr>
Option option(std::string meaning, std::string fallback = {}) {
  using Struct = typename MemberOf<decltype(kMember)>::Owner;
  using Type = typename MemberOf<decltype(kMember)>::Value;
  Option option;
  option.name = name_of_entity<kMember>();
  option.meaning = std::move(meaning);
  option.offset = offset_of(kMember);
  option.bytes = sizeof(Type);
  const Type value = Struct{}.*kMember;
  if constexpr (std::is_same_v<Type, bool>) {
    option.kind = Option::Kind::boolean;
    option.offset_in_c = offset_in_c<kMember, kInC, int>();
  } else if constexpr (std::is_enum_v<Type>) {
    option.kind = Option::Kind::choice;
    option.offset_in_c = offset_in_c<kMember, kInC, int>();
    add_enumerators<Type>(option.enumerators);
  } else if constexpr (std::is_same_v<Type, float>) {
    option.kind = Option::Kind::f32;
    option.offset_in_c = offset_in_c<kMember, kInC, double>();
  } else {
    static_assert(std::is_integral_v<Type> && std::is_signed_v<Type> && sizeof(Type) >= 4);
    option.kind = Option::Kind::integer;
    option.offset_in_c = offset_in_c<kMember, kInC, isomer_int64>();
  }
  option.value = static_cast<double>(value);
  option.fallback = fallback.empty() ? option.text_of(option.value) : std::move(fallback);
  return option;
}

/// The struct whose members a list of rows covers, and the C ABI's, which begins with its size.
template <class Struct, class InC, std::size_t kRows>
constexpr void check_covered() {
  static_assert(member_count<Struct>() == kRows,
                "a member of the struct has no row, or a row is there twice");
  if constexpr (!std::is_void_v<InC>)
    static_assert(member_count<InC>() == kRows + 1, "a member of the C struct has no row");
}

/// All arguments of an op.
template <class Args, class InC = void, class... Rows>
std::vector<Arg> args(Rows... rows) {
  check_covered<Args, InC, sizeof...(Rows)>();
  std::vector<Arg> list;
  (list.push_back(std::move(rows)), ...);
  return list;
}

/// All options of an op.
template <class Options, class InC = void, class... Rows>
std::vector<Option> options(Rows... rows) {
  check_covered<Options, InC, sizeof...(Rows)>();
  std::vector<Option> list;
  (list.push_back(std::move(rows)), ...);
  return list;
}

}  // namespace isomer::core
