#include "cli/verbs.hpp"
#include "core/sentence.hpp"
#include "lab/binary/binary.hpp"
#include "lab/report/kernels_report.hpp"
#include "lab/text/pattern.hpp"

#include <isomer/error.hpp>

#include <fmt/format.h>

#include <memory>
#include <optional>

namespace isomer::cli {
namespace {

struct KernelsOptions {
  std::string file, filter, names;
  bool json = false;
};

/// The kernels whose canonical or mangled name holds what the expression asks for.
std::vector<lab::BinaryKernel> matching(std::vector<lab::BinaryKernel> kernels, const std::string& filter) {
  if (filter.empty()) return kernels;
  std::optional<lab::Pattern> expression;
  try {
    expression.emplace(filter);
  } catch (const Error& error) {
    core::fail(ErrorCode::bad_argument, "kernels: --filter: ", error.what());
  }
  std::erase_if(kernels, [&](const lab::BinaryKernel& kernel) {
    return !expression->found_in(kernel.parsed->text) && !expression->found_in(kernel.name);
  });
  return kernels;
}

int run(const KernelsOptions& options) {
  lab::use_name_tables(options.names);
  std::vector<std::string> notes;
  std::vector<lab::BinaryKernel> all = lab::read_binary(options.file, notes);
  for (const std::string& note : notes) fmt::print(stderr, "isomer: kernels: {}\n", note);
  if (all.empty()) {
    fmt::print(stderr, "isomer: kernels: no kernel in '{}'\n", options.file);
    return nothing_checked;
  }
  const std::size_t count = all.size();
  const std::vector<lab::BinaryKernel> kernels = matching(std::move(all), options.filter);
  if (kernels.empty()) {
    fmt::print(stderr, "isomer: kernels: none of the {} kernels of '{}' has '{}' in its name\n", count,
               options.file, options.filter);
    return nothing_checked;
  }
  const auto write = [](std::string_view text) { fmt::print("{}", text); };
  if (options.json)
    lab::kernels_json(kernels, write);
  else
    write(lab::kernels_table(kernels));
  return holds;
}

}  // namespace

Run kernels(CLI::App& app) {
  auto options = std::make_shared<KernelsOptions>();
  app.add_option(
         "file", options->file,
         "a shared library, executable, object, static library, cubin, fatbin, PTX file or AMD code object")
      ->required()
      ->option_text("FILE");
  app.add_option("--filter", options->filter, "list only kernels whose name matches this regular expression")
      ->option_text("REGEX");
  app.add_option("--names", options->names,
                 "a table of more template parameter names, in the format of lab/names/names.json; the "
                 "variable ISOMER_NAMES names such files too")
      ->option_text("FILE");
  app.add_flag("--json", options->json, "print JSON on stdout");
  app.footer("This needs no vendor's tool and no GPU.");
  return [options] { return run(*options); };
}

}  // namespace isomer::cli
