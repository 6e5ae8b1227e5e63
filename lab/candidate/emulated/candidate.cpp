#include "lab/candidate/candidate.hpp"
#include "lab/candidate/cache_folder.hpp"

#include "lab/candidate/device/toolchain.hpp"
#include "lab/candidate/emulated/convert.hpp"
#include "lab/candidate/emulated/geometry.hpp"
#include "lab/candidate/emulated/launch_line.hpp"
#include "lab/candidate/emulated/linkage.hpp"
#include "lab/candidate/emulated/prebuilt.hpp"
#include "lab/candidate/emulated/torch.hpp"
#include "lab/candidate/folder.hpp"
#include "lab/text/pattern.hpp"
#include "lab/text/source_text.hpp"

#include <isomer/emulator/session.hpp>
#include <isomer/error.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include <fmt/format.h>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRegistrations = "isomer-registrations";
constexpr double kWorthAnother = 8;  ///< seconds of a limit: briefer ones are guesses

/// Seconds for a call of which nothing has come to its end, by the bytes of its arguments: what is small is
/// done in milliseconds, and what then still runs never ends.
double patience(std::size_t bytes, double limit) {
  return bytes < (std::size_t{1} << 20) ? 0.2 * limit : bytes < (std::size_t{16} << 20) ? 0.5 * limit : limit;
}

// What differs between the builds of one candidate.
struct Variant {
  int lanes = 32;
  bool watch = true, device_math = false;
  std::string instantiated;  ///< a kernel template with its arguments; empty for the source as it is
  friend bool operator<(const Variant& a, const Variant& b) {
    return std::tie(a.lanes, a.watch, a.device_math, a.instantiated) <
           std::tie(b.lanes, b.watch, b.device_math, b.instantiated);
  }
};

// Names that C++ sources of either runtime give to an element type.
std::string type_name(DType dtype, bool hip) {
  switch (dtype) {
    case DType::f64:
      return "double";
    case DType::f32:
      return "float";
    case DType::f16:
      return "__half";
    case DType::bf16:
      return hip ? "__hip_bfloat16" : "__nv_bfloat16";
    case DType::i8:
      return "signed char";
    case DType::i32:
      return "int";
    case DType::i64:
      return "long";
    case DType::u8:
      return "unsigned char";
    case DType::i16:
      return "short";
    case DType::e4m3fn:
      return "__nv_fp8_e4m3";
    case DType::e5m2:
      return "__nv_fp8_e5m2";
    case DType::e4m3fnuz:
      return "__hip_fp8_e4m3_fnuz";
    case DType::e5m2fnuz:
      return "__hip_fp8_e5m2_fnuz";
    default:
      return {};
  }
}

bool names_word(const std::string& text, const std::string& word) {
  return Pattern("\\b" + literally(word) + "\\b").found_in(text);
}

/// What no compiler needs to read and whoever judges would not have in a report.
std::vector<fs::path> secrets_of_the_user() {
  std::vector<fs::path> list = {"/etc/shadow", "/etc/gshadow"};
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    for (const char* name :
         {".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".git-credentials"})
      list.push_back(fs::path(home) / name);
  std::vector<fs::path> real;
  std::error_code none;
  for (const fs::path& each : list)
    if (const fs::path place = fs::canonical(each, none); !none) real.push_back(place);
  return real;
}

/// What a candidate is compared with is no part of it.
std::vector<fs::path> kept_from_compiler(const fs::path& candidate) {
  std::vector<fs::path> hidden = secrets_of_the_user();
  std::error_code none, unread;
  const fs::path folder = fs::absolute(candidate).parent_path();
  for (fs::directory_iterator it(folder, none), end; !none && it != end; it.increment(none))
    // A link is no place to put something over: what it leads to is.
    if (const fs::path real = fs::canonical(it->path(), unread);
        !unread && fs::is_regular_file(real, unread) &&
        (it->path().extension() == ".safetensors" || it->path().extension() == ".py"))
      hidden.push_back(real);
  if (const fs::path recordings = cache_folder("recordings"); !recordings.empty())
    hidden.push_back(recordings);
  return hidden;
}

class CompiledCandidate final : public Candidate {
 public:
  CompiledCandidate(fs::path path, fs::path source, BuildSettings settings)
      : path_(std::move(path)), source_(std::move(source)), settings_(std::move(settings)) {
    const bool real = settings_.backend != Backend::emulated;
    // Headers that lie beside a candidate are its own, however it names them.
    const fs::path beside = fs::absolute(path_).parent_path();
    if (std::find(settings_.include_directories.begin(), settings_.include_directories.end(),
                  beside.string()) == settings_.include_directories.end())
      settings_.include_directories.push_back(beside.string());
    const SourceTraits traits = traits_of(source_, settings_.include_directories);
    // Whole: a kept module is found again from other folders, and says where its functions are.
    options_.sources = {fs::absolute(source_)};
    options_.entries = true;
    options_.include_directories = settings_.include_directories;
    options_.definitions = settings_.definitions;
    options_.hidden = kept_from_compiler(path_);
    if (real) choose_toolchain(source_, settings_, options_);
    if (traits.concepts && !real) options_.standard = "gnu++20";
    if (traits.torch && !real) {
      const TorchFlags torch = torch_flags();
      torch_version_ = torch.version;
      options_.system_directories = torch.system_directories;
      options_.link_flags = torch.link_flags;
      if (!traits.concepts) options_.standard = torch.standard;
      options_.definitions.insert(options_.definitions.end(), torch.definitions.begin(),
                                  torch.definitions.end());
      if (traits.torch_all) {
        options_.definitions.emplace_back("ISOMER_EMULATOR_TORCH_ALL=1");
        options_.link_flags.emplace_back("-ltorch");
      }
      options_.compile_flags = {"-include", "isomer_emulator/entries_torch.h"};
    }
    const bool for_hip = path_.string().find(".hip") != std::string::npos;
    if (!real && !for_hip)
      options_.compile_flags.insert(options_.compile_flags.end(),
                                    {"-include", "isomer_emulator/device_arch.h"});
    if (!real && settings_.locals != Locals::as_they_come)
      options_.compile_flags.emplace_back(settings_.locals == Locals::zero
                                              ? "-ftrivial-auto-var-init=zero"
                                              : "-ftrivial-auto-var-init=pattern");
    options_.every_refused_line = settings_.exchangeable;
    // With its edits a source is many times as long, and what PyTorch's headers bring is, too: the compiler's
    // time is worth more than the calls'. The precompiled headers serve both only with the same flags.
    if (settings_.exchangeable || traits.torch) options_.compile_flags.emplace_back("-O1");
    if (source_ != path_) {
      const std::string folder = fs::absolute(path_).parent_path().string();
      options_.link_flags.insert(options_.link_flags.end(),
                                 {fs::absolute(path_).string(), "-Wl,-rpath," + folder});
    }
    std::ifstream in(source_, std::ios::binary);
    text_.assign(std::istreambuf_iterator<char>(in), {});
  }

  /// Why it is no fault of the candidate that it does not compile; empty where it is one.
  std::string needs_newer_torch(const BuildFailure& failure) const {
    const std::string needs = newer_torch_for(failure.message, failure.missing_header);
    if (torch_version_.empty() || needs.empty()) return {};
    return fmt::format(
        "{}{}: it needs a PyTorch {}, but these headers belong to {}: set ISOMER_TORCH to the torch folder "
        "of yours (python3 -c 'import torch; print(torch.__path__[0])' prints it)",
        path_.string(), failure.place.line > 0 ? fmt::format(":{}", failure.place.line) : std::string(),
        needs, torch_version_);
  }

  // Throws emulator::Error where the source does not compile or the module does not load.
  void prepare() {
    const Lease running = lease(variant_of(settings_.lanes, settings_.watch, settings_.device_math));
    list_entries(running->session->entries());
  }

  const fs::path& path() const override { return path_; }
  const std::vector<Entry>& entries() const override { return entries_; }
  Backend backend() const override { return settings_.backend; }
  std::vector<std::string> reaches() const override {
    const std::lock_guard lock(mutex_);
    return modules_.empty() ? std::vector<std::string>() : modules_.begin()->second->reaches();
  }
  bool carries_sparse_storages() const override { return settings_.backend == Backend::emulated; }

  Answer call(const Entry& entry, const std::vector<Value>& arguments,
              const CallSettings& settings) const override {
    // Calls of one device come one after the other.
    std::unique_lock<std::mutex> alone(device_mutex_, std::defer_lock);
    if (settings_.backend != Backend::emulated) alone.lock();
    Answer answer;
    answer.arguments = arguments;
    const auto known = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) {
      return e.name == entry.name && e.form == entry.form && e.function == entry.function &&
             e.overload == entry.overload;
    });
    try {
      if (known == entries_.end())
        throw emulator::Error(fmt::format("the candidate offers no {}", entry.name));
      Variant variant = variant_of(settings.lanes, settings.watch, settings.device_math);
      const emulator::EntryInfo& info = infos_[static_cast<std::size_t>(known - entries_.begin())];
      if (!info.template_types.empty()) variant.instantiated = instantiated(*known, info, arguments);
      return call_large(*known, answer, settings, variant);
    } catch (const emulator::MachineError& e) {
      throw Error(ErrorCode::io,
                  fmt::format("it could not be called here, for a reason that is not its own: {}", e.what()));
    } catch (const std::exception& e) {
      answer.end = Answer::End::not_callable;
      answer.message = e.what();
      return answer;
    }
  }

 private:
  struct Running {
    std::shared_ptr<emulator::Module> module;
    std::unique_ptr<emulator::Session> session;
  };

  // A session that one call alone uses; behind it the next one does.
  class Lease {
   public:
    Lease(const CompiledCandidate& candidate, const Variant& variant, std::unique_ptr<Running> running)
        : candidate_(candidate), variant_(variant), running_(std::move(running)) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() {
      const std::lock_guard lock(candidate_.mutex_);
      candidate_.idle_[variant_].push_back(std::move(running_));
    }
    Running* operator->() const { return running_.get(); }

   private:
    const CompiledCandidate& candidate_;
    const Variant variant_;
    std::unique_ptr<Running> running_;
  };

  // A real device has its own lanes, its own arithmetic and no watch.
  Variant variant_of(int lanes, bool watch, bool device_math) const {
    if (settings_.backend != Backend::emulated) return {32, false, false, {}};
    return {lanes, watch, device_math, {}};
  }

  Lease lease(const Variant& variant) const {
    const std::lock_guard lock(mutex_);
    std::vector<std::unique_ptr<Running>>& idle = idle_[variant];
    std::unique_ptr<Running> running;
    if (idle.empty()) {
      running = std::make_unique<Running>();
      running->module = module_of(variant);
      running->session = std::make_unique<emulator::Session>(*running->module);
    } else {
      running = std::move(idle.back());
      idle.pop_back();
    }
    return Lease(*this, variant, std::move(running));
  }

  std::shared_ptr<emulator::Module> module_of(const Variant& variant) const {
    if (const auto it = modules_.find(variant); it != modules_.end()) return it->second;
    emulator::BuildOptions options = options_;
    options.lanes = variant.lanes;
    options.watch = variant.watch;
    options.device_math = variant.device_math;
    if (!variant.instantiated.empty()) options.instantiate = {variant.instantiated};
    return modules_.emplace(variant, std::make_shared<emulator::Module>(emulator::Module::build(options)))
        .first->second;
  }

  // What a binding exports hides the functions behind it. Where none exports anything, every host function
  // with external linkage that takes memory is an entry, those with C linkage first; what only its own file
  // can call never is. Kernels come last: a host function launches them as their author meant.
  void list_entries(const std::vector<emulator::EntryInfo>& all) {
    using Form = emulator::EntryInfo::Form;
    const bool exports =
        std::any_of(all.begin(), all.end(), [](const auto& e) { return e.form == Form::exported; });
    const auto takes_memory = [](const emulator::EntryInfo& e) {
      return e.takes_tensors || e.returned_tensors ||
             std::any_of(e.parameters.begin(), e.parameters.end(), [](const emulator::EntryParameter& p) {
               return p.kind == emulator::EntryParameter::Kind::pointer ||
                      p.kind == emulator::EntryParameter::Kind::tensor;
             });
    };
    // In a source with kernels, a host function over raw memory that launches none is a helper or a
    // reference.
    const bool kernels =
        std::any_of(all.begin(), all.end(), [](const auto& e) { return e.form == Form::kernel; });
    std::vector<Entry> listed;
    for (const emulator::EntryInfo& e : all) listed.push_back(lab_entry(e));
    const Launching launching = launching_functions(listed);
    // A library's stand-in has only what is called from outside.
    const bool library = source_ != path_;
    std::map<std::string, std::string> texts;
    std::map<const emulator::EntryInfo*, Linkage> linkages;
    for (const emulator::EntryInfo& e : all) {
      if (e.form != Form::function || !takes_memory(e)) continue;
      const auto [text, fresh] = texts.try_emplace(e.file);
      if (fresh) {
        std::ifstream in(e.file, std::ios::binary);
        text->second = without_comments({std::istreambuf_iterator<char>(in), {}});
      }
      const Linkage linkage = library ? Linkage::c : linkage_of(text->second, e.name, e.line);
      linkages[&e] = linkage;
    }
    const auto rank_of = [&](const emulator::EntryInfo& e) {
      if (e.form == Form::exported) return 0;
      if (e.form == Form::kernel) return 3;
      if (exports || !takes_memory(e) || linkages[&e] == Linkage::internal) return -1;
      if (e.takes_tensors || e.returned_tensors || !kernels) return 1;
      return launching.functions.count(e.name) ? (launching.called.count(e.name) ? 2 : 1) : 4;
    };
    std::vector<const emulator::EntryInfo*> ordered;
    for (const emulator::EntryInfo& e : all) ordered.push_back(&e);
    std::stable_sort(ordered.begin(), ordered.end(), [&](const auto* a, const auto* b) {
      return linkages[a] == Linkage::c && linkages[b] != Linkage::c;
    });
    for (int rank = 0; rank <= 4; ++rank) {
      for (const emulator::EntryInfo* each : ordered) {
        const emulator::EntryInfo& e = *each;
        if (rank_of(e) != rank) continue;
        Entry entry = lab_entry(e);
        if (const auto linkage = linkages.find(&e); linkage != linkages.end())
          entry.linkage = linkage->second;
        entry.called_inside = launching.called.count(e.name) > 0;
        if (entry.exported)
          entry.overload =
              static_cast<int>(std::count_if(entries_.begin(), entries_.end(), [&](const Entry& other) {
                return other.exported && other.form == entry.form && other.name == entry.name;
              }));
        entries_.push_back(std::move(entry));
        infos_.push_back(e);
      }
    }
  }

  bool is_hip() const {
    const std::lock_guard lock(mutex_);
    return modules_.begin()->second->hip();
  }

  // "scale<float>": each type parameter from the first argument whose parameter names it.
  std::string instantiated(const Entry& entry, const emulator::EntryInfo& info,
                           const std::vector<Value>& arguments) const {
    const bool hip = is_hip() && settings_.backend != Backend::cuda;
    std::string list;
    for (const std::string& type : info.template_types) {
      std::string chosen;
      for (std::size_t i = 0; i < arguments.size() && i < entry.parameters.size() && chosen.empty(); ++i) {
        if (!names_word(entry.parameters[i].type, type)) continue;
        const Value& v = arguments[i];
        chosen = v.is_tensor()                 ? type_name(v.tensor.dtype, hip)
                 : v.kind == Value::Kind::real ? "float"
                                               : "int";
      }
      if (chosen.empty())
        throw emulator::Error(
            fmt::format("{}: no argument determines its template parameter {}", entry.name, type));
      list += (list.empty() ? "" : ", ") + chosen;
    }
    return entry.name + "<" + list + ">";
  }

  // What is too large to be watched is asked once more without the watch, which is many times as fast: a wait
  // that never ends does not end there either. As large a call is then not watched at all.
  Answer call_large(const Entry& entry, const Answer& answer, CallSettings settings, Variant variant) const {
    std::size_t bytes = 0;
    for (const Value& value : answer.arguments) bytes += value.storage_bytes;
    const bool watch = variant.watch && bytes < too_large_to_watch(entry.name);
    Answer watched;
    if (watch || !variant.watch) {
      watched = call_in(lease(variant), entry, answer, settings, variant);
      // Host code is not watched.
      const bool in_kernel = std::any_of(watched.seen.begin(), watched.seen.end(),
                                         [](const Seen& each) { return each.kind == "step-limit"; });
      const bool slow = !watched.waits_for_ever && (watched.end == Answer::End::too_large ||
                                                    (watched.end == Answer::End::timed_out && in_kernel));
      if (!watch || !slow || settings.timeout_seconds < kWorthAnother) return watched;
      if (watched.end == Answer::End::timed_out) settings.timeout_seconds /= 2;
    }
    variant.watch = false;
    Answer other = call_in(lease(variant), entry, answer, settings, variant);
    if (watch && other.end == Answer::End::timed_out) return watched;
    {
      const std::lock_guard lock(mutex_);
      too_large_to_watch_.try_emplace(entry.name, bytes);
    }
    other.unwatched = true;
    return other;
  }

  std::size_t too_large_to_watch(const std::string& entry) const {
    const std::lock_guard lock(mutex_);
    const auto limit = too_large_to_watch_.find(entry);
    return limit == too_large_to_watch_.end() ? std::numeric_limits<std::size_t>::max() : limit->second;
  }

  Answer call_in(const Lease& running, const Entry& entry, Answer answer, const CallSettings& settings,
                 const Variant& variant) const {
    const std::vector<emulator::EntryInfo>& all = running->session->entries();
    const std::string& name = variant.instantiated.empty() ? entry.name : variant.instantiated;
    std::size_t index = 0;
    int before = entry.overload;
    const auto is_meant = [&](const emulator::EntryInfo& info) {
      return info.name == name && info.template_types.empty() && lab_entry(info).form == entry.form &&
             (info.form == emulator::EntryInfo::Form::exported) == entry.exported;
    };
    while (index < all.size() && !(is_meant(all[index]) && before-- == 0)) ++index;
    emulator::CallOptions options;
    options.seed = settings.schedule_seed;
    options.timeout_seconds = settings.timeout_seconds;
    std::size_t bytes = 0;
    for (const Value& value : answer.arguments) bytes += value.storage_bytes;
    if (settings_.backend == Backend::emulated && settings.timeout_seconds >= kWorthAnother)
      options.idle_seconds = patience(bytes, settings.timeout_seconds);
    options.poison = settings.poison;
    options.memory_limit = settings.memory_limit;
    options.repeats = std::max(settings.repeats, 1);
    options.kernels_idle = settings.kernels_idle;
    options.most_threads = settings.most_threads;
    options.blocks = settings.blocks;
    options.edits = settings.edits;
    options.fresh = settings.fresh;
    options.measured = settings.measured;
    std::string launch;
    bool guessed = false;
    if (entry.form == Entry::Form::kernel) {
      ChosenGeometry chosen = choose_geometry(entry, text_, answer.arguments, settings);
      options.geometry = chosen.geometry;
      launch = std::move(chosen.said);
      guessed = chosen.guessed;
      // Who launches a bare kernel leaves it alone where there is nothing to do.
      if (std::find(chosen.geometry.grid.begin(), chosen.geometry.grid.end(), 0u) !=
          chosen.geometry.grid.end()) {
        answer.launch = std::move(launch);
        return answer;
      }
    }
    std::vector<emulator::SessionValue> values;
    for (std::size_t i = 0; i < answer.arguments.size(); ++i) {
      values.push_back(session_value(answer.arguments[i], i));
      if (answer.arguments[i].name.empty() && i < entry.parameters.size() &&
          !entry.parameters[i].name.empty())
        values.back().name = entry.parameters[i].name;
    }
    Answer result = lab_answer(running->session->call(index, values, options), answer.arguments);
    result.launch = std::move(launch);
    result.launch_guessed = guessed;
    return result;
  }

  fs::path path_, source_;
  BuildSettings settings_;
  emulator::BuildOptions options_;
  std::string text_, torch_version_;  // the version is empty where no PyTorch is needed
  std::vector<Entry> entries_;
  std::vector<emulator::EntryInfo> infos_;  // beside entries_
  mutable std::mutex mutex_, device_mutex_;
  mutable std::map<Variant, std::shared_ptr<emulator::Module>> modules_;
  mutable std::map<Variant, std::vector<std::unique_ptr<Running>>> idle_;
  mutable std::map<std::string, std::size_t> too_large_to_watch_;  // by entry: bytes of its arguments
};

// "file.cpp:12: what is wrong" gives place and message.
BuildFailure failure_of(const std::string& sentence) {
  BuildFailure failure;
  failure.message = sentence;
  const std::size_t first = sentence.find(':'), second = sentence.find(": ", first + 1);
  if (second != std::string::npos && second > first + 1 &&
      sentence.find_first_not_of("0123456789", first + 1) == second && second - first < 10) {
    failure.place = {sentence.substr(0, first), std::stoi(sentence.substr(first + 1, second - first - 1))};
    failure.message = sentence.substr(second + 2);
    if (failure.place.file == kRegistrations) {
      failure.place = {};
      failure.message = "its functions cannot be made callable: " + failure.message;
    }
  }
  if (const auto end = failure.message.find(": No such file or directory"); end != std::string::npos) {
    failure.missing_header = failure.message.substr(0, end);
  } else if (const auto clang = failure.message.find("' file not found"); clang != std::string::npos) {
    failure.missing_header = failure.message.substr(1, clang - 1);
  }
  return failure;
}

}  // namespace

std::shared_ptr<const Candidate> build_candidate(const fs::path& path, const BuildSettings& settings,
                                                 BuildFailure& failure) {
  failure = {};
  std::error_code failed;
  if (!fs::is_regular_file(path, failed))
    throw Error(ErrorCode::bad_argument, fmt::format("{}: no such candidate file", path.string()));
  if (!is_candidate_file(path)) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("{}: no candidate, expected a .hip.cpp, .hip, .cu, .cpp, .cc, .cxx or .so file",
                            path.string()));
  }
  if (!std::ifstream(path)) throw Error(ErrorCode::io, fmt::format("{}: cannot be read", path.string()));
  const bool library = path.extension() == ".so";
  auto candidate = std::make_shared<CompiledCandidate>(
      path, library ? source_for_library(path, settings) : path, settings);
  try {
    candidate->prepare();
  } catch (const emulator::Error& e) {
    const std::string what = e.what();
    if (what.find("no C++ compiler") == 0) throw Error(ErrorCode::unsupported, what);
    failure = failure_of(what);
    failure.of_machine = dynamic_cast<const emulator::MachineError*>(&e) != nullptr;
    if (const auto* refused = dynamic_cast<const emulator::RefusedLines*>(&e)) failure.lines = refused->lines;
    if (const std::string newer = candidate->needs_newer_torch(failure); !newer.empty())
      throw Error(ErrorCode::unsupported, newer);
    return nullptr;
  }
  return candidate;
}

}  // namespace isomer::lab
