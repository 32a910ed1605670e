#include <memory>

#include "cli/commands.h"
#include "cli/line.h"
#include "cli/validators.h"

namespace attnvp::cli {

void add_describe(CLI::App& app, int& status) {
  const auto a = std::make_shared<DescribeArguments>();
  CLI::App* describe_command = app.add_subcommand("describe",
                                                  "all there is to know of a machine (effective config, address map), "
                                                  "network, dataflow, streaming graph, key, or of all keys");
  describe_command->add_option("what", a->what, "a name, a path, a key (mac.rows), 'keys' or 'tiling'")->required();
  describe_command->add_option("--set", a->settings, "set any key of the machine: key=value")->allow_extra_args(false);
  CLI::Option* area = describe_command->add_flag("--area", a->area, "what the machine takes of a chip, by module");
  describe_command->add_option("--svg", a->svg, "with --area: write a treemap")->check(not_empty())->needs(area);
  describe_command->add_option("--json", a->json, "with --area: write JSON to a file, or alone to stdout with '-'")
      ->check(not_empty())
      ->needs(area);
  describe_command->add_option("--ert", a->ert, "write a machine's energies as Accelergy's ERT (YAML)")
      ->check(not_empty());
  describe_command->add_option("--art", a->art, "write a machine's areas as Accelergy's ART (YAML)")
      ->check(not_empty());
  describe_command->callback([a, &status] { status = describe(*a); });
}

}  // namespace attnvp::cli
