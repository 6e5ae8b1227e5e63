#include "lab/diff/diff_verdict.hpp"

#include "core/sentence.hpp"
#include "lab/names/kernel_name.hpp"

#include <algorithm>

namespace isomer::lab {
namespace {

constexpr std::size_t kNamed = 4;

/// "Is_causal is false in A and true in B, …" of the first pair of that kind.
std::string differences_of(const Pair& pair) {
  std::string text;
  for (std::size_t i = 0; i < std::min(pair.differences.size(), kNamed); ++i) {
    const Difference& each = pair.differences[i];
    const auto side = [](const std::string& value) { return value.empty() ? std::string("nothing") : value; };
    text +=
        core::say(i > 0 ? "; " : "", each.name, " is ", side(each.a), " in A and ", side(each.b), " in B");
  }
  if (pair.differences.size() > kNamed) text += core::say("; ", pair.differences.size() - kNamed, " more");
  return text;
}

bool names(const Pair& pair, std::string_view what) {
  return std::any_of(pair.differences.begin(), pair.differences.end(), [&](const Difference& difference) {
    return difference.name == what || difference.name.ends_with("." + std::string(what));
  });
}

std::string short_name(const std::string& name) {
  const std::size_t end = name.find_first_of("<(", name.starts_with("(anonymous namespace)") ? 21 : 0);
  if (end == std::string::npos || end == 0) return name;
  // "kernel (2 launches)".
  return name.substr(0, name[end - 1] == ' ' ? end - 1 : end);
}

/// " Here cu_seqlens_q is null in A and an address in B." where the arguments tell.
std::string deciding_pointers(const Pair& pair) {
  std::string text;
  for (const Difference& each : pair.differences)
    for (const char* pointer : {"cu_seqlens_q", "cu_seqlens_k", "seqused_q", "seqused_k", "leftpad_k"})
      if (each.name == pointer)
        text +=
            core::say(text.empty() ? " Here " : ", ", pointer, " is ", each.a, " in A and ", each.b, " in B");
  return text.empty() ? text : text + ".";
}

/// What decides a compile-time parameter of the attention kernels that people compare.
std::string cause(const Pair& pair) {
  if (names(pair, "Varlen") || names(pair, "varlen"))
    return core::say(
        " Varlen follows from the pointers: any of cu_seqlens_q, cu_seqlens_k, seqused_q, seqused_k "
        "or leftpad_k that is not null selects it.",
        deciding_pointers(pair));
  if (names(pair, "Is_causal") || names(pair, "is_causal") || names(pair, "causal"))
    return " Causal also selects other tile sizes and another scheduler: compare the call's causal argument "
           "first.";
  if (names(pair, "ClusterShape") || names(pair, "cluster"))
    return " The cluster follows from head size, causal, varlen, split and whether seqlen_q fills an even "
           "number of "
           "tiles.";
  return "";
}

std::string count_of(std::size_t count, const char* what) {
  return core::say(count, " ", what, count == 1 ? "" : "s");
}

}  // namespace

std::vector<std::string> verdict_of(const DiffResult& result) {
  std::vector<std::string> sentences;
  const auto first = [&](Pair::Kind kind) -> const Pair* {
    const auto found = std::find_if(result.pairs.begin(), result.pairs.end(),
                                    [&](const Pair& pair) { return pair.kind == kind; });
    return found == result.pairs.end() ? nullptr : &*found;
  };
  const auto count = [&](Pair::Kind kind) {
    return static_cast<std::size_t>(std::count_if(result.pairs.begin(), result.pairs.end(),
                                                  [&](const Pair& pair) { return pair.kind == kind; }));
  };
  const auto more = [&](Pair::Kind kind, const char* what) {
    const std::size_t others = count(kind) - 1;
    return others == 0 ? std::string() : core::say(" (and ", count_of(others, what), " more)");
  };
  if (!result.only_a.empty())
    sentences.push_back(
        core::say("Only A runs ", count_of(result.only_a.size(), "kernel"), " (",
                  short_name(result.only_a[0]), result.only_a.size() > 1 ? ", …" : "",
                  "): probably an additional path of A, or one that B does not take; look at the "
                  "dispatch before it."));
  if (!result.only_b.empty())
    sentences.push_back(core::say("Only B runs ", count_of(result.only_b.size(), "kernel"), " (",
                                  short_name(result.only_b[0]), result.only_b.size() > 1 ? ", …" : "",
                                  "): probably B takes another code path; look at the dispatch before it."));
  if (const Pair* pair = first(Pair::Kind::variant))
    sentences.push_back(core::say("Another instantiation of ", parse_kernel_name(pair->a).family,
                                  more(Pair::Kind::variant, "pair"), ": ", differences_of(*pair),
                                  ". It is not the same kernel: look at the dispatch that chooses it before "
                                  "you look at compile options and arguments.",
                                  cause(*pair)));
  if (const Pair* pair = first(Pair::Kind::geometry))
    sentences.push_back(
        core::say("The same kernel ", parse_kernel_name(pair->a).family, " is launched with another geometry",
                  more(Pair::Kind::geometry, "pair"), ": ", differences_of(*pair),
                  ". Look at the sizes that the launch is computed from (batch, heads, sequence lengths, "
                  "number of multiprocessors)."));
  if (const Pair* pair = first(Pair::Kind::arguments))
    sentences.push_back(
        core::say("The same kernel ", parse_kernel_name(pair->a).family,
                  " is launched with the same geometry but other arguments",
                  more(Pair::Kind::arguments, "pair"), ": ", differences_of(*pair),
                  ". Look at how the parameters are filled: sizes, strides, and which pointers are null."));
  if (const Pair* pair = first(Pair::Kind::code))
    sentences.push_back(
        core::say("The same kernel ", parse_kernel_name(pair->a).family, " has other machine code",
                  more(Pair::Kind::code, "pair"), ": ", differences_of(*pair),
                  ". Compile options or the compiler differ: isomer diff of the two libraries, with "
                  "--build-a and --build-b for their builds' logs, names the options."));
  if (const Pair* pair = first(Pair::Kind::count))
    sentences.push_back(core::say("The same kernel ", parse_kernel_name(pair->a).family,
                                  " is launched another number of times", more(Pair::Kind::count, "pair"),
                                  ": ", differences_of(*pair),
                                  ". The logic probably differs: a loop, a split, or a warm-up."));
  if (const Pair* pair = first(Pair::Kind::time))
    sentences.push_back(
        core::say("The same kernel ", parse_kernel_name(pair->a).family,
                  ", launched in the same way, takes a different time", more(Pair::Kind::time, "pair"), ": ",
                  differences_of(*pair),
                  ". Unless the code is known to be the same, look at compile options; otherwise at the "
                  "GPU's clock and temperature, and at how it was measured."));
  if (sentences.empty())
    sentences.push_back(result.pairs.empty()
                            ? "Neither side has a launch."
                            : "The same kernels, launched in the same way the same number of times.");
  return sentences;
}

}  // namespace isomer::lab
