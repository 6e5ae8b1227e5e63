#include "lab/ask/adapting/simpler.hpp"

#include "lab/ask/adapting/changes.hpp"
#include "lab/ask/adapting/numbers.hpp"
#include "lab/ask/adapting/simpler_ports.hpp"
#include "lab/ask/adapting/ways.hpp"
#include "lab/ask/names/number_words.hpp"
#include "lab/ask/names/stride_names.hpp"
#include "lab/ask/nearness.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace isomer::lab {
namespace {

constexpr double kClearly = 0.2;       ///< of two as good, the more ordinary
constexpr double kSpeaks = 0.1;        ///< of what answers nothing with the usual sizes
constexpr double kFlagged = 1;         ///< what is likelier needs no flag that it was not given
constexpr double kSeconds = 3;         ///< of a call that is only tried
constexpr double kSecondsIn = 8;       ///< of all of them together
constexpr double kSecondsGuessed = 2;  ///< of those in which a number is nothing that is likely

/// Whether a function takes memory of the op without saying of which type.
bool takes_untyped(const Form& form) {
  for (std::size_t i = 0; i < std::min(form.passings.size(), form.entry->parameters.size()); ++i) {
    const Parameter& p = form.entry->parameters[i];
    if (form.passings[i].what == Passing::What::role && p.kind == Parameter::Kind::pointer &&
        form.passings[i].cast == DType::none && p.element == DType::none)
      return true;
  }
  return false;
}

/// The dtypes in which a function is asked: those that are settled, or each of the usual ones where a code
/// that it takes may say which it is given, or nothing does.
std::vector<Dtypes> dtypes_to_try(const Guess& guess, const Dtypes& settled) {
  std::vector<Dtypes> list = {settled};
  const bool open =
      takes_untyped(guess.form) || std::any_of(guess.unsure.begin(), guess.unsure.end(), [&](int at) {
        return is_code_name(guess.form.entry->parameters[static_cast<std::size_t>(at)].name);
      });
  for (std::size_t i = 0; open && i < guess.port->original->usual.size(); ++i) {
    Dtypes each;
    for (const auto& [field, dtype] : guess.port->original->usual[i]) each[field] = dtype;
    if (each != settled) list.push_back(std::move(each));
  }
  return list;
}

/// A simpler port with the likeliest of what the guess's unsure numbers may be, or with the others. None
/// where the op does not take it.
std::vector<Way> ways_of(const Tried& tried, const Guess& guess, const Dtypes& dtypes, bool likeliest) {
  std::vector<Way> list;
  if (tried.simpler->original.probes.empty()) return list;
  try {
    const std::shared_ptr<const Given> given =
        given_by_line(without_what_it_lacks(tried.simpler->port, tried.form),
                      tried.simpler->original.probes.front(), dtypes);
    std::vector<Form> forms = forms_of_numbers(guess, *given);
    const auto second = forms.begin() + 1;
    for (auto form = likeliest ? forms.begin() : second; form != (likeliest ? second : forms.end()); ++form)
      list.push_back({tried.simpler, std::move(*form), dtypes, given, {}});
  } catch (const Error&) {
  }
  return list;
}

/// The op's originals over pointers, those first of whose arguments most have a parameter of the entry.
std::vector<const Port*> likeliest_ports(const Entry& entry, const Port& asked) {
  std::vector<std::pair<double, const Port*>> list;
  for (const Port& port : ports())
    if (port.op == asked.op && port.original != nullptr && !port.original->of_tensors)
      list.emplace_back(guess_form(entry, port, true).score, &port);
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const Port*> ordered;
  for (const auto& [score, port] : list) ordered.push_back(port);
  return ordered;
}

using Chosen = std::vector<std::pair<std::string, std::string>>;

/// The sizes that were set to common ones, but for a number of tokens.
Chosen but_for_tokens(const Simpler& simpler) {
  Chosen others = simpler.chosen;
  if (!asks_one_query(simpler)) std::erase_if(others, [](const auto& each) { return each.first == "sq"; });
  return others;
}

/// The best of the simpler ports of the op's originals.
Way best_way(const Candidate& candidate, const Called& called, const CallSettings& settings) {
  const Entry& entry = *called.form.entry;
  const double least = guess_form(entry, *called.port, true).score - 1;
  Way best;
  double worked = 0;
  bool lacks_barrier = false;  // the best way is of the usual sizes, and lacks one
  Way caused;                  // in which one known fault is all that is wrong
  // What numbers may be that no name explains is tried behind the sizes: the likeliest of each is tried with
  // all of these first.
  for (const bool likeliest : {true, false}) {
    const double most = likeliest ? kSecondsIn : std::min(kSecondsIn, worked + kSecondsGuessed);
    for (const Port* each : likeliest_ports(entry, *called.port)) {
      const Port& port = *each;
      const Guess guess = guess_form(entry, port, true);
      if (!guess.findings.empty() || guess.unsure.size() > 2 || guess.score < least ||
          (!likeliest && guess.unsure.empty()))
        continue;
      Outcome usual;
      bool silent = false;  // with the usual sizes it comes back and has written nothing
      bool keeps = false;   // what is asked of usual sizes: its memory, and all results are written
      std::vector<std::pair<Chosen, Way>> kept;  // the same of others, of any number of tokens
      std::vector<Tried> ways = tried_ways(named_of(candidate, entry), port, guess.form);
      if (!called.trial.ok() || strays(called.trial)) add_ratios(ways);
      for (const Tried& tried : ways) {
        const bool whole_tiles = asks_whole_tiles(*tried.simpler);
        // Nothing says that it takes no others.
        const Chosen others = but_for_tokens(*tried.simpler);
        const bool of_tokens = others != tried.simpler->chosen;
        const auto found = std::find_if(kept.begin(), kept.end(),
                                        [&](const auto& each) { return of_tokens && each.first == others; });
        std::optional<Way> same;  // of the usual lengths
        if (found != kept.end()) same = found->second;
        if (whole_tiles && keeps) continue;
        Guess of_way = guess;
        of_way.form = tried.form;
        for (const Dtypes& dtypes : dtypes_to_try(of_way, called.dtypes))
          for (Way& way : ways_of(tried, of_way, dtypes, likeliest)) {
            if (worked > most) break;
            way.trial = try_call(candidate, way.form, way.simpler->port, *way.given, settings);
            worked += way.trial.answer.worked_seconds;
            way.score = likelihood(*way.given, way.trial);
            silent = silent || (way.simpler->chosen.empty() && writes_nothing(*way.given, way.trial));
            // What answers with other sizes alone is made for those, whatever is wrong with it.
            way.speaks = silent && !way.simpler->chosen.empty() && way.trial.ok() &&
                         !writes_nothing(*way.given, way.trial);
            way.speaks = way.speaks || is_made_for(*way.simpler, *way.given, way.trial);
            if (way.speaks) way.score += kClearly + kSpeaks;
            bool right_with_flag = false;
            if (way.score < kFlagged)
              way.score = std::max(way.score,
                                   likelihood_with_flag(candidate, way, settings, worked, right_with_flag));
            // What it leaves out says nothing of a tile with which all that it writes is right.
            constexpr double kAsFarAsWritten = 0.5;
            if (!guess.unsure.empty() && way.trial.ok() && !strays(way.trial) &&
                is_right_as_far_as_written(*way.given, way.trial) && leaves_out(*way.given, way.trial))
              way.score += kAsFarAsWritten;
            way.limit = usual;
            const bool usual_sizes = way.simpler->chosen.empty();
            keeps = keeps || (usual_sizes && way.trial.ok() && !strays(way.trial) &&
                              !leaves_out(*way.given, way.trial) && !leaves_barriers_out(way.trial));
            if (!of_tokens && way.trial.ok() && !strays(way.trial) && !leaves_out(*way.given, way.trial) &&
                !leaves_barriers_out(way.trial) && !races_within_blocks(way.trial) &&
                way.trial.answer.refused_launches.empty())
              kept.emplace_back(others, way);
            if (whole_tiles && strays(way.trial)) continue;
            // What is right and leaves its buffers, or a barrier that others wait at, is made for other
            // sizes, if there are such. What lacks a barrier is right by chance, and for other sizes no more
            // than for the usual ones, where it keeps to its memory.
            const bool right = is_right(*way.given, way.trial), parted = leaves_barriers_out(way.trial);
            // Who is right in whole tiles, and keeps to his memory elsewhere, is asked for all lengths.
            if (same && right && !strays(way.trial)) {
              if (caused.simpler == nullptr) {
                caused = *same;
                caused.caused = true;
              }
              continue;
            }
            if (usual.text.empty() || (right && parted)) usual = outcome(*way.given, way.trial);
            if (right && !strays(way.trial) && !parted) {
              // Of a number that no name explains, what is right once may be another one by chance.
              if (!guess.unsure.empty() && !is_unsure_of_tiles_alone(guess) &&
                  likelihood_of_others(candidate, way, settings, worked) < 1)
                continue;
              if (!usual_sizes && lacks_barrier && best.simpler != nullptr) return best;
              if (!confuses_sizes(candidate, way, settings, worked)) return way;
              continue;
            }
            if (caused.simpler == nullptr && guess.unsure.empty() && !parted &&
                !races_within_blocks(way.trial) &&
                is_right_but_for_one_fault(way.simpler->port, *way.given, way.trial)) {
              caused = way;
              caused.caused = true;
            }
            if (usual_sizes && !lacks_barrier && way.trial.ok() && !strays(way.trial) &&
                !leaves_out(*way.given, way.trial) && races_within_blocks(way.trial)) {
              lacks_barrier = true;
              best = std::move(way);
              continue;
            }
            way.elsewhere = guess.unsure.empty() && !parted && usual_sizes && !silent &&
                            (right_with_flag || right_elsewhere(candidate, way, settings, worked));
            if (way.elsewhere) return way;
            if (way.score > best.score + kClearly && !(lacks_barrier && !usual_sizes)) best = std::move(way);
          }
      }
    }
  }
  return caused.simpler != nullptr ? caused : best;
}

/// The axes of tensors that lie in another order than the op's: "q [B, Hq, Sq, D], k [B, Hkv, Sk, D]".
std::string layouts(const Port& port) {
  std::string text;
  for (std::size_t role = 0; role < port.roles.size(); ++role) {
    if (port.original->parameters[role].axes.empty()) continue;
    const std::vector<std::string> words = shape_words(port, static_cast<int>(role));
    if (std::find(words.begin(), words.end(), "_") != words.end()) continue;  // sizes without a name
    text += fmt::format("{}{} [{}]", text.empty() ? "" : ", ", port.roles[role].name, fmt::join(words, ", "));
  }
  return text.empty() ? "its own arguments" : text;
}

bool lies_otherwise(const Port& port) {
  return std::any_of(port.original->parameters.begin(), port.original->parameters.end(),
                     [](const oracle::Original::Parameter& each) { return !each.axes.empty(); });
}

/// The numbers that are nobody's size are those of tiles: the form with each as one that is common.
std::vector<Form> with_tiles(const Guess& guess) {
  if (guess.unsure.empty()) return {guess.form};
  std::vector<Form> list;
  for (const int tile : {32, 16, 64}) {
    Form form = guess.form;
    for (const int at : guess.unsure) {
      form.passings[static_cast<std::size_t>(at)] = Passing();
      form.passings[static_cast<std::size_t>(at)].what = Passing::What::constant;
      form.passings[static_cast<std::size_t>(at)].constant = tile;
    }
    list.push_back(std::move(form));
  }
  return list;
}

/// The same of a function of tensors, which are what says its sizes: each of the usual dtypes that it takes.
Way best_narrower_way(const Candidate& candidate, const Called& called, const CallSettings& settings) {
  const Entry& entry = *called.form.entry;
  const double least = guess_form(entry, *called.port, true).score - 1;
  Way best;
  double worked = 0;
  struct OfPort {
    const Port* port;
    Form form;
    std::vector<std::shared_ptr<Simpler>> ways;
    std::size_t of_any_size;  ///< so many of them, the first
  };
  std::vector<OfPort> tried;
  for (const Port& port : ports()) {
    if (port.op != called.port->op || port.original == nullptr || port.original->sayable.empty()) continue;
    const Guess guess = guess_form(entry, port, true);
    if (!guess.findings.empty() || guess.score < least) continue;
    const std::vector<std::shared_ptr<Simpler>> ways = narrower_ports(named_of(candidate, entry), port);
    std::size_t sizes = 1;
    for (const oracle::Original::Sayable& each : port.original->sayable)
      sizes *= common_sizes(named_of(candidate, entry), each).size() + 1;
    std::vector<std::shared_ptr<Simpler>> with_ratios = ways;
    if (!called.trial.ok() || strays(called.trial)) add_ratios(with_ratios);
    for (Form& form : with_tiles(guess))
      tried.push_back({&port, std::move(form), with_ratios, ways.size() / sizes});
  }
  std::vector<Dtypes> dtypes = {called.dtypes};
  for (const auto& usual : called.port->original->usual) {
    Dtypes each;
    for (const auto& [field, dtype] : usual) each[field] = dtype;
    if (each != called.dtypes) dtypes.push_back(std::move(each));
  }
  Outcome first;
  // What keeps to its memory and is half right is asked for no less because it is right of that: a query's
  // head taken for another one is right where each has a head of keys of its own.
  Way half;
  const Port* of_half = nullptr;
  Way caused;  // in the layout of which one known fault is all that is wrong
  for (const Dtypes& of : dtypes) {
    bool takes = true;
    // All of it, keeps to its memory, and has to do with the op's answer: its sizes are not what is wrong.
    bool answers = false;
    constexpr double kHasToDo = 0.5;
    for (std::size_t i = 0; takes; ++i) {
      bool more = false;
      for (const OfPort& each : tried) {
        if (!takes || i >= each.ways.size() || (answers && i >= each.of_any_size)) continue;
        more = true;
        const std::shared_ptr<Simpler>& simpler = each.ways[i];
        if (simpler->original.probes.empty() || asks_one_key(*simpler) || worked > kSecondsIn) continue;
        try {
          Way way = {simpler,
                     each.form,
                     of,
                     given_by_line(without_what_it_lacks(simpler->port, each.form),
                                   simpler->original.probes.front(), of),
                     {}};
          way.trial = try_call(candidate, way.form, way.simpler->port, *way.given, settings);
          worked += way.trial.answer.worked_seconds;
          // One check of dtypes and sizes together may have failed for either.
          const std::string& said = way.trial.answer.message;
          takes =
              way.trial.answer.end != Answer::End::refused || !is_about_dtype(said) || is_about_rank(said);
          way.score = likelihood(*way.given, way.trial);
          way.speaks = is_made_for(*way.simpler, *way.given, way.trial);
          if (way.speaks) way.score += kClearly + kSpeaks;
          way.limit = first;
          if (takes && first.text.empty()) first = outcome(*way.given, way.trial);
          if (is_right(*way.given, way.trial)) {
            if (half.simpler != nullptr && of_half == each.port &&
                half.simpler->chosen == way.simpler->chosen)
              return half;
            if (!confuses_sizes(candidate, way, settings, worked)) return way;
            continue;
          }
          if (half.simpler == nullptr && is_half_right(*way.given, way.trial))
            half = way, of_half = each.port;
          if (caused.simpler == nullptr && !leaves_barriers_out(way.trial) &&
              is_right_but_for_one_fault(way.simpler->port, *way.given, way.trial)) {
            caused = way;
            caused.caused = true;
          }
          way.elsewhere = i > 0 && i < each.of_any_size && right_elsewhere(candidate, way, settings, worked);
          if (way.elsewhere) return way;
          // What is right nowhere is not to be asked for sizes with which it strays.
          if (way.score > best.score + kClearly)
            way.score = std::min(way.score, likelihood_of_others(candidate, way, settings, worked));
          answers = answers || way.score > kHasToDo;
          if (way.score > best.score + kClearly) best = std::move(way);
        } catch (const Error&) {  // the op does not take it
        }
      }
      if (!more) break;
    }
  }
  return caused.simpler != nullptr ? caused : best;
}

}  // namespace

bool takes_tensors(const Entry& entry) {
  return std::any_of(entry.parameters.begin(), entry.parameters.end(), [](const Parameter& p) {
    return p.kind == Parameter::Kind::tensor || p.kind == Parameter::Kind::optional_tensor;
  });
}

void try_simpler(const Candidate& candidate, const CallRequest& request, Called& called) {
  const Entry& entry = *called.form.entry;
  const bool tensors = takes_tensors(entry);
  // What keeps to its memory and is half right has been asked for what it is made for.
  const double enough = tensors && !strays(called.trial) ? 0.5 : 0.9;
  const bool right = called.trial.ok() && share_right(*called.given, called.trial) > enough;
  if (!is_stranger(request, entry) || right || called.simpler != nullptr) return;
  CallSettings settings = request.settings;
  settings.timeout_seconds = std::min(settings.timeout_seconds, kSeconds);
  Way best = tensors ? best_narrower_way(candidate, called, settings) : best_way(candidate, called, settings);
  if (best.simpler == nullptr) return;
  // Where it can be asked all that the original can, only what is right is believed: of parameters that say
  // as much, and of tensors with which the call went well.
  using End = Answer::End;
  const bool refused = called.trial.answer.end == End::refused || called.trial.answer.end == End::exited;
  // What is named after decoding, and fills one query alone, is made for no more.
  const bool one_query = best.trial.ok() && asks_one_query(*best.simpler) &&
                         named_of(candidate, entry).takes_one("decod") &&
                         leaves_out(*called.given, called.trial) && !leaves_out(*best.given, best.trial);
  const bool less = tensors ? !called.trial.ok() || strays(called.trial) ||
                                  leaves_out(*called.given, called.trial) ||
                                  !called.trial.answer.refused_launches.empty()
                            : refused || one_query || says_less(entry, *called.port->original);
  // What keeps to its memory is likelier than what does not, whatever a missing barrier makes of the answers.
  const bool keeps =
      best.trial.ok() && !strays(best.trial) && strays(called.trial) && races_within_blocks(best.trial);
  // Any tile will do that the function takes.
  const Guess guess = guess_form(entry, *called.port, true);
  const bool of_tiles = !tensors && is_unsure_of_tiles_alone(guess) && best.trial.ok() &&
                        !strays(best.trial) && is_right_as_far_as_written(*best.given, best.trial);
  const double before = likelihood(*called.given, called.trial);
  if (!best.trial.ok() ||
      (!keeps && !best.caused && (of_tiles ? best.score < before : best.score <= before)) ||
      (!less && !best.elsewhere && !best.speaks && !of_tiles && !best.caused &&
       !is_right(*best.given, best.trial)))
    return;
  // What a number is that no name explains is still a guess where nothing is right, or is with another's
  // memory.
  if (!tensors && !guess.unsure.empty() && !of_tiles &&
      (!is_right(*best.given, best.trial) || strays(best.trial)))
    return;
  called.notes.push_back(fmt::format("it is asked for no more than its {} say, as in '{}'",
                                     tensors ? "tensors" : "parameters", best.given->line));
  const bool right_so = best.caused || is_right(*best.given, best.trial);
  const char* const right_words = best.caused ? "is right but for what is told besides" : "is right";
  const bool turned = lies_otherwise(best.simpler->port) && !lies_otherwise(*called.port);
  // Of the first way of such a port nothing has been said yet.
  if (best.limit.text.empty() && right_so && turned) best.limit = outcome(*called.given, called.trial);
  // Of other dtypes it may be the code of them that was another.
  if (best.dtypes != called.dtypes && !tensors) best.limit = {};
  const bool same_line = best.given->line == called.given->line;
  // Numbers that are found by trial alone are no limit, nor is what the same problem gives with others of
  // them.
  const bool of_same = best.limit.line == best.given->line;
  const bool limited = (!same_line && !of_same) || turned || lies_otherwise(best.simpler->port);
  if (!best.limit.text.empty() && (refused || right_so) && limited) {
    Finding finding;
    if (same_line || (turned && right_so)) {
      finding.code = Code::layout_convention;
      std::string sizes;
      for (const auto& [field, value] : best.simpler->chosen)
        sizes += fmt::format(" and {} = {}", field, value);
      finding.evidence = fmt::format("{}; with {}{} it {}", best.limit.text, layouts(best.simpler->port),
                                     sizes, right_words);
    } else {
      finding.code = Code::shape_refused;
      finding.evidence =
          fmt::format("{}; '{}' {}", best.limit.text, best.given->line, right_so ? right_words : "is taken");
      finding.strays = best.limit.strays;
    }
    finding.location = entry.place;
    called.findings.push_back(std::move(finding));
  }
  called.simpler = std::shared_ptr<const Port>(best.simpler, &best.simpler->port);
  called.port = called.simpler.get();
  called.form = best.form;
  called.dtypes = best.dtypes;
  called.unsure.clear();
  called.given = best.given;
  called.trial = std::move(best.trial);
  called.callable = true;
}

}  // namespace isomer::lab
