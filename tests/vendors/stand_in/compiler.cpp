#include "compiler.hpp"

#include "fault.hpp"

namespace isomer::stand_in {

Program* create(const char* kind, int lanes, const char* text, const char* name, int headers,
                const char* const* texts, const char* const* names) {
  auto* program = new Program;
  program->image.kind = kind;
  program->image.lanes = lanes;
  program->image.main = name;
  program->image.files.emplace_back(name, text);
  for (int i = 0; i < headers; ++i) program->image.files.emplace_back(names[i], texts[i]);
  return program;
}

Compiled compile(Program& program, const std::string& architecture, int count, const char* const* options) {
  bool named = false;
  for (int i = 0; i < count; ++i) {
    const std::string option = options[i];
    if (option.starts_with("-D")) {
      if (!option.starts_with("-DISOMER_LANES=")) program.image.definitions.push_back(option.substr(2));
    } else if (option.starts_with(architecture)) {
      named = true;
      if (planted("refused-architecture")) {
        program.log = "error: invalid value for " + option + "\n";
        return Compiled::invalid_option;
      }
    }
  }
  if (!named) {
    program.log = "error: no architecture is named\n";
    return Compiled::invalid_option;
  }
  if (planted("compile-error")) {
    program.log = program.image.main + "(1): warning: of no weight\n" + program.image.main +
                  "(7): error: identifier \"planted\" is undefined\n1 error detected\n";
    return Compiled::error;
  }
  program.image.definitions.push_back("ISOMER_EMULATED");
  program.image.definitions.push_back("ISOMER_LANES=" + std::to_string(program.image.lanes));
  if (executes() && !program.image.build(program.log)) {
    program.log = "error: " + program.log + "\n";
    return Compiled::error;
  }
  program.code = program.image.bytes();
  program.code.resize(program.code.size() + static_cast<std::size_t>(number_of("padded")));
  return Compiled::ok;
}

}  // namespace isomer::stand_in
