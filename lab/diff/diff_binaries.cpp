#include "lab/diff/diff_binaries.hpp"

#include "lab/diff/pair_kernels.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <utility>

namespace isomer::lab {
namespace {

using Kernels = std::vector<const BinaryKernel*>;

/// The names of the kernels that have machine code.
std::set<std::string> compiled(const std::vector<BinaryKernel>& kernels) {
  std::set<std::string> names;
  for (const BinaryKernel& kernel : kernels)
    if (!kernel.arch.starts_with("compute_")) names.insert(kernel.parsed->text);
  return names;
}

/// What is compared: machine code, and PTX only of a kernel that has none.
Kernels comparable(const std::vector<BinaryKernel>& kernels) {
  const std::set<std::string> names = compiled(kernels);
  Kernels picked;
  for (const BinaryKernel& kernel : kernels)
    if (!kernel.arch.starts_with("compute_") || !names.contains(kernel.parsed->text))
      picked.push_back(&kernel);
  return picked;
}

std::set<std::string> architectures(const Kernels& kernels) {
  std::set<std::string> all;
  for (const BinaryKernel* kernel : kernels) all.insert(kernel->arch);
  return all;
}

/// Architectures that one side alone was built for, beside a common one: one line instead of every kernel
/// again.
void leave_out(const std::set<std::string>& own, const std::set<std::string>& other, Kernels& kernels,
               std::vector<std::string>& only) {
  const bool common =
      std::any_of(own.begin(), own.end(), [&](const std::string& arch) { return other.contains(arch); });
  // With one architecture left over on each side, their kernels are compared.
  const auto extra =
      std::count_if(own.begin(), own.end(), [&](const std::string& arch) { return !other.contains(arch); });
  const auto lacking =
      std::count_if(other.begin(), other.end(), [&](const std::string& arch) { return !own.contains(arch); });
  if (!common || extra == 0 || lacking > 0) return;
  for (const std::string& arch : own) {
    if (other.contains(arch)) continue;
    const auto count =
        std::erase_if(kernels, [&](const BinaryKernel* kernel) { return kernel->arch == arch; });
    if (count > 0) only.push_back("every kernel for " + arch + " (" + std::to_string(count) + ")");
  }
}

void number(std::vector<Difference>& differences, const char* name, std::uint64_t a, std::uint64_t b) {
  if (a != b) differences.push_back({name, std::to_string(a), std::to_string(b)});
}

std::string layout(const BinaryKernel& kernel) {
  std::string text;
  for (const BinaryKernel::Parameter& each : kernel.parameters)
    text += (text.empty() ? "" : ", ") + std::to_string(each.size) + " at " + std::to_string(each.offset);
  return text;
}

/// "ptxas 13.0.88" is a full version, "CUDA 13.0" all that older toolkits leave behind.
bool other_compiler(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return false;
  if (a.substr(0, a.find(' ')) == b.substr(0, b.find(' '))) return a != b;
  const auto release = [](std::string_view text) {
    text.remove_prefix(std::min(text.find(' ') + 1, text.size()));
    const std::size_t dot = text.find('.');
    return text.substr(0, std::min(text.find('.', std::min(dot, text.size() - 1) + 1), text.size()));
  };
  return release(a) != release(b);
}

/// What ptxas' notes show. Where the architecture differs, -arch is that difference again.
std::vector<Difference> noted_differences(const BinaryKernel& a, const BinaryKernel& b) {
  std::vector<Difference> differences;
  if (a.arch != b.arch) differences.push_back({"arch", a.arch, b.arch});
  if (other_compiler(a.compiler, b.compiler)) differences.push_back({"compiler", a.compiler, b.compiler});
  if (a.options.empty() || b.options.empty()) return differences;
  auto x = compiler_options(shell_words(a.options)), y = compiler_options(shell_words(b.options));
  for (auto* options : {&x, &y}) options->erase("--gpu-architecture");
  std::set<std::string> names;
  for (const auto& [name, value] : x) names.insert(name);
  for (const auto& [name, value] : y) names.insert(name);
  const auto of = [](const auto& options, const std::string& name) {
    const auto found = options.find(name);
    return found == options.end() ? std::string() : found->second;
  };
  for (const std::string& name : names)
    if (of(x, name) != of(y, name)) differences.push_back({"option " + name, of(x, name), of(y, name)});
  return differences;
}

/// Registers, memory, and the opcodes whose counts changed most.
void add_consequences(const BinaryKernel& a, const BinaryKernel& b, std::vector<Difference>& differences) {
  if (a.resources_known && b.resources_known) {
    number(differences, "registers", a.registers, b.registers);
    number(differences, "shared_bytes", a.shared_bytes, b.shared_bytes);
    number(differences, "spill_bytes", a.spill_bytes, b.spill_bytes);
    number(differences, "stack_bytes", a.stack_bytes, b.stack_bytes);
  }
  number(differences, "max_threads", a.max_threads, b.max_threads);
  if (layout(a) != layout(b)) differences.push_back({"argument layout", layout(a), layout(b)});
  number(differences, "code_bytes", a.code_bytes, b.code_bytes);
  std::vector<std::pair<std::int64_t, std::string>> changed;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> counts;
  for (const auto& [name, count] : instructions_of(a)) counts[name].first = count;
  for (const auto& [name, count] : instructions_of(b)) counts[name].second = count;
  for (const auto& [name, count] : counts)
    // What fills the last cache line says nothing.
    if (count.first != count.second && name != "NOP")
      changed.emplace_back(-std::abs(count.first - count.second), name);
  std::sort(changed.begin(), changed.end());
  constexpr std::size_t kShown = 6;
  for (std::size_t i = 0; i < changed.size() && i < kShown; ++i) {
    const auto& [left, right] = counts[changed[i].second];
    differences.push_back({"instructions " + changed[i].second, std::to_string(left), std::to_string(right)});
  }
}

bool is_evidence(const Difference& difference) {
  return difference.name == "arch" || difference.name == "compiler" || difference.name.starts_with("option ");
}

std::string plural(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// The commonest ways in which the variants differ: "mainloop.Is_causal false → true".
std::string commonest(const std::vector<Pair>& pairs, Pair::Kind kind, bool evidence) {
  std::map<std::string, std::size_t> counts;
  for (const Pair& pair : pairs) {
    if (pair.kind != kind) continue;
    for (const Difference& each : pair.differences) {
      if (is_evidence(each) != evidence) continue;
      const auto cell = [](const std::string& value) {
        return value.empty() ? std::string("none") : value.size() > 60 ? value.substr(0, 60) + "…" : value;
      };
      ++counts[each.name + " " + cell(each.a) + " → " + cell(each.b)];
    }
  }
  std::vector<std::pair<std::size_t, std::string>> order;
  for (const auto& [text, count] : counts) order.emplace_back(count, text);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& x, const auto& y) { return x.first > y.first; });
  std::string text;
  for (std::size_t i = 0; i < order.size() && i < 3; ++i) text += (i > 0 ? ", " : "") + order[i].second;
  if (order.size() > 3) text += " and " + std::to_string(order.size() - 3) + " more";
  return text;
}

/// Templates that take another number of arguments on each side: two releases of one library.
class Releases {
 public:
  void add_a(const BinaryKernel& kernel) { add(kernel, arguments_a_); }
  void add_b(const BinaryKernel& kernel) { add(kernel, arguments_b_); }

  /// Whether the kernel's name has such a template in it.
  bool has(const BinaryKernel& kernel) const {
    return std::any_of(kernel.parsed->templates.begin(), kernel.parsed->templates.end(),
                       [&](const std::string& name) { return differs(name); });
  }
  /// "flash::Mainloop takes 21 arguments in A and 23 in B"; empty where there is none.
  std::string text() const {
    std::string all;
    for (const auto& [name, numbers] : arguments_a_)
      if (differs(name))
        all += (all.empty() ? "" : ", ") + name + " takes " + list(numbers) + " arguments in A and " +
               list(arguments_b_.at(name)) + " in B";
    return all;
  }

 private:
  using Arguments = std::map<std::string, std::set<std::size_t>>;

  static void add(const BinaryKernel& kernel, Arguments& to) {
    const KernelName& name = *kernel.parsed;
    for (std::size_t i = 0; i < std::min(name.templates.size(), name.arity.size()); ++i)
      to[name.templates[i]].insert(name.arity[i]);
  }
  bool differs(const std::string& name) const {
    const auto a = arguments_a_.find(name), b = arguments_b_.find(name);
    return a != arguments_a_.end() && b != arguments_b_.end() &&
           std::none_of(a->second.begin(), a->second.end(),
                        [&](std::size_t number) { return b->second.contains(number); });
  }
  static std::string list(const std::set<std::size_t>& numbers) {
    std::string text;
    for (const std::size_t number : numbers) text += (text.empty() ? "" : " or ") + std::to_string(number);
    return text;
  }

  Arguments arguments_a_, arguments_b_;
};

/// What the two sides do not share because of their releases, and the sentence about it.
struct OfReleases {
  std::size_t only_a = 0, only_b = 0, variants = 0;
};

OfReleases add_releases(const PairedKernels& paired, DiffResult& result) {
  Releases releases;
  for (const BinaryKernel* kernel : paired.only_a) releases.add_a(*kernel);
  for (const BinaryKernel* kernel : paired.only_b) releases.add_b(*kernel);
  for (std::size_t i = 0; i < paired.pairs.size(); ++i) {
    releases.add_a(*paired.pairs[i].first);
    releases.add_b(*paired.pairs[i].second);
  }
  OfReleases found;
  const std::string text = releases.text();
  if (text.empty()) return found;
  const auto has = [&](const BinaryKernel* kernel) { return releases.has(*kernel); };
  found.only_a = static_cast<std::size_t>(std::count_if(paired.only_a.begin(), paired.only_a.end(), has));
  found.only_b = static_cast<std::size_t>(std::count_if(paired.only_b.begin(), paired.only_b.end(), has));
  for (std::size_t i = 0; i < paired.pairs.size(); ++i)
    found.variants += result.pairs[i].kind == Pair::Kind::variant && has(paired.pairs[i].first) ? 1 : 0;
  result.verdict.push_back("Two releases of one library: " + text + ". " +
                           plural(found.only_a + found.variants, "kernel") + " of A and " +
                           std::to_string(found.only_b + found.variants) +
                           " of B have such a name, and cannot be compared parameter by parameter.");
  return found;
}

void add_verdict(DiffResult& result, const OfReleases& of_releases, bool logs) {
  const auto count = [&](Pair::Kind kind) {
    return static_cast<std::size_t>(std::count_if(result.pairs.begin(), result.pairs.end(),
                                                  [&](const Pair& pair) { return pair.kind == kind; }));
  };
  if (const std::size_t only = result.only_a.size() - of_releases.only_a; only > 0)
    result.verdict.push_back(plural(only, "kernel") +
                             " only in A: B lacks code paths that A has, or was built without them.");
  if (const std::size_t only = result.only_b.size() - of_releases.only_b; only > 0)
    result.verdict.push_back(plural(only, "kernel") +
                             " only in B: B has code paths that A lacks, or was built with more of them.");
  if (const std::size_t variants = count(Pair::Kind::variant) - of_releases.variants; variants > 0)
    result.verdict.push_back(
        plural(variants, "kernel") + (variants == 1 ? " is" : " are") +
        " another instantiation of the same family: " + commonest(result.pairs, Pair::Kind::variant, false) +
        ". Look at the dispatch that chooses the template.");
  if (const std::size_t codes = count(Pair::Kind::code); codes > 0) {
    const std::string evidence = commonest(result.pairs, Pair::Kind::code, true);
    const std::string begin =
        plural(codes, "kernel") + (codes == 1 ? " has" : " have") + " the same name and other machine code";
    if (!evidence.empty())
      result.verdict.push_back(begin + ", built differently: " + evidence +
                               ". Build both in the same way, then compare again.");
    else if (logs)
      result.verdict.push_back(begin + ", with the same options and compiler: the sources differ.");
    else
      result.verdict.push_back(
          begin +
          ", with nothing in ptxas' notes to explain it: the sources differ, or options of "
          "nvcc that leave no trace (--use_fast_math, -D…); --build-a and --build-b compare these.");
  }
  if (result.same())
    result.verdict.push_back(plural(result.pairs.size(), "kernel") +
                             (result.pairs.size() == 1 ? " has" : " have") +
                             " the same machine code on both sides.");
}

}  // namespace

std::vector<Difference> name_differences(const KernelName& a, const KernelName& b) {
  std::vector<Difference> differences;
  if (a.family != b.family) differences.push_back({"family", a.family, b.family});
  const std::map<std::string, std::string> left(a.parameters.begin(), a.parameters.end());
  const std::map<std::string, std::string> right(b.parameters.begin(), b.parameters.end());
  for (const auto& [name, value] : a.parameters) {
    const auto found = right.find(name);
    const std::string other = found == right.end() ? "" : found->second;
    if (value != other) differences.push_back({name, value, other});
  }
  for (const auto& [name, value] : b.parameters)
    if (!left.contains(name)) differences.push_back({name, "", value});
  if (differences.empty()) {
    const std::map<std::string, std::string> derived(b.derived.begin(), b.derived.end());
    for (const auto& [name, value] : a.derived)
      if (const auto found = derived.find(name); found != derived.end() && found->second != value)
        differences.push_back({name, value, found->second});
  }
  if (differences.empty() && a.text != b.text) differences.push_back({"name", a.text, b.text});
  return differences;
}

DiffResult diff_binaries(const std::vector<BinaryKernel>& a, const std::vector<BinaryKernel>& b,
                         const std::vector<CompiledUnit>& build_a, const std::vector<CompiledUnit>& build_b) {
  DiffResult result;
  Kernels left = comparable(a), right = comparable(b);
  const std::set<std::string> in_a = architectures(left), in_b = architectures(right);
  leave_out(in_a, in_b, left, result.only_a);
  leave_out(in_b, in_a, right, result.only_b);
  const bool logs = !build_a.empty() && !build_b.empty();
  if (build_a.empty() != build_b.empty())
    result.notes.push_back(std::string("a build log was given for ") + (build_a.empty() ? "B" : "A") +
                           " only: nvcc's options are not compared");
  const std::vector<Difference> logged =
      logs ? option_differences(build_a, build_b) : std::vector<Difference>();
  const PairedKernels paired = pair_kernels(left, right);
  bool unnoted = false;
  for (const auto& [x, y] : paired.pairs) {
    Pair pair;
    pair.a = x->parsed->text;
    pair.b = y->parsed->text;
    std::vector<Difference> evidence = noted_differences(*x, *y);
    for (const Difference& option : logged)
      if (std::none_of(evidence.begin(), evidence.end(),
                       [&](const Difference& each) { return each.name == option.name; }))
        evidence.push_back(option);
    if (x->parsed->plain != y->parsed->plain) {
      pair.kind = Pair::Kind::variant;
      pair.differences = name_differences(*x->parsed, *y->parsed);
      pair.differences.insert(pair.differences.end(), evidence.begin(), evidence.end());
    } else if (x->code_hash != y->code_hash) {
      pair.kind = Pair::Kind::code;
      pair.differences = std::move(evidence);
      add_consequences(*x, *y, pair.differences);
      if (pair.differences.empty())
        pair.differences.push_back({"code_hash", x->code_hash.substr(0, 16), y->code_hash.substr(0, 16)});
      unnoted = unnoted || x->compiler.empty() || y->compiler.empty();
    }
    result.pairs.push_back(std::move(pair));
  }
  const auto list = [](const Kernels& kernels, std::vector<std::string>& names) {
    for (const BinaryKernel* kernel : kernels)
      names.push_back(kernel->parsed->text + " (" + kernel->arch + ")");
  };
  list(paired.only_a, result.only_a);
  list(paired.only_b, result.only_b);
  if (unnoted) result.notes.push_back("a binary without ptxas' note: its compiler and options are not known");
  if (!logged.empty() && result.same())
    result.notes.push_back("the builds' options differ (" + logged.front().name +
                           (logged.size() > 1 ? " and " + std::to_string(logged.size() - 1) + " more" : "") +
                           "), and the machine code does not");
  add_verdict(result, add_releases(paired, result), logs);
  return result;
}

}  // namespace isomer::lab
