// `attnvp describe`: shows a machine, network, dataflow, energy table, firmware program or key.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/shared/chip.h"
#include "cli/shared/job.h"
#include "cli/shared/progress.h"
#include "firmware/runtime/dataflow.h"
#include "platform/base/files.h"
#include "platform/machine/catalog.h"
#include "platform/machine/document.h"
#include "platform/machine/energy.h"
#include "platform/machine/error.h"
#include "platform/machine/hardware.h"
#include "platform/machine/provenance.h"
#include "platform/machine/words.h"
#include "platform/report/report.h"
#include "platform/report/table.h"
#include "platform/run/job.h"
#include "platform/run/platform.h"
#include "platform/schedule/printer.h"
#include "platform/schedule/programs.h"
#include "platform/streaming/stream_run.h"
#include "platform/workload/hugging_face/hugging_face.h"
#include "platform/workload/keys.h"
#include "platform/workload/layers.h"
#include "platform/workload/workload.h"

namespace attnvp::cli {

namespace {

using report::Table;

struct DescribeArguments {
  std::string what;  // a machine, network, dataflow, energy table, firmware program or key; or "keys"
  std::vector<std::string> settings;
  bool all = false;  // also keys without effect on the machine
  bool area = false;
  std::string svg, json;  // of areas; json "-" is stdout only
  std::string ert, art;   // in Accelergy's format
};

void describe_machine(const DescribeArguments& a) {
  const MachineConfig machine = config::load_hardware(a.what, a.settings);
  const config::Provenances provenance = config::hardware_provenance(a.what, a.settings);
  const std::string everything = config::to_yaml(machine, provenance);
  const std::string shown = a.all ? everything : config::to_yaml(machine, provenance, false);
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  print("# effective configuration, and where each value comes from\n" + shown);
  if (shown != everything) {
    print(fmt::format("# --all has {} more lines: keys of modules that this machine has not\n",
                      lines(everything) - lines(shown)));
  }
  print("\n# address map\n");
  Table table;
  table.column("from", Table::Align::kLeft);
  table.column("to", Table::Align::kLeft);
  table.column("target", Table::Align::kLeft);
  for (const AddressRange& r : address_map(machine).sorted()) {
    table.row({fmt::format("{:#014x}", r.base), fmt::format("{:#014x}", r.end() - 1), r.name});
  }
  print(table.text(text::line_width()));
}

void describe_area(const DescribeArguments& a) {
  const MachineConfig machine = config::load_hardware(a.what, a.settings);
  config::note_machine(machine, a.settings);
  files::Outputs outputs;
  files::Output* const svg = outputs.open("--svg", a.svg);
  files::Output* const ert = outputs.open("--ert", a.ert);
  files::Output* const art = outputs.open("--art", a.art);
  files::Output* const json = outputs.open_or_stdout("--json", a.json);
  const std::string document = area_json(machine);
  if (svg != nullptr) svg->write(area_svg(machine), files::Form::kSvg);
  if (json != nullptr) json->write(document, files::Form::kOwn);
  if (ert != nullptr) ert->write(ert_yaml(machine), files::Form::kHash);
  if (art != nullptr) art->write(art_yaml(machine), files::Form::kHash);
  outputs.commit();
  if (!a.area) return;
  print(a.json == "-" ? document : area_text(machine));
}

void describe_dataflow(const firmware::Dataflow& d) {
  print(fmt::format("{}\n", d.description));
  for (const firmware::DataflowOption* o = d.options; o != nullptr && o->name != nullptr; ++o) {
    std::string values;
    for (const char* const* v = o->values; *v != nullptr; ++v) values += (values.empty() ? "" : ", ") + std::string(*v);
    print(fmt::format("  {}: {} (default {}); {}\n", o->name, values, o->values[0], o->description));
  }
  print("  tiling (what is not given is chosen for the machine and the layer):\n");
  for (const firmware::Parameter* const* p = d.parameters; *p != nullptr; ++p) {
    print(fmt::format("    {:<6} {}\n", (*p)->name, (*p)->meaning));
    for (const firmware::NamedValue* v = (*p)->named; v != nullptr && v->name != nullptr; ++v) {
      print(fmt::format("           {:<8} {}\n", v->name, v->meaning));
    }
  }
  if (d.scores != hal::kScoresOnChip)
    print(d.scores == hal::kScoresP ? "  P goes through DRAM.\n" : "  C and P go through DRAM.\n");
}

std::string provenance_text(const config::Provenances& provenance) {
  std::string out;
  for (const auto& [path, of_key] : provenance) out += fmt::format("  {:<24} {}\n", path, of_key.text());
  return out;
}

void describe_graph(const workload::OperationGraph& graph) {
  print(fmt::format("{}: a graph of {} operations, {} of the model left out\n", graph.name, graph.operations.size(),
                    graph.unsupported.size()));
  Table table;
  table.column("operation", Table::Align::kLeft);
  table.column("net", Table::Align::kLeft);
  table.column("times");
  for (const workload::LayerOperation& o : graph.operations) {
    table.row({o.name, o.workload.name(), fmt::format("{}", o.count)});
  }
  print(table.text(text::line_width()));
}

void describe_network(const std::string& what) {
  const workload::Workload n = workload::load(what);
  if (n.graph != nullptr) return describe_graph(*n.graph);
  const workload::Extents e = n.extents();
  const double depth = n.is_attention() ? 1.0 * e.emb + n.attention().values() : 2.0 * e.emb;
  const double macs = n.gemm() != nullptr ? n.gemm()->macs() : 1.0 * e.batch * e.heads * e.seq_q * e.seq_kv * depth;
  print(fmt::format("{}: batch {}, {} heads, {} queries x {} keys, {} per head; {:.4g} multiply-accumulates\n",
                    n.name(), e.batch, e.heads, e.seq_q, e.seq_kv, e.emb, macs));
  const workload::NetworkText parts = workload::split_network(what);
  if (!parts.hugging_face()) return print(provenance_text(workload::network_provenance(what)));
  // The file has other key names; shows how they were mapped.
  const std::string path = parts.base.substr(workload::kHuggingFace.size());
  config::Provenances of_keys = workload::network_provenance(what);
  for (const config::Setting& setting : workload::read_hugging_face(path, parts.layer_type).settings) {
    const auto of_key = of_keys.extract(setting.path).mapped();
    const bool kept = of_key.kind != config::ProvenanceKind::kSet;
    print(fmt::format("  {:<18} {:<24} {}\n", setting.path, kept ? setting.text : "", of_key.text()));
  }
  for (const auto& [key, of_key] : of_keys) print(fmt::format("  {:<18} {:<24} {}\n", key, "", of_key.text()));
}

void describe_energy(const std::string& what) {
  print(config::read_text_file(config::load_energy(what).source()));
  const config::Provenances of_actions = config::energy_provenance(what);
  if (!of_actions.empty()) print("\n# where each energy comes from\n" + provenance_text(of_actions));
}

void describe_stream(const std::string& what) {
  stream::load_graph(what, 64, 1);  // throws for invalid graphs
  print(config::read_text_file(config::find_config(config::Folder::kStreams, what)));
}

void describe_tiling() {
  print(
      "How a layer is cut for a machine: `--tiling nq=64,nkv=128`, a file of such keys, a name of `attnvp list "
      "tilings`,\nor `auto`, which searches. What is not given is chosen; reports say what was used.\n\n");
  Table table;
  for (const char* title : {"key", "allowed", "meaning"}) table.column(title, Table::Align::kLeft);
  for (const config::KeyInfo& key : job::tiling_keys()) table.row({key.path, config::allowed_range(key), key.meaning});
  print(table.text(text::line_width()));
}

// Description of a machine, network or tiling key, or of all keys of a section; empty: unknown.
std::string key_text(const std::string& path) {
  std::string text = report::key_text(path);
  for (const config::KeyInfo& key : job::tiling_keys()) {
    if (key.path == path)
      text += (text.empty() ? "" : "\n") + report::key_text(key, "tiling", "chosen for the machine and the layer");
  }
  return text;
}

enum class DescribedKind : unsigned char {
  kKeys,
  kCommands,
  kKey,
  kTiling,
  kMachine,
  kNetwork,
  kDataflow,
  kStream,
  kEnergy,
  kProgram
};

// Kind of a file by its keys; other files are treated as machines, which reports errors.
DescribedKind kind_of_file(const std::string& path) {
  const config::Document document = config::Document::load(path);
  const config::YamlNode root = document.root();
  if (!root.is_map()) return DescribedKind::kMachine;
  if (root["ERT"] || root["MODEL"]) return DescribedKind::kEnergy;
  if (root["nodes"] || root["channels"]) return DescribedKind::kStream;
  return root["heads"] || root["emb"] || root["GRAPH"] ? DescribedKind::kNetwork : DescribedKind::kMachine;
}

bool is_program(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;  // reading a pipe would block
  std::ifstream file(path, std::ios::binary);
  char magic[4] = {};
  file.read(magic, sizeof magic);
  return file && std::string(magic, sizeof magic) ==
                     "\x7f"
                     "ELF";
}

// A name may have several meanings, such as a dataflow and a machine.
std::vector<DescribedKind> kinds_of(const std::string& what) {
  if (what == "keys") return {DescribedKind::kKeys};
  if (what == "commands") return {DescribedKind::kCommands};
  if (what == "tiling") return {DescribedKind::kTiling};
  if (is_program(what)) return {DescribedKind::kProgram};
  if (workload::is_network_text(what)) return {DescribedKind::kNetwork};
  if (config::is_path(what)) return {kind_of_file(what)};
  std::vector<DescribedKind> kinds;
  std::vector<std::string> names;
  for (const firmware::Dataflow* d : schedule::compiled_firmware().dataflows()) {
    if (what == d->name) kinds.push_back(DescribedKind::kDataflow);
    names.emplace_back(d->name);
  }
  for (const auto& [folder, kind] : {std::pair{config::Folder::kHardware, DescribedKind::kMachine},
                                     {config::Folder::kNetworks, DescribedKind::kNetwork},
                                     {config::Folder::kStreams, DescribedKind::kStream},
                                     {config::Folder::kEnergy, DescribedKind::kEnergy}}) {
    for (const config::CatalogEntry& entry : config::list(folder)) {
      if (what == entry.name) kinds.push_back(kind);
      names.push_back(entry.name);
    }
  }
  if (!key_text(what).empty()) kinds.push_back(DescribedKind::kKey);
  if (!kinds.empty()) return kinds;
  std::vector<std::string> keys = config::with_sections(report::key_paths());
  for (const config::KeyInfo& key : job::tiling_keys()) keys.push_back(key.path);
  const bool like_a_key = config::nearest(what, names).empty() && !config::nearest(what, keys).empty();
  const std::string near = config::nearest(what, like_a_key ? keys : names);
  throw config::ConfigError(fmt::format(
      "{} is unknown; {}", config::in_quotes(what),
      near.empty()
          ? "allowed are machines, networks, dataflows, streaming graphs, energy tables (`attnvp list`) and keys"
          : fmt::format("did you mean '{}'?", near)));
}

// Describes an ELF file, independent of the machine.
void describe_program(const std::string& elf) {
  MachineConfig machine;
  const schedule::FirmwareImage& firmware = use_firmware(machine, elf);
  print(dataflow_table(firmware));
  for (const firmware::Dataflow* d : firmware.dataflows()) {
    print("\n");
    describe_dataflow(*d);
  }
}

void describe_as(DescribedKind kind, const DescribeArguments& a) {
  switch (kind) {
    case DescribedKind::kKeys:
      print(report::reference_markdown());
      break;
    case DescribedKind::kCommands:
      print(schedule::commands_markdown());
      break;
    case DescribedKind::kKey:
      print(key_text(a.what));
      break;
    case DescribedKind::kTiling:
      describe_tiling();
      break;
    case DescribedKind::kDataflow:
      describe_dataflow(*schedule::find_dataflow(a.what));
      break;
    case DescribedKind::kNetwork:
      describe_network(a.what);
      break;
    case DescribedKind::kStream:
      describe_stream(a.what);
      break;
    case DescribedKind::kEnergy:
      describe_energy(a.what);
      break;
    case DescribedKind::kProgram:
      describe_program(a.what);
      break;
    case DescribedKind::kMachine:
      describe_machine(a);
      break;
  }
}

int describe(const DescribeArguments& a) {
  const std::vector<DescribedKind> kinds = kinds_of(a.what);
  const bool chip = a.area || !a.ert.empty() || !a.art.empty();
  if ((!a.settings.empty() || a.all || chip) &&
      std::find(kinds.begin(), kinds.end(), DescribedKind::kMachine) == kinds.end()) {
    throw config::ConfigError(fmt::format("{} for machines, which {} is not",
                                          chip    ? "--area, --ert and --art are"
                                          : a.all ? "--all is"
                                                  : "--set is",
                                          config::in_quotes(a.what)));
  }
  if (chip) describe_area(a);
  if (chip) return 0;
  for (const DescribedKind kind : kinds) {
    if (kind != kinds.front()) print("\n");
    describe_as(kind, a);
  }
  return 0;
}

}  // namespace

void add_describe(CLI::App& app, int& status) {
  const auto a = std::make_shared<DescribeArguments>();
  CLI::App& command = *app.add_subcommand(
      "describe",
      "all there is to know of a machine (effective config, address map), network, dataflow, streaming graph, key, or "
      "of all keys");
  command.add_option("what", a->what, "a name, a path, a key (mac.rows), 'keys' or 'tiling'")->required();
  add_settings(command, a->settings);
  command.add_flag("--all", a->all, "keys of a machine that mean nothing on it, too: of modules that it has not");
  CLI::Option* area = command.add_flag("--area", a->area, "what the machine takes of a chip, by module");
  add_output(command, "--svg", a->svg, "with --area: write a treemap")->needs(area);
  add_json(command, a->json, "with --area: write JSON to a file, or alone to stdout with '-'")->needs(area);
  add_output(command, "--ert", a->ert, "write a machine's energies as Accelergy's ERT (YAML)");
  add_output(command, "--art", a->art, "write a machine's areas as Accelergy's ART (YAML)");
  command.callback([a, &status] { status = describe(*a); });
}

}  // namespace attnvp::cli
