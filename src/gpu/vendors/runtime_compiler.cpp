#include "gpu/vendors/runtime_compiler.hpp"

#include "core/sentence.hpp"
#include "gpu/sources.hpp"
#include "gpu/vendors/compiler_log.hpp"

#include <deque>

namespace isomer::gpu {

RuntimeCompiler::RuntimeCompiler(Names names, const std::vector<std::string>& files,
                                 const std::string& missing)
    : names_(std::move(names)), library_(files), name_(names_.functions) {
  if (!library_.open()) {
    unavailable_ = missing;
    return;
  }
  const auto resolve = [&](auto& function, const std::string& word) {
    const std::string symbol = names_.functions + word;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(library_.symbol(symbol.c_str()));
    if (function == nullptr && unavailable_.empty())
      unavailable_ =
          core::say("'", library_.name(), "' has no ", symbol, ": a newer one is needed; update it");
  };
  resolve(functions_.version, "Version");
  resolve(functions_.create, "CreateProgram");
  resolve(functions_.destroy, "DestroyProgram");
  resolve(functions_.compile, "CompileProgram");
  resolve(functions_.log_size, "GetProgramLogSize");
  resolve(functions_.log, "GetProgramLog");
  resolve(functions_.image_size, "Get" + names_.image + "Size");
  resolve(functions_.image, "Get" + names_.image);
  resolve(functions_.error, "GetErrorString");
}

std::pair<int, int> RuntimeCompiler::version() const {
  int major = 0, minor = 0;
  if (functions_.version != nullptr) functions_.version(&major, &minor);
  return {major, minor};
}

Image RuntimeCompiler::compile(const Translation& translation, Options options, std::string& log) const {
  // Terminated copies of the sources, which stay where they are.
  std::deque<std::string> keep;
  std::vector<const char*> texts, paths;
  std::string main;
  for (const Source* source : included_by(translation.source)) {
    if (source->path == translation.source) {
      main = source->text;
      continue;
    }
    texts.push_back(keep.emplace_back(source->text).c_str());
    paths.push_back(keep.emplace_back(source->path).c_str());
  }
  for (const std::string& definition : translation.definitions) options.push_back("-D" + definition);
  std::vector<const char*> words;
  for (const std::string& option : options) words.push_back(option.c_str());

  struct Owned {
    const RuntimeCompiler& compiler;
    Program program = nullptr;
    ~Owned() {
      if (program != nullptr) compiler.functions_.destroy(&program);
    }
  } owned{*this};
  const std::string what = core::say(names_.vendor, ": compiling ", translation.source);
  const auto must = [&](int result) {
    if (result != 0)
      core::fail(ErrorCode::internal, what, " by ", name_, " failed: ", functions_.error(result));
  };
  must(functions_.create(&owned.program, main.c_str(), translation.source.c_str(),
                         static_cast<int>(texts.size()), texts.data(), paths.data()));
  const int result = functions_.compile(owned.program, static_cast<int>(words.size()), words.data());
  std::size_t size = 0;
  must(functions_.log_size(owned.program, &size));
  log.assign(size, '\0');
  if (size > 0) must(functions_.log(owned.program, log.data()));
  if (result != 0) {
    std::string variant;
    for (const std::string& definition : translation.definitions) variant += " " + definition;
    core::fail(ErrorCode::internal, what, " for ", translation.architecture, " with", variant, " by ", name_,
               ": ", first_complaint(log, functions_.error(result)));
  }
  Image image;
  must(functions_.image_size(owned.program, &size));
  image.bytes.resize(size);
  must(functions_.image(owned.program, reinterpret_cast<char*>(image.bytes.data())));
  image.compiler = name_;
  return image;
}

}  // namespace isomer::gpu
