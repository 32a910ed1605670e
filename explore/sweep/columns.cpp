#include <unordered_map>

#include "explore/sweep/database.h"
#include "models/registry.h"
#include "platform/machine/hardware.h"
#include "platform/run/results/accounting.h"
#include "platform/run/schedule.h"

namespace attnvp::explore {

namespace {

constexpr Dimension kPlain{};
constexpr Dimension kBytes{1, 0, 0};
constexpr Dimension kSeconds{0, 1, 0};
constexpr Dimension kHertz{0, -1, 0};
constexpr Dimension kPicojoules{0, 0, 1};

Column text(const char* name, ColumnRole role, const char* meaning) {
  return {name, role, "TEXT", {}, nullptr, meaning};
}
Column whole(const std::string& name, ColumnRole role, const Dimension& dimension, const char* meaning) {
  return {name, role, "INTEGER", dimension, nullptr, meaning};
}
Column real(const std::string& name, const Dimension& dimension, const char* meaning) {
  return {name, ColumnRole::kResult, "REAL", dimension, nullptr, meaning};
}

const char* sql_type(const config::KeyInfo& key) {
  switch (key.type) {
    case config::Type::kInteger:
      return "INTEGER";
    case config::Type::kReal:
      return "REAL";
    default:
      return "TEXT";
  }
}

void add_inputs(std::vector<Column>& all) {
  all.push_back(text("hardware", ColumnRole::kInput, "the machine that the job started from"));
  for (const auto& key : config::hardware_schema().keys()) {
    if (key.path == "name") continue;
    const bool number = key.type == config::Type::kInteger || key.type == config::Type::kReal;
    all.push_back(
        {key.path, ColumnRole::kInput, sql_type(key), number ? dimension_of(key.unit) : kPlain, &key, key.meaning});
  }
  all.push_back(text("network", ColumnRole::kInput, "the layer"));
  all.push_back(whole("network.batch", ColumnRole::kInput, kPlain, "batch size"));
  all.push_back(whole("network.heads", ColumnRole::kInput, kPlain, "attention heads"));
  all.push_back(whole("network.seq_q", ColumnRole::kInput, kPlain, "sequence length of the queries"));
  all.push_back(whole("network.seq_kv", ColumnRole::kInput, kPlain, "sequence length of keys and values"));
  all.push_back(whole("network.emb", ColumnRole::kInput, kPlain, "embedding per head"));
  all.push_back(whole("network.kv_heads", ColumnRole::kInput, kPlain, "heads of K and V"));
  all.push_back(text("network.contexts", ColumnRole::kInput, "keys of each batch, where they differ"));
  all.push_back(text("dataflow", ColumnRole::kInput, "with its options"));
  all.push_back(text("tiling", ColumnRole::kInput, "as asked for; default: chosen, auto: by a longer search"));
  all.push_back(text("data", ColumnRole::kInput, "full or timing"));
}

void add_status(std::vector<Column>& all) {
  all.push_back(text("status", ColumnRole::kStatus, "done, failed, or crashed (tried anew by the next run)"));
  all.push_back(text("error", ColumnRole::kStatus, "why a job did not end well"));
  all.push_back(text("command", ColumnRole::kStatus, "runs the job again"));
}

void add_results(std::vector<Column>& all) {
  const auto count = [&](const std::string& name, const char* meaning, const Dimension& d = kPlain) {
    all.push_back(whole(name, ColumnRole::kResult, d, meaning));
  };
  for (const firmware::Parameter* p : schedule::compiled_firmware().parameters()) {
    const std::string name = std::string("tiling.") + p->name;
    if (job::has_words(p->name)) {
      all.push_back({name,
                     ColumnRole::kResult,
                     p->extent == firmware::Extent::kCount ? "TEXT" : "INTEGER",
                     {},
                     nullptr,
                     "as used; none where it is not"});
    } else {
      all.push_back(
          {name, ColumnRole::kResult, "INTEGER", {}, nullptr, "as used; none where a dataflow has no such parameter"});
    }
  }
  all.push_back(text("chosen", ColumnRole::kResult, "the dataflow that auto chose; none where it is given"));
  count("cycles", "from boot to the last cluster's end; of a layer or model the sum");
  all.push_back(real("frequency_hz", kHertz, "the platform clock"));
  all.push_back(real("seconds", kSeconds, "simulated time"));
  count("golden.checked", "1: the output was compared with the reference");
  count("golden.passed", "1: and every element is within its bound; none where it was not checked");
  all.push_back(real("golden.max_abs_error", kPlain, "largest difference"));
  count("golden.max_ulp_error", "the same in units in the last place");
  for (const char* name : {"utilization.mac", "utilization.vec", "utilization.dma", "utilization.dram"}) {
    all.push_back(real(name, kPlain, "busy share of all cycles, mean over instances"));
  }
  for (const Slot& place : slots()) {
    if (place.role != attnvp::Role::kMainMemory && place.role != attnvp::Role::kOnChipMemory) continue;
    const std::string memory = place.name;
    count(memory + ".read_bytes", "all instances together; peak: of one", kBytes);
    count(memory + ".write_bytes", "all instances together; peak: of one", kBytes);
    if (place.role == attnvp::Role::kOnChipMemory) {
      count(memory + ".peak_bytes", "all instances together; peak: of one", kBytes);
    }
  }
  count("overwrites.count", "times that P took the space of K or V");
  count("overwrites.reload_bytes", "loaded again for that", kBytes);
  count("overwrites.k", "of K");
  count("overwrites.v", "of V");
  for (const char* name : {"partition.tiles", "partition.workers", "partition.max", "partition.high_load"}) {
    count(name, "how tiles of split heads are shared among workers");
  }
  count("partition.splits", "parts that a head's keys are cut into, where a dataflow says so");
  all.push_back(real("partition.occupancy", kPlain, "mean busy share of the workers"));
  all.push_back(text("workers", ColumnRole::kResult, "each worker's share, as JSON"));
  all.push_back(real("energy_pj.total", kPicojoules, "energy"));
  for (const std::string& component : energy_components()) {
    all.push_back(real("energy_pj." + job::part_of(component), kPicojoules, "energy"));
  }
  all.push_back(real("power_w.total", kPlain, "mean power, watts"));
  for (const std::string& component : energy_components()) {
    all.push_back(real("power_w." + job::part_of(component), kPlain, "mean power, watts"));
  }
  all.push_back(real("area_mm2.total", kPlain, "floorplan without DRAM, square millimetres"));
  for (const char* part : {"l2", "l1", "events", "dma", "cpu", "l0", "mac", "vec", "spare"}) {
    all.push_back(real(std::string("area_mm2.") + part, kPlain, "of all modules of that name, square millimetres"));
  }
  all.push_back(
      text("bound.resource", ColumnRole::kResult, "what is needed for the most cycles, whatever the others do"));
  all.push_back(real("bound.cycles", kPlain, "for how many: no run is shorter"));
  all.push_back(real("bound.share", kPlain, "of all cycles"));
  for (const char* name : {"machine.macs_per_cycle", "machine.vec_lanes"}) {
    count(name, "what all clusters together can do at most");
  }
  for (const char* name : {"machine.dram_bytes_per_cycle", "machine.l1_bytes_per_cycle"}) {
    all.push_back(real(name, kPlain, "what all clusters together can do at most"));
  }
  count("machine.l1_bytes", "of all clusters together", kBytes);
  all.push_back(text("counters", ColumnRole::kResult, "every module's counters, as JSON"));
}

Symbols symbols_of(bool results) {
  Symbols symbols;
  for (const Column& c : columns()) {
    if (c.role != ColumnRole::kInput && !(results && c.role != ColumnRole::kKey)) continue;
    symbols[c.name] = {c.is_text() ? QuantityKind::kText : QuantityKind::kNumber, c.dimension};
  }
  return symbols;
}

const std::unordered_map<std::string, std::size_t>& positions() {
  static const auto map = [] {
    std::unordered_map<std::string, std::size_t> m;
    for (std::size_t i = 0; i < columns().size(); ++i) m.emplace(columns()[i].name, i);
    return m;
  }();
  return map;
}

}  // namespace

const std::vector<Column>& columns() {
  static const std::vector<Column> all = [] {
    std::vector<Column> c;
    c.push_back(text("key", ColumnRole::kKey, "hash of all that determines the job's results"));
    add_inputs(c);
    add_status(c);
    add_results(c);
    return c;
  }();
  return all;
}

std::size_t column_index(const std::string& name) { return positions().at(name); }

const Column* find_column(const std::string& name) {
  const auto found = positions().find(name);
  return found == positions().end() ? nullptr : &columns()[found->second];
}

const Symbols& input_symbols() {
  static const Symbols symbols = symbols_of(false);
  return symbols;
}

const Symbols& row_symbols() {
  static const Symbols symbols = symbols_of(true);
  return symbols;
}

}  // namespace attnvp::explore
