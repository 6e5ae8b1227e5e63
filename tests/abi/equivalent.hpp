#pragma once

#include <type_traits>

namespace isomer {

template <class T>
constexpr bool complete = requires {
  sizeof(T);
};

template <class Ours, class Theirs>
constexpr bool equivalent();

template <class Ours, class Theirs>
struct SameCall : std::false_type {};
template <class R, class... A, class S, class... B>
requires(sizeof...(A) == sizeof...(B)) struct SameCall<R(A...), S(B...)>
    : std::bool_constant<equivalent<R, S>() && (equivalent<A, B>() && ...)> {
};
template <class R, class... A, class S, class... B>
requires(sizeof...(A) == sizeof...(B)) struct SameCall<R(A...), S(B...) noexcept>
    : std::bool_constant<equivalent<R, S>() && (equivalent<A, B>() && ...)> {
};

/// Whether two types of different headers are passed and laid out in the same way, as far as their names
/// allow to see it: integers and enumerations of one size, pointers to equivalent types, structs of one size
/// and alignment, handles to structs that neither header shows.
template <class Ours, class Theirs>
constexpr bool equivalent() {
  using A = std::remove_cv_t<Ours>;
  using B = std::remove_cv_t<Theirs>;
  if constexpr (std::is_same_v<A, B>)
    return true;
  else if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>)
    return equivalent<std::remove_pointer_t<A>, std::remove_pointer_t<B>>();
  else if constexpr (std::is_function_v<A> && std::is_function_v<B>)
    return SameCall<A, B>::value;
  else if constexpr (std::is_enum_v<A> || std::is_enum_v<B>)
    return (std::is_enum_v<A> || std::is_integral_v<A>)&&(std::is_enum_v<B> ||
                                                          std::is_integral_v<B>)&&sizeof(A) == sizeof(B);
  else if constexpr (std::is_integral_v<A> && std::is_integral_v<B>)
    return sizeof(A) == sizeof(B) && std::is_signed_v<A> == std::is_signed_v<B>;
  else if constexpr (std::is_class_v<A> && std::is_class_v<B> && complete<A> && complete<B>)
    return sizeof(A) == sizeof(B) && alignof(A) == alignof(B);
  else
    return std::is_class_v<A> && std::is_class_v<B> && !complete<A>;
}

}  // namespace isomer
