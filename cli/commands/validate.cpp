// `attnvp validate`: compares published measurements with this platform's predictions.
#include "explore/validate/validate.h"

#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/shared/options.h"
#include "cli/shared/progress.h"
#include "explore/validate/decode_set.h"
#include "platform/base/files.h"
#include "platform/machine/error.h"

namespace attnvp::cli {

namespace {

struct ValidateArguments {
  std::string set;                    // an included measurement set
  std::string data;                   // a file, in place of `set`
  std::string hardware, network;      // empty: those of the set
  std::string dataflow;               // of measured kernels
  std::vector<std::string> settings;  // --set key=value
  std::string csv, html, markdown, svg;
  std::string json;  // "-" is stdout only
};

int validate(const ValidateArguments& a) {
  if (!a.set.empty() && !a.data.empty()) throw config::ConfigError("validate takes a set or --data, not both");
  const bool all = a.set.empty() && a.data.empty();
  std::vector<std::string> paths = {a.data};
  if (all) paths = validate::files_of_sets();
  if (!a.set.empty()) paths = {validate::file_of_set(a.set)};
  if (all && (!a.hardware.empty() || !a.network.empty() || !a.dataflow.empty() || !a.settings.empty() ||
              !a.csv.empty() || !a.svg.empty())) {
    throw config::ConfigError(
        "without a set or --data every set is run on its own machine: --hw, --net, --dataflow, --set, --csv "
        "and --svg need one of them");
  }
  if (!a.svg.empty() && !validate::has_course(paths.front())) {
    throw config::ConfigError("--svg: the set has no power over time; allowed are sets as rtxa6000-power");
  }
  const validate::DataSetOptions options{a.hardware, a.network, a.settings, a.dataflow};
  files::Outputs outputs;
  files::Output* const csv_file = outputs.open("--csv", a.csv);
  files::Output* const html_file = outputs.open("--html", a.html);
  files::Output* const markdown_file = outputs.open("--markdown", a.markdown);
  files::Output* const svg_file = outputs.open("--svg", a.svg);
  files::Output* const json_file = outputs.open_or_stdout("--json", a.json);

  ProgressBar bar;
  const std::string title = all ? "all sets" : std::filesystem::path(paths.front()).stem().string();
  const std::vector<validate::SetResult> results =
      validate::validate(paths, options, [&](std::size_t done, std::size_t rows) { bar.update(done, rows, title); });
  const std::string document = all ? validate::to_json(results) : validate::to_json(results.front());
  if (csv_file != nullptr) csv_file->write(validate::to_csv(results.front()), files::Form::kCsv);
  if (html_file != nullptr) html_file->write(validate::to_html(results), files::Form::kHtml);
  if (markdown_file != nullptr) {
    const std::filesystem::path plot = std::filesystem::path(a.markdown).replace_extension(".svg");
    markdown_file->write(validate::to_markdown(results, plot.filename().string()), files::Form::kOwn);
    outputs.open("a plot of --markdown", plot.string())->write(validate::to_svg(results), files::Form::kSvg);
  }
  if (svg_file != nullptr) svg_file->write(validate::course_svg(results.front(), options), files::Form::kSvg);
  if (json_file != nullptr) json_file->write(document, files::Form::kOwn);
  outputs.commit();
  const std::string text = all ? validate::summary(results, text::line_width()) : validate::to_text(results.front());
  print(a.json == "-" ? document : text);
  return 0;
}

}  // namespace

void add_validate(CLI::App& app, int& status) {
  const auto a = std::make_shared<ValidateArguments>();
  CLI::App& command =
      *app.add_subcommand("validate", "measurements by others beside this platform's predictions, with the errors");
  add_text(command, "set", a->set,
           "a set that comes with the program: a name under configs/validation; without it and --data all of them");
  add_text(command, "--data", a->data, "a file of measurements (CSV), known by its columns");
  add_text(command, "--hw", a->hardware, "machine (default: the set's own)");
  add_text(command, "--net", a->network, "layer: what of the shape is not in the columns");
  add_settings(command, a->settings);
  add_text(command, "--dataflow", a->dataflow,
           "dataflow of kernels given by --net texts (default: that of the table beside the machine, or the fastest)");
  add_output(command, "--csv", a->csv, "write all rows as CSV");
  add_output(command, "--html", a->html, "write a page with a plot and all rows");
  add_output(command, "--markdown", a->markdown,
             "write a page of errors and worst rows, as docs/results/validation.md, and its plot beside it (.svg)");
  add_output(command, "--svg", a->svg, "write a figure of power over time, of a set that has it: rtxa6000-power");
  add_json(command, a->json);
  add_memory_limit(command);
  command.callback([a, &status] { status = validate(*a); });
}

}  // namespace attnvp::cli
