#include <fmt/format.h>

#include <vector>

#include "platform/machine/hardware.h"
#include "platform/report/report.h"
#include "platform/workload/keys.h"

namespace attnvp::report {

using namespace config;
namespace {

constexpr const char* kIntroduction =
    R"(# Configurations: every key, type, default, range and meaning

This page is generated from the tables that also check the files, those that models declare beside themselves among
them; a test keeps the two equal.

| Folder | Holds | Chosen by |
|---|---|---|
| `hardware/` | machines | `--hw NAME` or `--hw PATH` |
| `networks/` | attention layers | `--net NAME`, `--net PATH` or inline, `--net H=12,N=512,E=64` |
| `streams/` | streaming graphs | `attnvp stream NAME` or `attnvp stream PATH` |
| `energy/` | energy per action | the machine's or the graph's key `energy` |
| `tilings/` | tile sizes | `--tiling NAME` or `--tiling PATH` |
| `sweeps/` | many jobs ([format](../docs/reference/file-formats.md#sweep-files)) | `attnvp sweep NAME` or `attnvp sweep PATH` |
| `dram/` | DRAM parts ([docs/explanation/memory.md](../docs/explanation/memory.md)) | the machine's key `dram.part` |
| `validation/` | measurements by others | `attnvp validate NAME` |

A name is a file's name without `.yaml`; text with a `/` or ending in `.yaml` is a path. The environment variable
`ATTNVP_CONFIGS` names another folder to take the place of this one. A file's first line, a comment, is what
`attnvp list` shows. Unknown keys, keys given twice, values without their unit and values out of range are refused with
file and line.
)";

constexpr const char* kHardware =
    R"(
## Hardware

Nested keys have dotted paths: `l1.size` is `size` under `l1:`. Every key can be set on the command line by its path,
`--set "l1.size=2 MiB"`; of two settings of one key the later wins. A key left out has its default. With `base: NAME` (or
a path relative to the file) a file starts from another machine's values instead, all but `name`; `base` cannot be set on
the command line. A relative path under `energy` is relative to the file. `cores:` may be a list with an entry for each
core of a cluster: the keys of `mac`, `vec` and `l0` in which that core differs from the machine's own, as in
`cores: [{mac: {rows: 32}}, {}]`. Their paths have the core's number, from 0: `--set cores.0.mac.rows=64`. A number under
`cores` makes all cores alike again. `clusters:` may be a list likewise: an entry has the keys of `mac`, `vec`, `l0`,
`l1`, `dma` and `cores` in which that cluster differs, as in `clusters: [{l1: {size: 1 MiB}}, {cores: [{mac: {rows: 32}},
{}]}]`. Paths are `clusters.0.l1.size` and `clusters.1.cores.0.mac.rows`. All clusters have as many cores. Across keys:
`l0.size` is smaller than `l1.size`; `l1.banks` times `l1.bank_bandwidth` and `dma.burst` are at most `l1.size`; the L1 of
all clusters together is at most 256 GiB.

)";

constexpr const char* kNetworks =
    R"(
## Networks

One attention layer, softmax(scale Q.K^T).V over the keys that a mask leaves, in FP16. Inline shapes have short names for the same keys.

)";

constexpr const char* kStreams =
    R"(
## Streaming graphs

Nodes joined by FIFOs. Whole numbers are expressions in `N`, the sequence length, and `d`, the head dimension, with
`+ - * /` (rounds down), parentheses, `min(a, b)` and `max(a, b)`; between braces, quote those that hold a comma.
[docs/explanation/streaming.md](../docs/explanation/streaming.md) has the rules of time and the operations.

| Key | Type | Default | Range | Meaning |
|---|---|---|---|---|
| `nodes.NAME.op` | choice | required | `attnvp list operations` | what the node computes |
| `nodes.NAME.ii` | cycles | `1` | 1 to 2^50 | initiation interval: from one firing to the next |
| `nodes.NAME.latency` | cycles | `1` | 0 to 2^50 | from taking the inputs to the arrival of the results, at least 1 after sending |
| `nodes.NAME.tensor` | choice | required by `source` | Q, K, V | what a source sends |
| `nodes.NAME.per` | choice | `score` | row, score | how often a source sends: row i of the tensor per row i; or per score (i, j) row i of Q, row j of K or V |
| `channels.NAME.from` | text | required | | `NODE.PORT`, or `NODE` if it has one output; an output may feed several channels |
| `channels.NAME.to` | text | required | | `NODE.PORT`, or `NODE` if it has one input |
| `channels.NAME.depth` | count | required | 1 to 2^50, or `unbounded` | most elements in flight |
| `channels.NAME.tokens` | count | `0` | 0 to 2^20, at most the depth | elements there at the start; every cycle of channels needs some |
| `channels.NAME.initial` | real | `0` | finite | their value |
| `clock` | frequency | `1 GHz` | 1 MHz to 100 GHz | the clock of the cycles |
| `energy` | text | `pat` | | energy table: a name under configs/energy, or a path relative to the file |
)";

constexpr const char* kEnergy =
    R"(
## Energy

The form of an energy reference table (ERT) of Accelergy, energies in pJ:

```yaml
ERT:
  version: 0.4
  tables:
    - name: attnvp.l1                # component
      actions:
        - name: read                 # action; for memories one access of a 16-bit word
          arguments: {}              # may be left out; of an action that is given by its arguments the greatest energy stands
          energy: 0.974875           # pJ per action, a plain number
          energy_per_kib: 0.05025    # AttnVP's own key: added per KiB of the instance's size; may be left out
          cycle_seconds: 1e-9        # AttnVP's own key, of leakage and background: the cycle that `energy` is of
```

An action that is counted but has no energy here is an error, not 0, but for what only moves and waits (`attnvp.network`,
`attnvp.events`, `attnvp.dma`, `attnvp.control`, `attnvp.gating`, `attnvp.l2`, `accumulate` of `attnvp.mac`): tables of papers leave that out.
`low` and `high` are factors, the range in which an energy may be. Components and actions in use: `attnvp.dram`,
`attnvp.l1` and `attnvp.l0` with `read` and `write`; `attnvp.mac` and `attnvp.vec` with `compute`; of streaming graphs
`attnvp.fifo` with `read` and `write` (of 16-bit words), `attnvp.node` with `compute`, `exp` and `divide`. Given by the cycle:
`attnvp.leakage` and `attnvp.clock` with a module's name, `attnvp.dram` with `background`. The cycle is the machine's; for leakage and background
it is the table's own where `cycle_seconds`, or `global_cycle_seconds` among Accelergy's arguments, names one. Banked DRAM also has `activate`, `refresh` and
`refresh_bank`, and, where a table prices them, `read_burst`, `write_burst` and `open`; RISC-V control has `alu`, `multiply`, `divide`, `load`, `store`,
`branch`, `system` and `bus_byte`.

Instead of an `ERT:` a file may have a `MODEL:`, figures from which energies, leakage and area of a machine follow
([docs/explanation/energy.md](../docs/explanation/energy.md)).
)";

constexpr const char* kProvenance =
    R"(
## Provenance

Machines, networks and energy tables say where their values come from, and `attnvp describe NAME` prints it beside them.
A file's `provenance:` is a statement for all of its values, or a map of statements by key path (of energies
`component.action`); a section's path, `dma`, stands for those of its keys that the file sets and that have no statement
of their own:

```yaml
provenance:
  clock: published MAS-Attention, section 5.1     # and where
  mac.pipeline_cycles: derived from the skew of the array
  vec.softmax_lane_cycles: calibrated to FLAT of xlm in table 2 [mas_table2_cycles/xlm/flat]
  dma: assumed                                    # or: assumed, WHY
```

What is calibrated may name in brackets the cells that it was fitted to, `TABLE/ROW/COLUMN` of a file under `paper/`, or
`TABLE/ROW`, `TABLE`: pages that print such a cell mark it. With `base:` the statements are inherited but for the keys that
the file sets; a key given by `--set` says so.
)";

std::string units_table() {
  std::string out =
      "\n## Units\n\nA number is followed by its unit; counts and cycles are plain whole numbers. KiB is 1024 bytes, "
      "KB 1000 bytes.\n\n| Type | Units | Example |\n|---|---|---|\n";
  const std::vector<std::pair<KeyUnit, const char*>> examples = {
      {KeyUnit::kCount, "16"},           {KeyUnit::kCycles, "30"},
      {KeyUnit::kBytes, "5 MiB"},        {KeyUnit::kBytesPerCycle, "64 B/cycle"},
      {KeyUnit::kFrequency, "3.75 GHz"}, {KeyUnit::kBandwidth, "30 GB/s"},
      {KeyUnit::kTime, "20 ns"},         {KeyUnit::kVoltage, "800 mV"},
      {KeyUnit::kPower, "10 W"}};
  for (const auto& [unit, example] : examples) {
    const std::string units = allowed_units(unit);
    out += fmt::format("| {} | {} | `{}` |\n", unit_meaning(unit), units.empty() ? "none" : units, example);
  }
  return out;
}

template <class Target>
std::string default_of(const Schema<Target>& schema, const Key<Target>& key) {
  if (!key.default_note.empty()) return key.default_note;
  return key.required ? "required" : fmt::format("`{}`", schema.default_text(key));
}

std::string hardware_table() {
  std::string out = "| Key | Type | Default | Range | Meaning |\n|---|---|---|---|---|\n";
  for (const auto& key : hardware_schema().keys()) {
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", key.path, type_name(key), default_of(hardware_schema(), key),
                       allowed_range(key), key.meaning);
  }
  return out;
}

std::string network_table() {
  std::string out = "| Key | Inline | Type | Default | Range | Meaning |\n|---|---|---|---|---|---|\n";
  for (const auto& key : workload::network_schema().keys()) {
    std::string short_name;
    for (const auto& [name, path] : workload::inline_names()) {
      if (path == key.path && short_name.empty()) short_name = fmt::format("`{}`", name);
    }
    out += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", key.path, short_name, type_name(key),
                       default_of(workload::network_schema(), key), allowed_range(key), key.meaning);
  }
  return out;
}

std::string type_word(const KeyInfo& key) {
  if (key.type == Type::kInteger) return "whole number";
  return key.type == Type::kReal ? "number" : type_name(key);
}

std::string unit_text(const KeyInfo& key) {
  if (key.type != Type::kInteger && key.type != Type::kReal) return "none";
  const std::string units = allowed_units(key.unit);
  return units.empty() ? fmt::format("{}, without a unit", unit_meaning(key.unit))
                       : fmt::format("{}: {}", unit_meaning(key.unit), units);
}

template <class Target>
std::string texts_of(const Schema<Target>& schema, const std::string& holder, const std::string& path,
                     const std::string& section) {
  std::string out;
  for (const auto& key : schema.keys()) {
    if (key.path != path && key.path.rfind(section, 0) != 0) continue;
    const std::string& note = key.default_note;
    out += (out.empty() ? "" : "\n") + key_text(key, holder,
                                                !note.empty()  ? note
                                                : key.required ? "required"
                                                               : schema.default_text(key));
  }
  return out;
}

}  // namespace

std::vector<std::string> key_paths() {
  std::vector<std::string> paths = hardware_schema().paths();
  const std::vector<std::string>& of_networks = workload::network_schema().paths();
  paths.insert(paths.end(), of_networks.begin(), of_networks.end());
  return paths;
}

std::string key_text(const config::KeyInfo& key, const std::string& holder, const std::string& default_text) {
  return fmt::format("{} (of a {})\n  type     {}\n  unit     {}\n  default  {}\n  range    {}\n  meaning  {}\n",
                     key.path, holder, type_word(key), unit_text(key), default_text, allowed_range(key), key.meaning);
}

std::string key_text(const std::string& path) {
  std::string of_network = path;
  for (const auto& [name, long_path] : workload::inline_names()) {
    if (name == path) of_network = long_path;
  }
  const auto of_instance = hardware_schema().find(path) == nullptr ? find_key(path) : nullptr;
  if (of_instance != nullptr) return key_text(*of_instance, "machine", "the machine's own");
  const std::string machine = texts_of(hardware_schema(), "machine", path, path + "."),
                    network = texts_of(workload::network_schema(), "network", of_network, path + ".");
  return machine + (machine.empty() || network.empty() ? "" : "\n") + network;
}

std::string reference_markdown() {
  return std::string(kIntroduction) + units_table() + kHardware + hardware_table() + kNetworks + network_table() +
         kStreams + kEnergy + kProvenance;
}

}  // namespace attnvp::report
