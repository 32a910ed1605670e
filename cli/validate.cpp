// `attnvp validate`: measurements by others beside this platform's predictions.
#include "explore/validate/validate.h"

#include <cstdio>

#include "cli/validate_options.h"
#include "cli/validators.h"
#include "explore/validate/output.h"
#include "platform/config/error.h"
#include "platform/files/outputs.h"

namespace attnvp::cli {

namespace {

int validate(const ValidateArguments& a) {
  if (a.set.empty() == a.data.empty()) {
    throw config::ConfigError(a.set.empty() ? "validate needs a set, or a file: --data FILE.csv"
                                            : "validate takes a set or --data, not both");
  }
  const std::string path = a.data.empty() ? validate::file_of_set(a.set) : a.data;
  files::Outputs outputs;
  files::Output* const csv_file = outputs.open("--csv", a.csv);
  files::Output* const html_file = outputs.open("--html", a.html);
  files::Output* const json_file = outputs.open_or_stdout("--json", a.json);

  const validate::Result result = validate::validate(path, {a.hardware, a.network, a.settings});
  const std::string json = validate::to_json(result);
  if (csv_file != nullptr) csv_file->write(validate::to_csv(result), files::Form::kCsv);
  if (html_file != nullptr) html_file->write(validate::to_html(result), files::Form::kHtml);
  if (json_file != nullptr) json_file->write(json, files::Form::kOwn);
  outputs.commit();
  std::fputs((a.json == "-" ? json : validate::to_text(result)).c_str(), stdout);
  return 0;
}

}  // namespace

void add_validate(CLI::App& app, ValidateArguments& a, int& status) {
  CLI::App* const command =
      app.add_subcommand("validate", "measurements by others beside this platform's predictions, with the errors");
  command->add_option("set", a.set, "a set that comes with the program: a name under configs/validation")
      ->check(not_empty());
  command->add_option("--data", a.data, "a file of measurements (CSV), known by its columns")->check(not_empty());
  command->add_option("--hw", a.hardware, "machine (default: the set's own)")->check(not_empty());
  command->add_option("--net", a.network, "layer: what of the shape is not in the columns")->check(not_empty());
  command->add_option("--set", a.settings, "set any key of the machine: key=value")->allow_extra_args(false);
  command->add_option("--csv", a.csv, "write all rows as CSV")->check(not_empty());
  command->add_option("--html", a.html, "write a page with a plot and all rows")->check(not_empty());
  command->add_option("--json", a.json, "write JSON to a file, or alone to stdout with '-'")->check(not_empty());
  command->callback([&a, &status] { status = validate(a); });
}

}  // namespace attnvp::cli
