#include "lab/candidate/emulated/launch_line.hpp"

#include "lab/candidate/emulated/launch_comment.hpp"
#include "lab/text/pattern.hpp"
#include "lab/text/source_text.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>

namespace isomer::lab {
namespace {

// A launch as it is written.
struct Launch {
  std::size_t at = 0;
  std::vector<std::string> configuration, arguments;
};

std::string base_name(const std::string& name) {
  const std::string plain = name.substr(0, name.find('<'));
  const auto colon = plain.rfind("::");
  return colon == std::string::npos ? plain : plain.substr(colon + 2);
}

std::optional<Launch> find_chevrons(const std::string& text, const std::string& name) {
  const Pattern launch("\\b" + literally(name) + R"(\s*(<[^;{}<>]*>)?\s*<<<)");
  const std::optional<Match> found = launch.find(text);
  if (!found) return std::nullopt;
  Launch result;
  result.at = found->begin();
  const std::size_t begin = found->end();
  const std::size_t end = text.find(">>>", begin);
  const std::size_t open = end == std::string::npos ? end : text.find('(', end);
  if (open == std::string::npos) return std::nullopt;
  const auto arguments = in_brackets(text, open);
  if (!arguments) return std::nullopt;
  result.configuration = split_at_commas(std::string_view(text).substr(begin, end - begin));
  result.arguments = split_at_commas(*arguments);
  return result;
}

std::optional<Launch> find_macro(const std::string& text, const std::string& name) {
  static const Pattern launch(R"(hipLaunchKernelGGL\s*\()");
  const Pattern named("\\b" + literally(name) + "\\b");
  for (std::optional<Match> found = launch.find(text); found; found = launch.find(text, found->end())) {
    const auto inner = in_brackets(text, found->end() - 1);
    if (!inner) continue;
    std::vector<std::string> parts = split_at_commas(*inner);
    // Template arguments may hold commas of their own; the parts up to the geometry name the kernel.
    if (parts.size() < 5 || !named.found_in(parts[0])) continue;
    Launch result;
    result.at = found->begin();
    result.configuration.assign(parts.begin() + 1, parts.begin() + 5);
    result.arguments.assign(parts.begin() + 5, parts.end());
    return result;
  }
  return std::nullopt;
}

// The latest definition of each name before the launch: #define, constants, locals, dim3.
std::map<std::string, std::string> definitions_before(const std::string& text, std::size_t end) {
  const std::string before = text.substr(0, end);
  std::map<std::string, std::string> all;
  static const Pattern macro(R"(#\s*define\s+(\w+)[ \t]+([^\n]+))");
  static const Pattern statement(
      R"(\b(?:dim3|int|unsigned|long|auto|size_t|u?int(?:32|64)_t)\s+([A-Za-z_]\w*\s*[=\(\{][^;]*);)");
  static const Pattern declarator(R"((\w+)\s*(?:=\s*([\s\S]+)|([\(\{][\s\S]*)))");
  for (const Match& found : macro.all(before)) all[found[1]] = found[2];
  for (const Match& found : statement.all(before))
    for (const std::string& one : split_at_commas(found[1]))
      if (const std::optional<Match> parts = declarator.whole(one))
        all[(*parts)[1]] = parts->has(2) ? (*parts)[2] : (*parts)[3];
  return all;
}

class Evaluation {
 public:
  Evaluation(const Launch& launch, std::map<std::string, std::string> definitions, const Entry& kernel,
             const std::vector<Value>& arguments)
      : launch_(launch),
        definitions_(std::move(definitions)),
        kernel_(kernel),
        arguments_(arguments),
        by_name_(arguments_by_name(kernel, arguments)) {}

  // "256", "blocks", "dim3(16, 16)", "grid" where grid is a dim3.
  std::optional<emulator::Index3> index(const std::string& written, int depth = 0) const {
    if (depth > 4) return std::nullopt;
    std::string list = written;
    static const Pattern dim3(R"((?:dim3)?\s*[\(\{]([\s\S]*)[\)\}])"), name(R"(\w+)");
    if (name.is(written)) {
      const auto it = definitions_.find(written);
      if (it != definitions_.end() && dim3.is(it->second) && !number(it->second))
        return index(it->second, depth + 1);
    }
    if (const std::optional<Match> parts = dim3.whole(written); parts && !number(written)) list = (*parts)[1];
    emulator::Index3 result{1, 1, 1};
    const std::vector<std::string> each = split_at_commas(list);
    if (each.size() > 3) return std::nullopt;
    for (std::size_t i = 0; i < each.size(); ++i) {
      const std::optional<double> value = number(each[i]);
      if (!value || *value < 0 || *value > 4294967295.0) return std::nullopt;
      result[i] = static_cast<std::uint32_t>(*value);
    }
    return result;
  }

  std::optional<double> number(const std::string& written) const {
    int depth = 0;
    return number(written, depth);
  }

 private:
  std::optional<double> number(const std::string& written, int& depth) const {
    if (++depth > 100) return std::nullopt;
    return evaluate(
        written, [&](const std::string& name, const std::string& member) -> std::optional<double> {
          // What the line passes for a parameter is what the call passes.
          if (member.empty()) {
            for (std::size_t i = 0; i < launch_.arguments.size() && i < arguments_.size(); ++i) {
              if (launch_.arguments[i] == name && !arguments_[i].is_tensor())
                return static_cast<double>(arguments_[i].integer);
            }
            if (const auto it = definitions_.find(name); it != definitions_.end()) {
              if (const auto value = number(it->second, depth)) return value;
            }
          }
          if (member == "x" || member == "y" || member == "z") {
            const auto whole = index(name, 1);
            return whole ? std::optional<double>((*whole)[static_cast<std::size_t>(member[0] - 'x')])
                         : std::nullopt;
          }
          return by_name_(name, member);
        });
  }

  const Launch& launch_;
  std::map<std::string, std::string> definitions_;
  const Entry& kernel_;
  const std::vector<Value>& arguments_;
  Resolve by_name_;
};

}  // namespace

std::optional<emulator::Geometry> geometry_of_launch_line(const Entry& kernel, const std::string& source,
                                                          const std::vector<Value>& arguments) {
  const std::string name = base_name(kernel.name);
  std::string text = without_comments(source);
  std::optional<Launch> launch = find_chevrons(text, name);
  if (!launch) launch = find_macro(text, name);
  if (!launch && !(text = commented_launch(source, name, kernel.place.line)).empty()) {
    launch = find_chevrons(text, name);
    if (!launch) launch = find_macro(text, name);
  }
  if (!launch || launch->configuration.size() < 2) return std::nullopt;
  const Evaluation evaluation(*launch, definitions_before(text, launch->at), kernel, arguments);
  const auto grid = evaluation.index(launch->configuration[0]),
             block = evaluation.index(launch->configuration[1]);
  if (!grid || !block) return std::nullopt;
  emulator::Geometry geometry;
  geometry.grid = *grid;
  geometry.block = *block;
  if (launch->configuration.size() > 2) {
    std::string bytes = launch->configuration[2];
    for (const auto& [type, size] :
         std::map<std::string, const char*>{{"double", "8"}, {"float", "4"}, {"int", "4"}, {"__half", "2"}})
      bytes = Pattern("sizeof\\s*\\(\\s*" + type + "\\s*\\)").replaced(bytes, size);
    const std::optional<double> value = evaluation.number(bytes);
    if (!value || *value < 0) return std::nullopt;
    geometry.shared_bytes = static_cast<std::uint64_t>(*value);
  }
  return geometry;
}

Resolve arguments_by_name(const Entry& kernel, const std::vector<Value>& arguments) {
  return [&kernel, &arguments](const std::string& name, const std::string& member) -> std::optional<double> {
    for (std::size_t i = 0; i < arguments.size() && i < kernel.parameters.size(); ++i) {
      // p.n of a struct that is taken as its fields.
      if (kernel.parameters[i].name == member && !arguments[i].is_tensor())
        return static_cast<double>(arguments[i].integer);
      if (kernel.parameters[i].name != name) continue;
      const Value& v = arguments[i];
      if (!v.is_tensor())
        return member.empty() ? std::optional<double>(static_cast<double>(v.integer)) : std::nullopt;
      if (member == "numel()") return static_cast<double>(v.tensor.numel());
      static const Pattern size(R"(size\((\d)\)|shape\[(\d)\])");
      const std::optional<Match> parts = size.whole(member);
      if (!parts) return std::nullopt;
      const int dim = std::stoi((*parts)[parts->has(1) ? 1 : 2]);
      if (dim >= v.tensor.rank) return std::nullopt;
      return static_cast<double>(v.tensor.size(dim));
    }
    return std::nullopt;
  };
}

namespace {

/// Whether a function's body launches a kernel, by itself or through functions of its file that are no
/// entries, as templates are.
bool launches(const std::string& file, const std::string& body, std::set<std::string>& seen) {
  static const Pattern launch(R"(<<<|LaunchKernel|LaunchCooperativeKernel)"),
      call(R"(\b([A-Za-z_]\w*)\s*(?:<[^;{}()]*>)?\s*\()");
  if (launch.found_in(body)) return true;
  const std::string inner = body.substr(std::min(body.find('{'), body.size()));
  const std::vector<Match> calls = call.all(inner);
  return std::any_of(calls.begin(), calls.end(), [&](const Match& each) {
    const std::string name = each[1];
    if (!seen.insert(name).second) return false;
    const std::optional<Match> defined =
        Pattern("\\b" + literally(name) + R"(\s*\([^;{}]*\)\s*(?:noexcept\s*)?\{)").find(file);
    if (!defined) return false;
    const auto line =
        1 + std::count(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(defined->begin()), '\n');
    return launches(file, body_at(file, static_cast<int>(line)), seen);
  });
}

}  // namespace

Launching launching_functions(const std::vector<Entry>& entries) {
  std::map<std::string, std::string> files, bodies;
  Launching result;
  for (const Entry& e : entries) {
    if (e.form == Entry::Form::kernel) continue;
    const auto [file, fresh] = files.try_emplace(e.place.file);
    if (fresh) {
      std::ifstream in(e.place.file, std::ios::binary);
      file->second = without_comments({std::istreambuf_iterator<char>(in), {}});
    }
    bodies[e.function] = body_at(file->second, e.place.line);
    std::set<std::string> seen = {base_name(e.function)};
    if (launches(file->second, bodies[e.function], seen)) result.functions.insert(e.function);
  }
  std::map<std::string, std::set<std::string>> callers;
  for (const auto& [name, body] : bodies) {
    const std::string inner = body.substr(std::min(body.find('{'), body.size()));
    for (const auto& [other, unused] : bodies) {
      if (other != name && Pattern("\\b" + literally(base_name(other)) + R"(\s*\()").found_in(inner))
        callers[other].insert(name);
    }
  }
  for (const auto& [name, by] : callers) result.called.insert(name);
  for (std::size_t before = ~std::size_t{0}; before != result.functions.size();) {
    before = result.functions.size();
    for (const std::string& name : std::set<std::string>(result.functions))
      result.functions.insert(callers[name].begin(), callers[name].end());
  }
  return result;
}

}  // namespace isomer::lab
