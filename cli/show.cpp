#include "cli/verbs.hpp"
#include "core/sentence.hpp"
#include "lab/capture/read_capture.hpp"
#include "lab/report/show_report.hpp"

#include <fmt/format.h>

#include <memory>

namespace isomer::cli {
namespace {

struct ShowOptions {
  std::string a, b, kernel, names, language = "en";
  bool json = false;
};

std::vector<lab::ShownKernel> kernels_of(const std::string& path, const ShowOptions& options,
                                         const lab::ParameterLayouts& layouts) {
  lab::Grouping grouping(options.kernel);
  lab::Capture about =
      lab::read_capture(path, [&](lab::Launch&& launch) { grouping.add(std::move(launch)); });
  const lab::GroupedCapture capture = grouping.finish(std::move(about));
  std::vector<lab::ShownKernel> kernels = lab::shown_kernels(capture, layouts);
  if (kernels.empty())
    core::fail(
        ErrorCode::io, "show: '", path, "' has ", capture.launches + capture.left_out, " launches",
        options.kernel.empty() ? "" : ", and none whose kernel has '" + options.kernel + "' in its name");
  return kernels;
}

int run(const ShowOptions& options) {
  const lab::Messages& messages = lab::Messages::of(options.language);
  lab::use_name_tables(options.names);
  std::vector<std::filesystem::path> files = {options.a};
  if (!options.b.empty()) files.emplace_back(options.b);
  const lab::ParameterLayouts layouts = lab::ParameterLayouts::for_captures(files);
  const std::vector<lab::ShownKernel> a = kernels_of(options.a, options, layouts);
  std::vector<lab::ShownKernel> b;
  if (!options.b.empty()) b = kernels_of(options.b, options, layouts);
  const std::vector<lab::ShownKernel>* const other = options.b.empty() ? nullptr : &b;
  fmt::print("{}", options.json ? lab::show_json(a, other) : lab::show_text(a, other, messages));
  return holds;
}

}  // namespace

Run show(CLI::App& app) {
  auto options = std::make_shared<ShowOptions>();
  app.add_option("a", options->a, "a capture, or any other record of launches that diff reads")
      ->required()
      ->option_text("CAPTURE");
  app.add_option("b", options->b, "another one, for a second column")->option_text("CAPTURE");
  app.add_option("--kernel", options->kernel, "only kernels with this regular expression in their name")
      ->option_text("REGEX");
  app.add_option("--names", options->names, "a table of template parameters' names beside the built-in ones")
      ->option_text("FILE");
  app.add_option("--lang", options->language, "the language of the headings: en or zh")
      ->option_text("LANGUAGE");
  app.add_flag("--json", options->json, "print JSON on stdout");
  return [options] { return run(*options); };
}

}  // namespace isomer::cli
