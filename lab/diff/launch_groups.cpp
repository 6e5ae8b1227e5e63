#include "lab/diff/launch_groups.hpp"

#include "core/sentence.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace isomer::lab {
namespace {

double median_of(std::vector<float> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void add_key(std::string& key, const std::string& text) {
  key += std::to_string(text.size());
  key += ':';
  key += text;
}

template <class Number>
void add_key(std::string& key, const std::optional<Number>& value) {
  if (value) key += std::to_string(*value);
  key += ';';
}

void add_key(std::string& key, const std::map<std::string, std::string>& values) {
  for (const auto& [name, value] : values) {
    add_key(key, name);
    add_key(key, value);
  }
  key += '|';
}

std::string key_of(const Launch& launch) {
  std::string key;
  add_key(key, launch.name);
  add_key(key, launch.demangled);
  add_key(key, launch.code_hash);
  key += triple_text(launch.grid) + "," + triple_text(launch.block) + "," + triple_text(launch.cluster) + ";";
  add_key(key, launch.shared_dynamic);
  add_key(key, launch.shared_static);
  add_key(key, launch.local_bytes);
  add_key(key, launch.registers);
  add_key(key, launch.scalar_registers);
  key += launch.cooperative ? 'c' : '-';
  key += launch.programmatic ? 'p' : '-';
  key += launch.graph_node ? 'g' : '-';
  key += launch.arguments_known ? 'a' : '-';
  add_key(key, launch.variant);
  add_key(key, launch.parameters);
  return key;
}

const std::string& name_of(const Launch& launch) {
  return launch.name.empty() ? launch.demangled : launch.name;
}

void mark_varying(LaunchGroup& group, const Launch& launch) {
  if (!launch.arguments_known) return;
  const std::size_t count = std::min(group.varying.size(), launch.arguments.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto& was = group.first.arguments[i].bytes;
    const auto& is = launch.arguments[i].bytes;
    std::vector<std::uint8_t>& varying = group.varying[i];
    for (std::size_t b = 0; b < varying.size(); ++b)
      if (b >= is.size() || is[b] != was[b]) varying[b] = 1;
  }
}

}  // namespace

double LaunchGroup::median_ns() const { return median_of(times_ns); }

double LaunchGroup::spread_ns() const {
  constexpr double kOfNormal = 1.4826;
  const double median = median_ns();
  std::vector<float> distances;
  for (const float time : times_ns) distances.push_back(static_cast<float>(std::abs(time - median)));
  return kOfNormal * median_of(std::move(distances));
}

std::uint32_t Grouping::group_of(const Launch& launch) {
  std::string key = key_of(launch);
  if (const auto found = groups_.find(key); found != groups_.end()) return found->second;
  Launch first = launch;
  if (result_.groups.size() >= kMostGroups) {
    // By name alone, and nothing else known of them.
    ++folded_;
    key = "folded ";
    add_key(key, name_of(launch));
    if (const auto found = groups_.find(key); found != groups_.end()) return found->second;
    if (result_.groups.size() >= 2 * kMostGroups)
      return static_cast<std::uint32_t>(result_.groups.size() - 1);
    first = {};
    first.name = launch.name;
    first.demangled = launch.demangled;
  }
  const auto index = static_cast<std::uint32_t>(result_.groups.size());
  LaunchGroup& group = result_.groups.emplace_back();
  for (const ArgumentBytes& argument : first.arguments) group.varying.emplace_back(argument.bytes.size(), 0);
  group.first = std::move(first);
  groups_.emplace(std::move(key), index);
  return index;
}

Grouping::Grouping(const std::string& kernels) {
  if (!kernels.empty()) kernels_.emplace(kernels);
}

bool Grouping::is_asked_for(const Launch& launch) {
  const std::string& name = name_of(launch);
  const auto [found, is_new] = asked_for_.try_emplace(name, false);
  if (is_new) found->second = kernels_->found_in(name) || kernels_->found_in(parse_kernel_name(name).text);
  return found->second;
}

void Grouping::add(Launch&& launch) {
  if (kernels_ && !is_asked_for(launch)) {
    ++result_.left_out;
    return;
  }
  const std::uint32_t index = group_of(launch);
  LaunchGroup& group = result_.groups[index];
  ++group.count;
  ++result_.launches;
  if (group.count > 1) mark_varying(group, launch);
  for (const auto& [name, value] : launch.metrics) {
    auto& [sum, count] = group.metrics[name];
    sum += value;
    ++count;
  }
  if (!launch.operation.empty() && launch.duration_ns) {
    OperatorTime& of = result_.operators[launch.operation];
    ++of.launches;
    of.total_ns += *launch.duration_ns;
    ++of.groups[index];
  }
  if (launch.duration_ns) {
    ++group.timed;
    group.total_ns += *launch.duration_ns;
    const auto time = static_cast<float>(*launch.duration_ns);
    if (group.times_ns.size() < LaunchGroup::kTimes) {
      group.times_ns.push_back(time);
    } else {
      random_ = random_ * 6364136223846793005u + 1442695040888963407u;
      const std::uint64_t at = (random_ >> 20) % group.timed;
      if (at < LaunchGroup::kTimes) group.times_ns[at] = time;
    }
  }
  if (in_sequences_ == kLongestSequence) return;
  ++in_sequences_;
  const auto [place, is_new] = processes_.emplace(launch.process.value_or(0), sequences_.size());
  if (is_new) sequences_.emplace_back();
  sequences_[place->second].push_back(index);
}

GroupedCapture Grouping::finish(Capture&& about) {
  result_.about = std::move(about);
  for (std::vector<std::uint32_t>& sequence : sequences_) {
    if (result_.sequence.empty())
      result_.sequence = std::move(sequence);
    else
      result_.sequence.insert(result_.sequence.end(), sequence.begin(), sequence.end());
    sequence = {};
  }
  if (folded_ > 0)
    result_.about.facts["note groups"] =
        core::say(folded_, " launches beyond ", kMostGroups, " different ones are counted by name only");
  if (result_.sequence.size() < result_.launches)
    result_.about.facts["note sequence"] =
        core::say("the order of launches beyond the first ", kLongestSequence, " was not looked at");
  for (LaunchGroup& group : result_.groups) group.name = parse_kernel_name(name_of(group.first));
  if (result_.left_out > 0)
    result_.about.facts["note kernels asked for"] =
        core::say(result_.launches, " of ", result_.launches + result_.left_out,
                  " launches are of kernels that were asked for");
  return std::move(result_);
}

}  // namespace isomer::lab
