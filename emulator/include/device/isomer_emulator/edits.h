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
template <class T>
T divisor(const T& value) {
  if constexpr (std::is_integral_v<T>) return value == 0 ? T(1) : value;
  return value;
}

/// Of whole numbers; a name may be another's in the place where it is tried.
template <class A, class B>
auto remainder(A a, B b) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) return a % divisor(b);
  else return 0;
}
template <class A, class B>
auto quotient(A a, B b) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) return a / divisor(b);
  else return 0;
}

/// `f(a, b)` where that exists and is an R; what stands there otherwise.
template <class R, class F, class A, class B>
R other(F f, A& a, B& b, R own) {
  if constexpr (std::is_invocable_r_v<R, F, A&, B&>) return static_cast<R>(f(a, b));
  else return own;
}

// An operator and what may stand in its place, from its number on.
#define ISOMER_EDITS_THREE(NAME, OP, FIRST, SECOND, THIRD) \
  ISOMER_EDITS_FOUR(NAME, OP, FIRST, SECOND, THIRD, x, false)
// `HAS`: whether there is a fourth.
#define ISOMER_EDITS_FOUR(NAME, OP, FIRST, SECOND, THIRD, FOURTH, HAS)                            \
  struct NAME {                                                                                  \
    int number;                                                                                  \
  };                                                                                             \
  template <class A>                                                                             \
  struct NAME##Left {                                                                            \
    A a;                                                                                         \
    int number;                                                                                  \
  };                                                                                             \
  template <class A>                                                                             \
  inline NAME##Left<A> operator OP(A&& a, NAME place) {                                          \
    return {std::forward<A>(a), place.number};                                                   \
  }                                                                                              \
  template <class A, class B>                                                                    \
  inline auto operator OP(NAME##Left<A> left, B&& b) -> std::decay_t<decltype(left.a OP b)> {    \
    using R = std::decay_t<decltype(left.a OP b)>;                                               \
    if (chosen(left.number))                                                                     \
      return other<R>([](auto& x, auto& y) -> decltype(FIRST) { return FIRST; }, left.a, b, R(left.a OP b)); \
    if (chosen(left.number + 1))                                                                 \
      return other<R>([](auto& x, auto& y) -> decltype(SECOND) { return SECOND; }, left.a, b, R(left.a OP b)); \
    if (chosen(left.number + 2))                                                                 \
      return other<R>([](auto& x, auto& y) -> decltype(THIRD) { return THIRD; }, left.a, b, R(left.a OP b)); \
    if (HAS && chosen(left.number + 3))                                                          \
      return other<R>([](auto& x, auto& y) -> decltype(FOURTH) { return FOURTH; }, left.a, b, R(left.a OP b)); \
    return left.a OP b;                                                                          \
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
template <class T, class... Others>
T value(int number, T own, Others... others) {
  T result = own;
  int at = number;
  ((chosen(at++) ? void(result = static_cast<T>(others)) : void()), ...);
  return result;
}

/// A number, or with its number the one beside it; another argument stays.
template <class T, class U>
T swapped(int number, T own, U other) {
  if constexpr (std::is_arithmetic_v<T> && std::is_arithmetic_v<U>)
    if (chosen(number)) return static_cast<T>(other);
  return own;
}

/// Where an element of a table lies: with one of the `count` − 1 numbers from `number` on, in its neighbour's place.
template <class I>
I placed(int number, int count, I index) {
  if (any_of(number, count - 1))
    for (int k = 0; k + 1 < count; ++k)
      if (chosen(number + k)) {
        if (index == static_cast<I>(k)) return static_cast<I>(k + 1);
        if (index == static_cast<I>(k + 1)) return static_cast<I>(k);
      }
  return index;
}

/// The element of a table that lies at `index`, with another sign where that one's number is chosen.
template <class I, class T>
T signed_of(int number, int count, I index, T element) {
  if (any_of(number, count))
    for (int k = 0; k < count; ++k)
      if (chosen(number + k) && index == static_cast<I>(k)) return static_cast<T>(-element);
  return element;
}

/// A variable, or with its number another one of its type. Not `?:`: g++ 12 loses temporaries of an index behind one.
template <class T>
T& either(int number, T& another, T& own) {
  return chosen(number) ? another : own;
}
template <class T>
const T& either(int number, const T& another, const T& own) {
  return chosen(number) ? another : own;
}
/// Of pointers of which one alone is restricted: no type trait calls such a type a pointer.
template <class T>
T* pointer(T* own) {
  return own;
}
template <class A, class T, class P = decltype(pointer(std::declval<T&>())),
          class = std::enable_if_t<!std::is_same_v<A, std::remove_reference_t<T>> &&
                                   std::is_same_v<P, decltype(pointer(std::declval<A&>()))>>>
P either(int number, A& another, T&& own) {
  return chosen(number) ? pointer(another) : pointer(own);
}
/// Of variables that `auto` declares, which have another type after all: the own one stays.
template <class A, class T,
          class = std::enable_if_t<!std::is_same_v<std::remove_cv_t<A>, std::remove_cv_t<T>>>>
T& either(long, A&, T& own) {
  return own;
}

/// Memory of which an element is read, or with its number other memory with elements of that type.
template <class A, class T>
const T* memory(int number, const A* another, const T* own) {
  if constexpr (std::is_same_v<A, T>)
    if (chosen(number)) return another;
  return own;
}
/// What is none, such as an accessor, stays.
template <class A, class T, class = std::enable_if_t<!std::is_convertible_v<A&, const volatile void*> ||
                                                     !std::is_convertible_v<T&, const volatile void*>>>
T& memory(long, A&, T& own) {
  return own;
}

/// An argument of a function in place of its result.
template <class T, class... Others>
T first(T own, Others...) {
  return own;
}

template <class T, class U>
U second(T, U other) {
  return other;
}

/// A real number with another sign, or its magnitude: from `number` on.
template <class T>
T with_sign(int number, T own) {
  if constexpr (std::is_floating_point_v<T>) {
    if (chosen(number)) return -own;
    if (chosen(number + 1)) return own < 0 ? -own : own;
  }
  return own;
}

/// An array's element, where one of `count` edits from `number` on asks for it; else nothing is read.
template <class P, class I>
auto element(int number, int count, P memory, I index) -> std::decay_t<decltype(memory[index])> {
  if (!any_of(number, count)) return {};
  return memory[index];
}

/// `own OP value` where both are numbers, or a place in memory and a whole number.
template <char Op, class R, class V>
void join(const R& own, const V& value, R& result) {
  constexpr bool numbers = std::is_arithmetic_v<R> && std::is_arithmetic_v<V> &&
                           (std::is_floating_point_v<R> || std::is_integral_v<V>);
  constexpr bool place = std::is_pointer_v<R> && std::is_integral_v<V>;
  if constexpr (numbers) {
    if constexpr (Op == '*') result = static_cast<R>(own * value);
    if constexpr (Op == '/') result = static_cast<R>(own / divisor(value));
  }
  if constexpr (numbers || place) {
    if constexpr (Op == '+') result = static_cast<R>(own + value);
    if constexpr (Op == '-') result = static_cast<R>(own - value);
  }
}

/// A value by each of the operators with each of the others, from `number` on.
template <char... Ops, class T, class... Others>
T joined(int number, T own, Others... others) {
  T result = own;
  if (!any_of(number, static_cast<int>(sizeof...(Ops) * sizeof...(Others)))) return result;
  int at = number;
  const auto each = [&](const auto& other) {
    ((chosen(at++) ? join<Ops>(static_cast<const T&>(own), other, result) : void()), ...);
  };
  (each(others), ...);
  return result;
}

/// A number that is one more or one less with the first two numbers, and a real one that is taken from 1 with the third.
template <class T>
std::decay_t<T> one_more(int number, const T& own) {
  using R = std::decay_t<T>;
  if constexpr (std::is_arithmetic_v<R>) {
    if (chosen(number)) return static_cast<R>(own + R(1));
    if (chosen(number + 1)) return static_cast<R>(own - R(1));
    if constexpr (std::is_floating_point_v<R>)
      if (chosen(number + 2)) return static_cast<R>(R(1) - own);
  }
  return own;
}
/// A whole number that is twice as much, or half.
template <class T>
std::decay_t<T> twice(int number, const T& own) {
  using R = std::decay_t<T>;
  if constexpr (std::is_integral_v<R>) {
    if (chosen(number)) return static_cast<R>(2 * own);
    if (chosen(number + 1)) return static_cast<R>(own / 2);
  }
  return own;
}

/// A real number that is not below one of the bounds, or not above it: two edits each, from `number` on.
template <class T, class... Bounds>
T bounded(int number, T own, Bounds... bounds) {
  T result = own;
  if constexpr (std::is_floating_point_v<T>) {
    int at = number;
    ((chosen(at) ? void(result = own < T(bounds) ? T(bounds) : own)
      : chosen(at + 1) ? void(result = own > T(bounds) ? T(bounds) : own) : void(),
      at += 2),
     ...);
  }
  return result;
}

/// A real number as the argument of each of the functions, from `number` on.
template <class T, class... Functions>
T through(int number, T own, Functions... functions) {
  T result = own;
  if constexpr (std::is_floating_point_v<T>) {
    int at = number;
    ((chosen(at++) ? void(result = static_cast<T>(functions(static_cast<float>(own)))) : void()), ...);
  }
  return result;
}

/// A value of the type that `own` has; its own one where the other is of a kind that becomes none.
template <class Own, class Other>
auto as(Own& own, Other&& other) -> std::decay_t<decltype(own())> {
  using R = std::decay_t<decltype(own())>;
  using O = std::decay_t<Other>;
  if constexpr (std::is_same_v<O, R> || (std::is_arithmetic_v<O> && std::is_arithmetic_v<R>))
    return static_cast<R>(other);
  else
    return own();
}
/// A whole value, or what is written in its place with one of the numbers, which lie between the first two.
template <class Own, class Others>
inline auto instead(int least, int most, Own&& own, Others&& others) -> std::decay_t<decltype(own())> {
  if (__builtin_expect(!any_of(least, most - least + 1), 1)) return own();
  return others(own);
}

/// Each number of an array times another.
template <class T, decltype(sizeof(0)) N, class F>
void scale(T (&numbers)[N], F factor) {
  for (T& each : numbers) each *= factor;
}

/// What is added to memory by a function that all threads may call at once, where there is one for its type.
template <class T, class V, class F>
void add_at(T* to, const V& more, F add) {
  if constexpr (std::is_invocable_v<F, T*, T> && std::is_convertible_v<V, T>) add(to, static_cast<T>(more));
}
template <class T, class V, class F>
void add_at(T, const V&, F) {}

// Assignments by another operator, where the types have one.
#define ISOMER_EDITS_ASSIGNMENT(NAME, OP)                                           \
  template <class T, class V>                                                      \
  auto NAME##_if(T&& to, V&& value, int) -> decltype(void(to OP value)) {          \
    to OP value;                                                                   \
  }                                                                                \
  template <class T, class V>                                                      \
  void NAME##_if(T&&, V&&, long) {}                                                \
  template <class T, class V>                                                      \
  void NAME(T&& to, V&& value) {                                                   \
    NAME##_if(std::forward<T>(to), std::forward<V>(value), 0);                     \
  }
ISOMER_EDITS_ASSIGNMENT(set, =)
ISOMER_EDITS_ASSIGNMENT(add, +=)
ISOMER_EDITS_ASSIGNMENT(multiply, *=)
ISOMER_EDITS_ASSIGNMENT(divide, /=)
#undef ISOMER_EDITS_ASSIGNMENT

}  // namespace isomer_edits
