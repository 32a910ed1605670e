// `attnvp list`: lists the available configurations, dataflows and operations.
#include <memory>

#include "cli/commands.h"
#include "cli/shared/job.h"
#include "cli/shared/progress.h"
#include "firmware/runtime/dataflow.h"
#include "models/streaming/graph.h"
#include "platform/machine/catalog.h"
#include "platform/report/table.h"

namespace attnvp::cli {

namespace {

using report::Table;

void list_folder(const char* title, config::Folder folder) {
  Table table;
  table.column(title, Table::Align::kLeft);
  table.column("description", Table::Align::kLeft);
  for (const config::CatalogEntry& entry : config::list(folder)) table.row({entry.name, entry.description});
  print(table.text(text::line_width()));
}

// Operations of streaming graph nodes.
void list_operations() {
  Table table;
  for (const char* title : {"operation", "inputs", "outputs", "per row", "meaning"})
    table.column(title, Table::Align::kLeft);
  const auto ports_text = [](const std::vector<stream::Port>& ports) {
    std::string text;
    for (const stream::Port& port : ports) {
      const char* const shape = port.shape == stream::Shape::kVector ? "[]"
                                : port.shape == stream::Shape::kAny  ? "*"
                                                                     : "";
      text += fmt::format("{}{}{}", text.empty() ? "" : " ", port.name, shape);
    }
    return text;
  };
  for (const stream::StreamOperation& o : stream::operations()) {
    const bool reduces = o.kind == stream::NodeKind::kReduction;
    const bool scans = o.kind == stream::NodeKind::kScan;
    table.row({o.name, ports_text(o.inputs), ports_text(o.outputs),
               reduces ? "sends"
               : scans ? "never"
                       : "either",
               o.meaning});
  }
  print(table.text(text::line_width()) + "[] is a vector of the head dimension, * either that or a scalar\n");
}

int list(const std::string& kind) {
  const auto wanted = [&kind](const char* this_kind) { return kind.empty() || kind == this_kind; };
  const char* gap = "";
  const auto section = [&](const char* this_kind, auto print_it) {
    if (!wanted(this_kind)) return;
    print(gap);
    gap = "\n";
    print_it();
  };
  section("hardware", [] { list_folder("machine", config::Folder::kHardware); });
  section("networks", [] { list_folder("network", config::Folder::kNetworks); });
  section("dataflows", [] { print(dataflow_table(schedule::compiled_firmware())); });
  section("tilings", [] { list_folder("tiling", config::Folder::kTilings); });
  section("sweeps", [] { list_folder("sweep", config::Folder::kSweeps); });
  section("dram", [] { list_folder("DRAM part", config::Folder::kDram); });
  section("streams", [] { list_folder("streaming graph", config::Folder::kStreams); });
  section("operations", [] { list_operations(); });
  section("energy", [] { list_folder("energy table", config::Folder::kEnergy); });
  return 0;
}

}  // namespace

void add_list(CLI::App& app, int& status) {
  const auto kind = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "list", "what there is: machines, networks, dataflows, tilings, sweeps, streams, energy tables");
  command->add_option("kind", *kind, "only one of them")
      ->check(one_of(
          {"hardware", "networks", "dataflows", "tilings", "sweeps", "dram", "streams", "operations", "energy"}));
  command->callback([kind, &status] { status = list(*kind); });
}

}  // namespace attnvp::cli
