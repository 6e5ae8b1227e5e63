// What a source with exchangeable expressions is made of. Every other expression that may stand in a place has a number,
// and each call chooses one number, or a few that belong together: it shows whether an edit of the source makes a wrong
// answer right, for hundreds of edits with one compilation.
//
// `a < b` becomes `a < isomer_edits::Less{7} < b`: the operators associate to the left and have one precedence, so
// that the operands stay what they were, whatever they are made of.
#pragma once

#include <cmath>
#include <type_traits>
#include <utility>

/// The numbers that are chosen, of which 0 is none, and by number whether it is one of them. Where the first of them is
/// −1 it is asked which edits lie where the call comes to: their numbers are marked, and none is chosen.
extern "C" int isomer_emulator_edits[4];
extern "C" unsigned char isomer_emulator_edit_chosen[1 << 16];
/// Which values of the source have an edit that is chosen; and, of the source, in which value what begins with a number
/// is: pairs of them, in the order of the numbers, and −1.
extern "C" unsigned char isomer_emulator_edit_ways[1 << 14];
extern "C" const int* isomer_emulator_edit_values;

namespace isomer_edits {

constexpr unsigned char kChosen = 1, kAsked = 2, kReached = 3;

/// Of a number that is marked.
__attribute__((noinline, cold)) inline bool marked(int number, unsigned char mark) {
  if (mark == kAsked) __atomic_store_n(&isomer_emulator_edit_chosen[number & 0xffff], kReached, __ATOMIC_RELAXED);
  return mark == kChosen;
}

/// It is asked for every part of every expression: what is not marked costs one load.
__attribute__((always_inline)) inline bool chosen(int number) {
  if (number >= 1 << 16) return false;
  const unsigned char mark = __atomic_load_n(&isomer_emulator_edit_chosen[number & 0xffff], __ATOMIC_RELAXED);
  return __builtin_expect(mark != 0, 0) && marked(number, mark);
}

/// Whether one of `count` numbers from the first on is chosen.
inline bool any_of(int first, int count) {
  if (isomer_emulator_edits[0] < 0) {
    // Marked once: the last of them is the last that is marked.
    const int last = first + count - 1;
    if (count > 0 && last < 1 << 16 &&
        __atomic_load_n(&isomer_emulator_edit_chosen[last & 0xffff], __ATOMIC_RELAXED) == kReached)
      return false;
    for (int i = 0; i < count; ++i) chosen(first + i);
  }
  for (const int each : isomer_emulator_edits)
    if (static_cast<unsigned>(each - first) < static_cast<unsigned>(count)) return true;
  return false;
}

/// What divides nothing by zero while it is tried.
template <class T_>
T_ divisor(const T_& value) {
  if constexpr (std::is_integral_v<T_>) return value == 0 ? T_(1) : value;
  return value;
}

/// Of whole numbers; a name may be another's in the place where it is tried.
template <class A_, class B_>
auto remainder(A_ a, B_ b) {
  if constexpr (std::is_integral_v<A_> && std::is_integral_v<B_>) return a % divisor(b);
  else return 0;
}
template <class A_, class B_>
auto quotient(A_ a, B_ b) {
  if constexpr (std::is_integral_v<A_> && std::is_integral_v<B_>) return a / divisor(b);
  else return 0;
}

/// `f(a, b)` where that exists and is an R; what stands there otherwise.
template <class R_, class F_, class A_, class B_>
R_ other(F_ f, A_& a, B_& b, R_ own) {
  if constexpr (std::is_invocable_r_v<R_, F_, A_&, B_&>) return static_cast<R_>(f(a, b));
  else return own;
}

// An operator and what may stand in its place, from its number on.
#define ISOMER_EDITS_THREE(NAME, OP, FIRST, SECOND, THIRD) \
  ISOMER_EDITS_FOUR(NAME, OP, FIRST, SECOND, THIRD, x, false)
// `HAS`: whether there is a fourth.
#define ISOMER_EDITS_FOUR(NAME, OP, FIRST, SECOND, THIRD, FOURTH, HAS)                                           \
  struct NAME {                                                                                                  \
    int number;                                                                                                  \
  };                                                                                                             \
  template <class A_>                                                                                            \
  struct NAME##Left {                                                                                            \
    A_ a;                                                                                                        \
    int number;                                                                                                  \
  };                                                                                                             \
  template <class A_>                                                                                            \
  inline NAME##Left<A_> operator OP(A_&& a, NAME place) {                                                        \
    return {std::forward<A_>(a), place.number};                                                                  \
  }                                                                                                              \
  template <class A_, class B_>                                                                                  \
  inline auto operator OP(NAME##Left<A_> left, B_&& b) -> std::decay_t<decltype(left.a OP b)> {                  \
    using R_ = std::decay_t<decltype(left.a OP b)>;                                                              \
    if (chosen(left.number))                                                                                     \
      return other<R_>([](auto& x, auto& y) -> decltype(FIRST) { return FIRST; }, left.a, b, R_(left.a OP b));   \
    if (chosen(left.number + 1))                                                                                 \
      return other<R_>([](auto& x, auto& y) -> decltype(SECOND) { return SECOND; }, left.a, b, R_(left.a OP b)); \
    if (chosen(left.number + 2))                                                                                 \
      return other<R_>([](auto& x, auto& y) -> decltype(THIRD) { return THIRD; }, left.a, b, R_(left.a OP b));   \
    if (HAS && chosen(left.number + 3))                                                                          \
      return other<R_>([](auto& x, auto& y) -> decltype(FOURTH) { return FOURTH; }, left.a, b, R_(left.a OP b)); \
    return left.a OP b;                                                                                          \
  }

ISOMER_EDITS_THREE(Plus, +, x - y, x, y)
ISOMER_EDITS_FOUR(Minus, -, x + y, x, y - x, y, true)
ISOMER_EDITS_THREE(Times, *, x / divisor(y), x, y)
ISOMER_EDITS_FOUR(Divided, /, x * y, x, (x + y - 1) / divisor(y), x % divisor(y), true)
ISOMER_EDITS_THREE(Modulo, %, x / divisor(y), x, x * y)
ISOMER_EDITS_THREE(Less, <, x <= y, x > y, x >= y)
ISOMER_EDITS_THREE(LessEqual, <=, x < y, x >= y, x > y)
ISOMER_EDITS_THREE(Greater, >, x >= y, x < y, x <= y)
ISOMER_EDITS_THREE(GreaterEqual, >=, x > y, x <= y, x < y)
ISOMER_EDITS_THREE(Equal, ==, x != y, x <= y, x >= y)
ISOMER_EDITS_THREE(Unequal, !=, x == y, x < y, x > y)
#undef ISOMER_EDITS_THREE
#undef ISOMER_EDITS_FOUR

/// The own value, or that of the others whose number is chosen; they are counted from `number` on.
template <class T_, class... Others>
T_ value(int number, T_ own, Others... others) {
  T_ result = own;
  int at = number;
  ((chosen(at++) ? void(result = static_cast<T_>(others)) : void()), ...);
  return result;
}

/// A number, or with its number the one beside it; another argument stays.
template <class T_, class U_>
T_ swapped(int number, T_ own, U_ other) {
  if constexpr (std::is_arithmetic_v<T_> && std::is_arithmetic_v<U_>)
    if (chosen(number)) return static_cast<T_>(other);
  return own;
}

/// Where an element of a table lies: with one of the `count` − 1 numbers from `number` on, in its neighbour's place.
template <class I_>
I_ placed(int number, int count, I_ index) {
  if (any_of(number, count - 1))
    for (int k = 0; k + 1 < count; ++k)
      if (chosen(number + k)) {
        if (index == static_cast<I_>(k)) return static_cast<I_>(k + 1);
        if (index == static_cast<I_>(k + 1)) return static_cast<I_>(k);
      }
  return index;
}

/// The element of a table that lies at `index`, with another sign where that one's number is chosen.
template <class I_, class T_>
T_ signed_of(int number, int count, I_ index, T_ element) {
  if (any_of(number, count))
    for (int k = 0; k < count; ++k)
      if (chosen(number + k) && index == static_cast<I_>(k)) return static_cast<T_>(-element);
  return element;
}

/// A variable, or with its number another one of its type. Not `?:`: g++ 12 loses temporaries of an index behind one.
template <class T_>
T_& either(int number, T_& another, T_& own) {
  return chosen(number) ? another : own;
}
template <class T_>
const T_& either(int number, const T_& another, const T_& own) {
  return chosen(number) ? another : own;
}
/// Of pointers of which one alone is restricted: no type trait calls such a type a pointer.
template <class T_>
T_* pointer(T_* own) {
  return own;
}
template <class A_, class T_, class P_ = decltype(pointer(std::declval<T_&>())),
          class = std::enable_if_t<!std::is_same_v<A_, std::remove_reference_t<T_>> &&
                                   std::is_same_v<P_, decltype(pointer(std::declval<A_&>()))>>>
P_ either(int number, A_& another, T_&& own) {
  return chosen(number) ? pointer(another) : pointer(own);
}
/// Of variables that `auto` declares, which have another type after all: the own one stays.
template <class A_, class T_,
          class = std::enable_if_t<!std::is_same_v<std::remove_cv_t<A_>, std::remove_cv_t<std::remove_reference_t<T_>>>>>
T_ either(long, A_&, T_&& own) {
  return std::forward<T_>(own);
}

/// Memory of which an element is read, or with its number other memory with elements of that type.
template <class A_, class T_>
const T_* memory(int number, const A_* another, const T_* own) {
  if constexpr (std::is_same_v<A_, T_>)
    if (chosen(number)) return another;
  return own;
}
/// What is none, such as an accessor, stays.
template <class A_, class T_, class = std::enable_if_t<!std::is_convertible_v<A_&, const volatile void*> ||
                                                     !std::is_convertible_v<T_&, const volatile void*>>>
T_& memory(long, A_&, T_& own) {
  return own;
}

/// Memory that is given to a function, or with its number other memory with such elements, whoever may write to it.
template <class A_, class T_>
T_* place(int number, A_* another, T_* own) {
  if constexpr (std::is_same_v<std::remove_const_t<A_>, std::remove_const_t<T_>>)
    if (chosen(number)) return const_cast<T_*>(another);
  return own;
}
template <class A_, class T_, class = std::enable_if_t<!std::is_convertible_v<A_&, const volatile void*> ||
                                                     !std::is_convertible_v<T_&, const volatile void*>>>
T_& place(long, A_&, T_& own) {
  return own;
}

/// The larger and the smaller of two numbers of any types.
template <class A_, class B_>
auto larger_of(const A_& a, const B_& b) -> std::decay_t<decltype(true ? a : b)> {
  if (a < b) return b;
  return a;
}
template <class A_, class B_>
auto smaller_of(const A_& a, const B_& b) -> std::decay_t<decltype(true ? a : b)> {
  if (b < a) return b;
  return a;
}

/// An argument of a function in place of its result.
template <class T_, class... Others>
T_ first(T_ own, Others...) {
  return own;
}

template <class T_, class U_>
U_ second(T_, U_ other) {
  return other;
}

/// A real number with another sign, or its magnitude: from `number` on.
template <class T_>
T_ with_sign(int number, T_ own) {
  if constexpr (std::is_floating_point_v<T_>) {
    if (chosen(number)) return -own;
    if (chosen(number + 1)) return own < 0 ? -own : own;
  }
  return own;
}

/// An array's element, where one of `count` edits from `number` on asks for it; else nothing is read.
template <class P_, class I_>
auto element(int number, int count, P_ memory, I_ index) -> std::decay_t<decltype(memory[index])> {
  if (!any_of(number, count)) return {};
  return memory[index];
}

/// Of what is none after all: a name may be another's in the place where it is tried.
template <class M_, class I_>
float element(long, int, const M_&, I_) {
  return 0;
}

/// `own OP value` where both are numbers, or a place in memory and a whole number.
template <char Op, class R_, class V_>
void join(const R_& own, const V_& value, R_& result) {
  constexpr bool numbers = std::is_arithmetic_v<R_> && std::is_arithmetic_v<V_> &&
                           (std::is_floating_point_v<R_> || std::is_integral_v<V_>);
  constexpr bool place = std::is_pointer_v<R_> && std::is_integral_v<V_>;
  if constexpr (numbers) {
    if constexpr (Op == '*') result = static_cast<R_>(own * value);
    if constexpr (Op == '/') result = static_cast<R_>(own / divisor(value));
  }
  if constexpr (numbers || place) {
    if constexpr (Op == '+') result = static_cast<R_>(own + value);
    if constexpr (Op == '-') result = static_cast<R_>(own - value);
  }
}

/// A value by each of the operators with each of the others, from `number` on.
template <char... Ops, class T_, class... Others>
T_ joined(int number, T_ own, Others... others) {
  T_ result = own;
  if (!any_of(number, static_cast<int>(sizeof...(Ops) * sizeof...(Others)))) return result;
  int at = number;
  const auto each = [&](const auto& other) {
    ((chosen(at++) ? join<Ops>(static_cast<const T_&>(own), other, result) : void()), ...);
  };
  (each(others), ...);
  return result;
}

/// A number that is one more or one less with the first two numbers, and a real one that is taken from 1 with the third.
template <class T_>
std::decay_t<T_> one_more(int number, const T_& own) {
  using R_ = std::decay_t<T_>;
  if constexpr (std::is_arithmetic_v<R_>) {
    if (chosen(number)) return static_cast<R_>(own + R_(1));
    if (chosen(number + 1)) return static_cast<R_>(own - R_(1));
    if constexpr (std::is_floating_point_v<R_>)
      if (chosen(number + 2)) return static_cast<R_>(R_(1) - own);
  }
  return own;
}
/// A whole number that is twice as much, or half.
template <class T_>
std::decay_t<T_> twice(int number, const T_& own) {
  using R_ = std::decay_t<T_>;
  if constexpr (std::is_integral_v<R_>) {
    if (chosen(number)) return static_cast<R_>(2 * own);
    if (chosen(number + 1)) return static_cast<R_>(own / 2);
  }
  return own;
}

/// A real number that is not below one of the bounds, or not above it: two edits each, from `number` on.
template <class T_, class... Bounds>
T_ bounded(int number, T_ own, Bounds... bounds) {
  T_ result = own;
  if constexpr (std::is_floating_point_v<T_>) {
    int at = number;
    ((chosen(at) ? void(result = own < T_(bounds) ? T_(bounds) : own)
      : chosen(at + 1) ? void(result = own > T_(bounds) ? T_(bounds) : own) : void(),
      at += 2),
     ...);
  }
  return result;
}

/// A real number as the argument of each of the functions, from `number` on.
template <class T_, class... Functions>
T_ through(int number, T_ own, Functions... functions) {
  T_ result = own;
  if constexpr (std::is_floating_point_v<T_>) {
    int at = number;
    ((chosen(at++) ? void(result = static_cast<T_>(functions(static_cast<float>(own)))) : void()), ...);
  }
  return result;
}

/// A value of the type that `own` has; its own one where the other is of a kind that becomes none.
template <class Own, class Other>
auto as(Own& own, Other&& other) -> std::decay_t<decltype(own())> {
  using R_ = std::decay_t<decltype(own())>;
  using O_ = std::decay_t<Other>;
  if constexpr (std::is_same_v<O_, R_> || (std::is_arithmetic_v<O_> && std::is_arithmetic_v<R_>))
    return static_cast<R_>(other);
  else
    return own();
}
/// A whole value, or what is written in its place with one of the numbers, which lie between the first two.
template <class Own, class Others>
inline auto instead(int least, int most, Own&& own, Others&& others) -> std::decay_t<decltype(own())> {
  if (__builtin_expect(!any_of(least, most - least + 1), 1)) return own();
  return others(own);
}

/// A value as the source has it where no edit of it is chosen.
template <class Own, class Edited>
__attribute__((always_inline)) inline auto way(int value, Own&& own, Edited&& edited) -> std::decay_t<decltype(own())> {
  if (__builtin_expect(__atomic_load_n(&isomer_emulator_edit_ways[value], __ATOMIC_RELAXED) == 0, 1)) return own();
  return static_cast<std::decay_t<decltype(own())>>(edited());
}

/// Each number of an array times another.
template <class T_, decltype(sizeof(0)) N_, class F_>
void scale(T_ (&numbers)[N_], F_ factor) {
  for (T_& each : numbers) each *= factor;
}

/// What is added to memory by a function that all threads may call at once, where there is one for its type.
template <class T_, class V_, class F_>
void add_at(T_* to, const V_& more, F_ add) {
  if constexpr (std::is_invocable_v<F_, T_*, T_> && std::is_convertible_v<V_, T_>) add(to, static_cast<T_>(more));
}
template <class T_, class V_, class F_>
void add_at(T_, const V_&, F_) {}

// Assignments by another operator, where the types have one.
#define ISOMER_EDITS_ASSIGNMENT(NAME, OP)                                   \
  template <class T_, class V_>                                             \
  auto NAME##_if(T_&& to, V_&& value, int) -> decltype(void(to OP value)) { \
    to OP value;                                                            \
  }                                                                         \
  template <class T_, class V_>                                             \
  void NAME##_if(T_&&, V_&&, long) {}                                       \
  template <class T_, class V_>                                             \
  void NAME(T_&& to, V_&& value) {                                          \
    NAME##_if(std::forward<T_>(to), std::forward<V_>(value), 0);            \
  }
ISOMER_EDITS_ASSIGNMENT(set, =)
ISOMER_EDITS_ASSIGNMENT(add, +=)
ISOMER_EDITS_ASSIGNMENT(multiply, *=)
ISOMER_EDITS_ASSIGNMENT(divide, /=)
#undef ISOMER_EDITS_ASSIGNMENT

}  // namespace isomer_edits
