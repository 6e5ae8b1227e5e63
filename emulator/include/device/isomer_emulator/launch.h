// How a launch is compiled: `kernel<<<grid, block, shared, stream>>>(a, b)` becomes a launcher that copies
// the arguments once and calls the kernel in every thread.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "abi.h"
#include "capture.h"
#include "code_objects.h"

namespace isomer::emulator {

template <class T>
struct Same {
  using type = T;
};

/// `__cluster_dims__` of a kernel, in front of what it does.
inline void cluster_dims(unsigned x, unsigned y = 1, unsigned z = 1) { isomer_emulator_cluster_dims(x, y, z); }

struct Configuration {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes;
  void* stream;
  template <class Grid, class Block>
  Configuration(Grid g, Block b, std::size_t bytes = 0, const void* s = nullptr)
      : grid(whole(g)), block(whole(b)), shared_bytes(bytes), stream(const_cast<void*>(s)) {}
  /// Braces for a size have no type to deduce.
  Configuration(dim3 g, dim3 b, std::size_t bytes = 0, const void* s = nullptr)
      : grid(g), block(b), shared_bytes(bytes), stream(const_cast<void*>(s)) {}

 private:
  static dim3 whole(dim3 d) { return d; }
  template <class I, class = std::enable_if_t<std::is_arithmetic_v<I> || std::is_enum_v<I>>>
  static dim3 whole(I n) {
    return dim3(static_cast<unsigned>(n));  // as on the device: a negative count is a huge one
  }
};

/// Every thread reads the kernel's arguments, which it may: a watched module has no hooks here. A function
/// with them is not inlined into one without.
#define ISOMER_EMULATOR_UNHOOKED __attribute__((no_sanitize("thread")))

template <std::size_t I, class T>
struct Slot {
  T value;
};
template <class Places, class... A>
struct Slots;
template <std::size_t... I, class... A>
struct Slots<std::index_sequence<I...>, A...> : Slot<I, A>... {
  /// The function with a reference to each.
  template <class F>
  ISOMER_EMULATOR_UNHOOKED void with_each(F& function) {
    function(static_cast<Slot<I, A>&>(*this).value...);
  }
};

template <class Call, class... A>
struct Package {
  Call call;
  Slots<std::index_sequence_for<A...>, A...> arguments;
  ISOMER_EMULATOR_UNHOOKED static void invoke(void* self) {
    auto* package = static_cast<Package*>(self);
    package->arguments.with_each(package->call);
  }
};

template <class P>
constexpr bool kCopiedAsBytes = std::is_trivially_copy_constructible_v<P> &&
                                std::is_trivially_destructible_v<P> && alignof(P) <= alignof(std::max_align_t);

template <class Call, class... A>
int launch_package(LaunchRequest request, Package<Call, A...>& package) {
  const auto launch = [&](A&... a) {
    const void* pointers[sizeof...(A) + 1] = {static_cast<const void*>(&a)..., nullptr};
    const std::size_t sizes[sizeof...(A) + 1] = {sizeof(A)..., 0};
    request.arguments = pointers;
    request.argument_bytes = sizes;
    request.argument_count = sizeof...(A);
    request.invoke = &Package<Call, A...>::invoke;
    request.package = &package;
    request.package_bytes = sizeof(package);
    request.copyable = kCopiedAsBytes<Package<Call, A...>>;
    isomer_emulator_launch(&request);
  };
  package.arguments.with_each(launch);
  return isomer_emulator_last_error(0);
}

/// Where the stream is captured, the launch goes into its graph, with the arguments that it has now. What is
/// copied as bytes needs no code for it: the library does that.
template <class P>
bool captured_launch(const LaunchRequest& request, const P& package) {
  if constexpr (!kCopiedAsBytes<P> && std::is_copy_constructible_v<P>) {
    return capture(request.stream, NodeKind::kernel, [request, kept = package](void* stream) mutable {
      LaunchRequest launch = request;
      launch.stream = stream;
      launch_package(launch, kept);
    });
  } else {
    return false;
  }
}

/// A class that copies or destroys itself by functions of its own reaches a kernel as its bytes: no thread copies it,
/// and none destroys it.
template <class T>
constexpr bool kSentAsBytes =
    std::is_class_v<T> &&
    (!std::is_trivially_destructible_v<T> || (std::is_copy_constructible_v<T> && !std::is_trivially_copy_constructible_v<T>));
template <class T>
struct Bytes {
  alignas(T) unsigned char bytes[sizeof(T)];
  explicit Bytes(const T& of) { __builtin_memcpy(bytes, &reinterpret_cast<const unsigned char&>(of), sizeof(T)); }
};
template <class P, class T = std::remove_reference_t<P>>
using Kept = std::conditional_t<kSentAsBytes<T> && !std::is_reference_v<P>, Bytes<T>, T>;

/// A parameter as a thread hands it to the kernel. The address of such a class stands for it in a call.
template <class P, bool = std::is_same_v<Kept<P>, std::remove_reference_t<P>>>
struct Handed {
  using Type = P;
  std::remove_reference_t<P>& kept;
  P get() { return static_cast<P>(kept); }
};
template <class P>
struct Handed<P, false> {
  using Type = Bytes<P>*;
  Bytes<P> own;  // of this thread
  Bytes<P>* get() { return &own; }
};

template <class... P>
struct FunctionLauncher {
  LaunchRequest request;
  void (*function)(P...);
  // The parameters' own types, so that an argument converts once and on the host, as in a call.
  void operator()(typename Same<P>::type... a) {
    auto call = [f = function](Kept<P>&... x) ISOMER_EMULATOR_UNHOOKED {
      if constexpr ((std::is_same_v<Kept<P>, std::remove_reference_t<P>> && ...))
        f(x...);
      else
        reinterpret_cast<void (*)(typename Handed<P>::Type...)>(f)(Handed<P>{x}.get()...);
    };
    Package<decltype(call), Kept<P>...> package{call, {{Kept<P>(static_cast<P&&>(a))}...}};
    if (!captured_launch(request, package)) launch_package(request, package);
  }
};

template <class P>
struct Pointed;
template <class T>
struct Pointed<T*> {
  using type = T;
};
struct NoKernel {};

/// Of a template: what its parameters are its call tells. Only where one of them has to be sent as its bytes is the kernel
/// asked for.
template <class Call, class Kernel>
struct Launcher {
  LaunchRequest request;
  Call call;
  Kernel kernel;
  template <class... A>
  void operator()(A&&... a) {
    if constexpr ((kSentAsBytes<std::decay_t<A>> || ...) && std::is_invocable_v<Kernel, std::decay_t<A>*...>) {
      FunctionLauncher<std::decay_t<A>...>{request, kernel(static_cast<std::decay_t<A>*>(nullptr)...)}(std::forward<A>(a)...);
    } else {
      Package<Call, std::decay_t<A>...> package{call, {{std::decay_t<A>(std::forward<A>(a))}...}};
      if (!captured_launch(request, package)) launch_package(request, package);
    }
  }
};

inline LaunchRequest request_of(const char* kernel, const char* file, unsigned line, const Configuration& c,
                                int cooperative = 0) {
  LaunchRequest r{};
  r.kernel = kernel;
  r.file = file;
  r.line = line;
  r.grid = c.grid;
  r.block = c.block;
  r.shared_bytes = c.shared_bytes;
  r.stream = c.stream;
  r.cooperative = cooperative;
  return r;
}

template <class Call, class Kernel = NoKernel>
Launcher<Call, Kernel> launcher(LaunchRequest request, Call call, Kernel kernel = {}) {
  return {request, call, kernel};
}

template <class... P>
FunctionLauncher<P...> function_launcher(LaunchRequest request, void (*function)(P...)) {
  request.function = reinterpret_cast<const void*>(function);
  return {request, function};
}

template <class... P, std::size_t... I>
inline void call_with(void (*function)(P...), void** arguments, std::index_sequence<I...>) {
  function(*static_cast<std::remove_cv_t<std::remove_reference_t<P>>*>(arguments[I])...);
}

/// A kernel whose address is taken as a `void*`: how it is launched is made known.
template <class... P>
void* kernel_address(void (*function)(P...)) {
  static const std::size_t bytes[sizeof...(P) + 1] = {sizeof(P)..., 0};
  const auto invoke = [](const void* named, void* arguments) {
    call_with(reinterpret_cast<void (*)(P...)>(const_cast<void*>(named)), static_cast<void**>(arguments),
              std::index_sequence_for<P...>{});
  };
  const auto address = reinterpret_cast<void*>(function);
  isomer_emulator_register_address(address, invoke, sizeof...(P), bytes);
  return address;
}
inline void* kernel_address(const void* address) { return const_cast<void*>(address); }
/// A launch with an array of pointers to the arguments (cudaLaunchKernel).
inline int launch_array(const LaunchRequest& request, const void* function, void** arguments) {
  return isomer_emulator_launch_array(&request, function, arguments);
}
template <class... P>
int launch_array(const LaunchRequest& request, void (*function)(P...), void** arguments) {
  return launch_array(request, kernel_address(function), arguments);
}

/// Of a module's function: pointers to the arguments, or a list that names a buffer of them and its size.
inline int launch_array_or_packed(const LaunchRequest& request, const void* function, void** arguments,
                                  void** list, void* names_buffer, void* names_size, void* ends) {
  if (list == nullptr || arguments != nullptr) return launch_array(request, function, arguments);
  const void* buffer = nullptr;
  std::size_t bytes = 0;
  for (; *list != ends; list += 2) {
    if (*list == names_buffer) buffer = list[1];
    if (*list == names_size) bytes = *static_cast<const std::size_t*>(list[1]);
  }
  return isomer_emulator_launch_packed(&request, function, buffer, bytes);
}

template <class T>
constexpr char parameter_kind() {
  if constexpr (!std::is_pointer_v<T>) {
    return 'v';
  } else {
    return std::is_const_v<std::remove_pointer_t<T>> ? 'c' : 'p';
  }
}

/// Makes a kernel known by name, with a call through an array of pointers to its arguments.
template <auto Function>
struct KernelRegistration;
template <class... P, void (*Function)(P...)>
struct KernelRegistration<Function> {
  static void invoke(void* arguments) {
    call_with(Function, static_cast<void**>(arguments), std::index_sequence_for<P...>{});
  }
  KernelRegistration(const char* name, const char* file, unsigned line) {
    static const std::size_t bytes[sizeof...(P) + 1] = {sizeof(P)..., 0};
    static const char kinds[sizeof...(P) + 1] = {parameter_kind<std::remove_reference_t<P>>()..., 0};
    static const std::size_t alignments[sizeof...(P) + 1] = {alignof(P)..., 0};
    KernelEntry entry{name,    file,         line,  reinterpret_cast<const void*>(Function),
                      &invoke, sizeof...(P), bytes, kinds, alignments};
    isomer_emulator_register_kernel(&entry);
  }
};

/// A kernel template: known by name and by what its text says of its parameters, launchable only by its
/// source.
struct TemplateRegistration {
  TemplateRegistration(const char* name, const char* file, unsigned line, const char* kinds) {
    KernelEntry entry{name,    file, line, nullptr, nullptr, static_cast<unsigned>(__builtin_strlen(kinds)),
                      nullptr, kinds, nullptr};
    isomer_emulator_register_kernel(&entry);
  }
};

struct WaitRegistration {
  WaitRegistration(const char* file, unsigned first, unsigned last) {
    isomer_emulator_register_wait(file, first, last);
  }
};

struct SymbolRegistration {
  template <class T>
  SymbolRegistration(const char* name, T& variable, int constant, int guarded) {
    SymbolEntry entry{name, const_cast<void*>(reinterpret_cast<const volatile void*>(&variable)),
                      sizeof(variable), constant, guarded};
    isomer_emulator_register_symbol(&entry);
  }
};

}  // namespace isomer::emulator
