#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "firmware/dataflows/dataflows.h"
#include "platform/cli/commands.h"
#include "platform/config/catalog.h"
#include "platform/config/error.h"
#include "platform/config/hardware.h"
#include "platform/config/network.h"
#include "platform/config/reference.h"
#include "platform/elaboration/platform.h"
#include "platform/report/table.h"

namespace attnvp::cli {

namespace {

using report::Table;

void print(const std::string& text) { std::fputs(text.c_str(), stdout); }

void list_folder(const char* title, config::Folder folder) {
  Table table;
  table.column(title, Table::Align::kLeft);
  table.column("description", Table::Align::kLeft);
  for (const config::CatalogEntry& entry : config::list(folder)) table.row({entry.name, entry.description});
  print(table.text());
}

std::string options_text(const firmware::Dataflow& dataflow) {
  std::string text;
  for (const firmware::DataflowOption* o = dataflow.options; o != nullptr && o->name != nullptr; ++o) {
    std::string values;
    for (const char* const* v = o->values; *v != nullptr; ++v) values += (values.empty() ? "" : "|") + std::string(*v);
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", o->name, values);
  }
  return text;
}

void list_dataflows() {
  Table table;
  table.column("dataflow", Table::Align::kLeft);
  table.column("options", Table::Align::kLeft);
  table.column("description", Table::Align::kLeft);
  for (const firmware::Dataflow* const* d = firmware::kDataflows; *d != nullptr; ++d) {
    table.row({(*d)->name, options_text(**d), (*d)->description});
  }
  print(table.text());
}

void describe_machine(const MachineConfig& machine) {
  print("# effective configuration\n" + config::to_yaml(machine) + "\n# address map\n");
  Table table;
  table.column("from", Table::Align::kLeft);
  table.column("to", Table::Align::kLeft);
  table.column("target", Table::Align::kLeft);
  for (const AddressRange& r : address_map(machine).sorted()) {
    table.row({fmt::format("{:#014x}", r.base), fmt::format("{:#014x}", r.end() - 1), r.name});
  }
  print(table.text());
}

void describe_dataflow(const firmware::Dataflow& d) {
  print(fmt::format("{}\n", d.description));
  for (const firmware::DataflowOption* o = d.options; o != nullptr && o->name != nullptr; ++o) {
    std::string values;
    for (const char* const* v = o->values; *v != nullptr; ++v) values += (values.empty() ? "" : ", ") + std::string(*v);
    print(fmt::format("  {}: {} (default {}); {}\n", o->name, values, o->values[0], o->description));
  }
  if (d.scores_in_dram) print("  C and P go through DRAM.\n");
}

bool in_catalog(config::Folder folder, const std::string& name) {
  const auto entries = config::list(folder);
  return std::any_of(entries.begin(), entries.end(), [&](const auto& e) { return e.name == name; });
}

}  // namespace

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
  section("dataflows", [] { list_dataflows(); });
  section("energy", [] { list_folder("energy table", config::Folder::kEnergy); });
  return 0;
}

int describe(const DescribeArguments& a) {
  if (a.what == "keys") {
    print(config::reference_markdown());
    return 0;
  }
  if (const firmware::Dataflow* d = firmware::find_dataflow(a.what.c_str())) {
    describe_dataflow(*d);
    return 0;
  }
  const bool shape = a.what.find('=') != std::string::npos;
  if (shape || in_catalog(config::Folder::kNetworks, a.what)) {
    const config::Network n = config::load_network(a.what);
    const double macs = 2.0 * n.batch * n.heads * n.seq_q * n.seq_kv * n.emb;
    print(fmt::format("{}: batch {}, {} heads, {} queries x {} keys, {} per head; {:.4g} multiply-accumulates\n", n.name,
                      n.batch, n.heads, n.seq_q, n.seq_kv, n.emb, macs));
    return 0;
  }
  describe_machine(config::load_hardware(a.what, a.settings));
  return 0;
}

}  // namespace attnvp::cli
