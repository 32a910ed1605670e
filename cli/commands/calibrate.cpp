// `attnvp calibrate`: fits values of a machine to measurements.
#include <cstdio>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/shared/options.h"
#include "cli/shared/progress.h"
#include "explore/validate/validate.h"
#include "platform/machine/error.h"

namespace attnvp::cli {

namespace {

struct CalibrateArguments {
  std::string data;                   // a file
  std::string hardware, network;      // empty: those of the set
  std::vector<std::string> settings;  // --set key=value
  std::vector<std::string> keys;      // keys to fit
};

int calibrate(const CalibrateArguments& a) {
  const validate::DataSetOptions options{a.hardware, a.network, a.settings};
  if (validate::has_power(a.data)) {
    if (!a.keys.empty())
      throw config::ConfigError("--key: a file of power has energies, which are fitted without keys");
    print(validate::fit_text(a.data, options));
    return 0;
  }
  if (a.keys.empty())
    throw config::ConfigError("--key is required; allowed is a key of the machine, such as dram.bandwidth");
  std::optional<ProgressBar> bar;  // of one evaluation
  const auto tell = [&bar](const std::string& line) {
    bar.reset();
    std::fprintf(stderr, "attnvp: %s\n", line.c_str());
  };
  const auto rows = [&](std::size_t done, std::size_t all) {
    if (!bar) bar.emplace();
    bar->update(done, all, a.data);
  };
  const validate::Fit fit = validate::calibrate(a.data, options, a.keys, tell, rows);
  bar.reset();
  print(validate::to_text(fit));
  return 0;
}

}  // namespace

void add_calibrate(CLI::App& app, int& status) {
  const auto a = std::make_shared<CalibrateArguments>();
  CLI::App& command =
      *app.add_subcommand("calibrate", "fit at most three of a machine's values to measurements, and print them");
  add_text(command, "--data", a->data, "a file of measurements (CSV), known by its columns")->required();
  add_text(command, "--hw", a->hardware, "machine (default: the set's own)");
  add_text(command, "--net", a->network, "layer: what of the shape is not in the columns");
  add_list(command, "--key", a->keys,
           "a key to fit; once for each; none for a file of power, whose energies are fitted");
  add_settings(command, a->settings);
  command.callback([a, &status] { status = calibrate(*a); });
}

}  // namespace attnvp::cli
