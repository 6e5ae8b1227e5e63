#include "lab/ask/adapting/cache_layouts.hpp"

#include "lab/ask/adapting/simpler.hpp"
#include "lab/ask/adapting/simpler_ports.hpp"
#include "lab/ask/nearness.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isomer::lab {
namespace {

constexpr double kSecondsOfLayout = 3;   ///< of a call that is only tried
constexpr double kSecondsOfLayouts = 6;  ///< of all of them together
constexpr double kOfTheOp = 0.5;         ///< of an answer that has to do with the op's, whatever its fault
constexpr double kChance = 0.05;         ///< less of an answer is right by chance
constexpr double kClearlyNearer = 0.2;   ///< of two as good, the more ordinary

/// How a row of keys or a page of them lies, its first dimension aside.
struct CacheLayout {
  std::vector<int> keys, values;  ///< the axes of [first, keys, heads, dim] in their order; empty: so
  bool split;                     ///< the keys' last dimension in parts of 16 bytes, which `keys` orders too
  const char* said;
};

const std::vector<CacheLayout>& cache_layouts() {
  static const std::vector<CacheLayout> list = {
      {{}, {}, false, "[keys, heads, dim]"},
      {{0, 2, 1, 3}, {0, 2, 1, 3}, false, "[heads, keys, dim]"},
      {{0, 2, 3, 1, 4},
       {0, 2, 3, 1},
       true,
       "[heads, dim / x, keys, x] for keys, x elements being 16 bytes, and [heads, dim, keys] for values"},
      {{0, 2, 3, 1}, {0, 2, 3, 1}, false, "[heads, dim, keys]"},
      {{0, 2, 3, 1}, {0, 2, 1, 3}, false, "[heads, dim, keys] for keys and [heads, keys, dim] for values"}};
  return list;
}

/// The role of an argument of the contract that the form passes as a tensor; null: none.
Passing* cache_passing(Form& form, const Port& port, std::string_view argument) {
  for (Passing& each : form.passings)
    if (each.what == Passing::What::role &&
        port.roles[static_cast<std::size_t>(each.role)].argument == argument)
      return &each;
  return nullptr;
}

/// The form with its caches in that order; nothing where it has no caches.
std::optional<Form> laid(const Form& form, const Port& port, const Given& given, const CacheLayout& layout) {
  constexpr int kBytes = 16;
  Form other = form;
  Passing *keys = cache_passing(other, port, "k"), *values = cache_passing(other, port, "v");
  if (keys == nullptr || values == nullptr) return std::nullopt;
  keys->axes = layout.keys;
  values->axes = layout.values;
  const Tensor& k = given.values[static_cast<std::size_t>(keys->role)].tensor;
  const DType dtype = keys->cast != DType::none ? keys->cast : k.dtype;
  keys->split = layout.split ? kBytes / static_cast<int>(size_of(dtype)) : 0;
  if (keys->split > 0 && k.size(-1) % keys->split != 0) return std::nullopt;
  return other;
}

struct LaidWay {
  std::shared_ptr<Simpler> simpler;
  Form form;
  const CacheLayout* layout = nullptr;
  Dtypes dtypes;
  std::shared_ptr<const Given> given;
  Trial trial;
  double score = -3;
};

double nearness_of(const Given& given, const Trial& trial) {
  if (!trial.ok() || !trial.answer.refused_launches.empty()) return -2;
  return worth(given, trial) + 0.5 * correlation(given, trial);
}

bool answers_right(const LaidWay& way) {
  return way.trial.ok() && share_right(*way.given, way.trial) > 0.98 && !strays(way.trial);
}

/// The dtypes in which it was asked, and each of the usual ones where its caches say none: tensors, and
/// memory of any type.
std::vector<Dtypes> dtypes_to_ask(const Called& called) {
  std::vector<Dtypes> list = {called.dtypes};
  const bool typed =
      std::any_of(called.form.passings.begin(), called.form.passings.end(), [&](const Passing& each) {
        return each.what == Passing::What::role && each.cast != DType::none &&
               called.port->roles[static_cast<std::size_t>(each.role)].argument == "k";
      });
  for (std::size_t i = 0; !typed && i < called.port->original->usual.size(); ++i) {
    Dtypes each;
    for (const auto& [field, dtype] : called.port->original->usual[i]) each[field] = dtype;
    if (each != called.dtypes) list.push_back(std::move(each));
  }
  return list;
}

/// The port, and with what kernels have not, or are written for. Tensors say how many heads they have.
std::vector<std::shared_ptr<Simpler>> ports_to_ask(const Candidate& candidate, const Called& called) {
  const Named named = named_of(candidate, *called.form.entry);
  std::vector<std::shared_ptr<Simpler>> list;
  if (takes_tensors(*called.form.entry)) list = simpler_ports(named, simpler_of(*called.port), {"hkv"});
  for (std::shared_ptr<Simpler>& each : simpler_ports(named, simpler_of(*called.port)))
    list.push_back(std::move(each));
  if (!called.trial.ok() || strays(called.trial)) add_ratios(list);
  return list;
}

bool shares_heads_of_keys(const Simpler& simpler) {
  return !simpler.original.probes.empty() &&
         simpler.original.probes.front().find("hkv=") != std::string::npos;
}

std::string chosen_sizes(const Simpler& simpler) {
  std::string text;
  for (const auto& [field, value] : simpler.chosen)
    text += fmt::format("{}{} = {}", text.empty() ? "" : " and ", field, value);
  return text;
}

}  // namespace

void try_cache_layouts(const Candidate& candidate, const CallRequest& request, Called& called) {
  const Entry& entry = *called.form.entry;
  Form form = called.form;
  if (!is_stranger(request, entry) || cache_passing(form, *called.port, "seqused_k") == nullptr ||
      (called.trial.ok() && share_right(*called.given, called.trial) > 0.9))
    return;
  CallSettings settings = request.settings;
  settings.timeout_seconds = std::min(settings.timeout_seconds, kSecondsOfLayout);
  LaidWay best;
  std::optional<LaidWay> caused;  // in which one known fault is all that is wrong
  double worked = 0;
  const bool tensors = takes_tensors(entry);
  bool keeps_with_heads = false;
  for (const Dtypes& dtypes : dtypes_to_ask(called))
    for (const std::shared_ptr<Simpler>& simpler : ports_to_ask(candidate, called))
      for (const CacheLayout& layout : cache_layouts()) {
        if (worked > kSecondsOfLayouts || (best.simpler != nullptr && answers_right(best))) break;
        // Whose tensors say how many heads there are takes them, where it keeps to its memory with them.
        if (tensors && keeps_with_heads && !shares_heads_of_keys(*simpler)) break;
        try {
          LaidWay way;
          way.simpler = simpler;
          way.layout = &layout;
          way.dtypes = dtypes;
          way.given = given_by_line(without_what_it_lacks(simpler->port, form),
                                    simpler->original.probes.front(), dtypes);
          const std::optional<Form> other = laid(form, simpler->port, *way.given, layout);
          if (!other) continue;
          way.form = *other;
          way.trial = try_call(candidate, way.form, simpler->port, *way.given, settings);
          worked += way.trial.answer.worked_seconds;
          way.score = nearness_of(*way.given, way.trial);
          // What keeps to its memory and fills its answer is asked for sizes that it is made for.
          const bool made_for = best.simpler != nullptr && best.simpler != simpler && best.trial.ok() &&
                                !strays(best.trial) && !leaves_out(*best.given, best.trial) &&
                                !simpler->chosen.empty() && !simpler->said;
          if (is_made_for(*simpler, *way.given, way.trial)) way.score += 2 * kClearlyNearer;
          // Nor is it asked for sizes that the source does not name, with which nothing is right.
          if (simpler->said && way.trial.ok() && best.simpler != nullptr && !best.simpler->said &&
              (!best.trial.ok() || share_right(*best.given, best.trial) < kChance))
            way.score = std::max(way.score, best.score + 2 * kClearlyNearer);
          keeps_with_heads = keeps_with_heads || (way.trial.ok() && !strays(way.trial) &&
                                                  !leaves_out(*way.given, way.trial) && way.score > kOfTheOp);
          if (!answers_right(way) && !caused && is_right_but_for_one_fault(simpler->port, *way.given, way.trial))
            caused = way;
          if (answers_right(way) || (!made_for && way.score > best.score + kClearlyNearer))
            best = std::move(way);
        } catch (const Error&) {  // the op does not take it
        }
      }
  if (caused && (best.simpler == nullptr || !answers_right(best))) best = std::move(*caused);
  if (best.simpler == nullptr || !best.trial.ok() ||
      (!caused && !answers_right(best) && best.score <= nearness_of(*called.given, called.trial) + kClearlyNearer))
    return;
  const auto tell = [&](Code code, std::string evidence) {
    Finding finding;
    finding.code = code;
    finding.evidence = std::move(evidence);
    finding.location = entry.place;
    finding.fix =
        "none is needed where its callers expect this; a port of the op's original needs the op's way";
    called.findings.push_back(std::move(finding));
  };
  const std::string before = called.trial.ok()          ? fmt::format("{:.0f} % of the answer is right",
                                                                      100 * share_right(*called.given, called.trial))
                             : called.trial.answer.ok() ? called.trial.misfit
                                                        : called.trial.answer.message;
  if (best.layout != &cache_layouts().front())
    tell(Code::convention,
         fmt::format("its caches lie as {}, of each {}: without this {}", best.layout->said,
                     cache_passing(form, *called.port, "page_table") != nullptr ? "page" : "entry", before));
  if (!best.simpler->chosen.empty())
    tell(Code::shape_refused,
         fmt::format("'{}': {}; with {} it {}", called.given->line, before, chosen_sizes(*best.simpler),
                     answers_right(best) ? "is right" : "is taken"));
  called.simpler = std::shared_ptr<const Port>(best.simpler, &best.simpler->port);
  called.port = called.simpler.get();
  called.form = best.form;
  if (caused || answers_right(best)) called.unsure.clear();
  called.dtypes = best.dtypes;
  called.given = best.given;
  called.trial = std::move(best.trial);
  called.callable = true;
}

}  // namespace isomer::lab
