// `attnvp validate`: measurements by others beside this platform's predictions.
#include "explore/validate/validate.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "cli/line.h"
#include "cli/machine_options.h"
#include "cli/progress.h"
#include "cli/validators.h"
#include "explore/validate/calibrate.h"
#include "explore/validate/output.h"
#include "platform/config/error.h"
#include "platform/files/outputs.h"

namespace attnvp::cli {

namespace {

struct ValidateArguments {
  std::string set;                    // one that comes with the program
  std::string data;                   // or a file
  std::string hardware, network;      // empty: the set's own
  std::vector<std::string> settings;  // --set key=value
  std::vector<std::string> keys;      // to fit
  std::string csv, html, markdown;
  std::string json;  // "-" is stdout, alone
};

int validate(const ValidateArguments& a) {
  if (!a.set.empty() && !a.data.empty()) throw config::ConfigError("validate takes a set or --data, not both");
  const bool all = a.set.empty() && a.data.empty();
  std::vector<std::string> paths = {a.data};
  if (all) paths = validate::files_of_sets();
  if (!a.set.empty()) paths = {validate::file_of_set(a.set)};
  if (all && (!a.hardware.empty() || !a.network.empty() || !a.settings.empty() || !a.csv.empty())) {
    throw config::ConfigError(
        "without a set or --data every set is run on its own machine: --hw, --net, --set and --csv "
        "need one of them");
  }
  files::Outputs outputs;
  files::Output* const csv_file = outputs.open("--csv", a.csv);
  files::Output* const html_file = outputs.open("--html", a.html);
  files::Output* const markdown_file = outputs.open("--markdown", a.markdown);
  files::Output* const json_file = outputs.open_or_stdout("--json", a.json);

  std::vector<validate::Result> results;
  for (const std::string& path : paths) {
    ProgressBar bar;
    results.push_back(
        validate::validate(path, {a.hardware, a.network, a.settings}, [&](std::size_t done, std::size_t rows) {
          bar.update(done, rows, std::filesystem::path(path).stem().string());
        }));
  }
  const std::string document = all ? validate::to_json(results) : validate::to_json(results.front());
  if (csv_file != nullptr) csv_file->write(validate::to_csv(results.front()), files::Form::kCsv);
  if (html_file != nullptr) html_file->write(validate::to_html(results), files::Form::kHtml);
  if (markdown_file != nullptr) markdown_file->write(validate::to_markdown(results), files::Form::kOwn);
  if (json_file != nullptr) json_file->write(document, files::Form::kOwn);
  outputs.commit();
  const std::string text = all ? validate::summary(results, text::line_width()) : validate::to_text(results.front());
  std::fputs((a.json == "-" ? document : text).c_str(), stdout);
  return 0;
}

int calibrate(const ValidateArguments& a) {
  std::optional<ProgressBar> bar;  // of one trial
  const auto tell = [&bar](const std::string& line) {
    bar.reset();
    std::fprintf(stderr, "attnvp: %s\n", line.c_str());
  };
  const auto rows = [&](std::size_t done, std::size_t all) {
    if (!bar) bar.emplace();
    bar->update(done, all, a.data);
  };
  const validate::Fit fit = validate::calibrate(a.data, {a.hardware, a.network, a.settings}, a.keys, tell, rows);
  bar.reset();
  std::fputs(validate::to_text(fit).c_str(), stdout);
  return 0;
}

}  // namespace

void add_validate(CLI::App& app, int& status) {
  const auto a = std::make_shared<ValidateArguments>();
  CLI::App* const command =
      app.add_subcommand("validate", "measurements by others beside this platform's predictions, with the errors");
  command
      ->add_option(
          "set", a->set,
          "a set that comes with the program: a name under configs/validation; without it and --data all of them")
      ->check(not_empty());
  command->add_option("--data", a->data, "a file of measurements (CSV), known by its columns")->check(not_empty());
  command->add_option("--hw", a->hardware, "machine (default: the set's own)")->check(not_empty());
  command->add_option("--net", a->network, "layer: what of the shape is not in the columns")->check(not_empty());
  command->add_option("--set", a->settings, "set any key of the machine: key=value")->allow_extra_args(false);
  command->add_option("--csv", a->csv, "write all rows as CSV")->check(not_empty());
  command->add_option("--html", a->html, "write a page with a plot and all rows")->check(not_empty());
  command->add_option("--markdown", a->markdown, "write a page of errors and worst rows, as docs/results/validation.md")
      ->check(not_empty());
  command->add_option("--json", a->json, "write JSON to a file, or alone to stdout with '-'")->check(not_empty());
  add_memory_limit(*command);
  command->callback([a, &status] { status = validate(*a); });
}

void add_calibrate(CLI::App& app, int& status) {
  const auto a = std::make_shared<ValidateArguments>();
  CLI::App* const command =
      app.add_subcommand("calibrate", "fit at most three of a machine's values to measurements, and print them");
  command->add_option("--data", a->data, "a file of measurements (CSV), known by its columns")
      ->required()
      ->check(not_empty());
  command->add_option("--hw", a->hardware, "machine (default: the set's own)")->check(not_empty());
  command->add_option("--net", a->network, "layer: what of the shape is not in the columns")->check(not_empty());
  command->add_option("--key", a->keys, "a key to fit; once for each")->required()->allow_extra_args(false);
  command->add_option("--set", a->settings, "set any key of the machine: key=value")->allow_extra_args(false);
  command->callback([a, &status] { status = calibrate(*a); });
}

}  // namespace attnvp::cli
