// The commands behind the command line. Each returns the exit status: 0 done and golden passed, 1 the simulated
// machine or firmware failed or the golden check did; wrong usage throws config::ConfigError (exit status 2).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attnvp::cli {

struct RunArguments {
  std::string hardware = "edge";
  std::string network = "bert-base";
  std::string requests;                // a file
  std::vector<std::string> dataflows;  // run: one; compare: several, all if empty
  std::vector<std::string> settings;   // --set key=value
  std::string tiling;
  std::uint64_t tuning_budget = 0;  // evaluations for each dataflow; 0: the default
  bool no_cache = false;
  bool no_advice = false;
  std::string data = "full";  // or "timing"
  std::string vec;            // empty: as the machine says
  std::string cpu;            // likewise
  std::string firmware;       // an ELF file for RISC-V control processors; empty: as the machine says
  std::string q, k, v, out;   // .npy
  std::uint64_t seed = 1;
  unsigned jobs = 0;     // processes of compare; 0: as many as the host has processors
  std::string vcd;       // or .fst
  std::string timeline;  // Chrome trace events
  std::vector<std::string> trace_scopes;
  std::string trace_from, trace_to;  // cycles, or a time
  std::string profile;               // of firmware: folded stacks, or a page where it ends in .html
  std::string instruction_trace;
  int gdb_port = -1;  // -1: no debugger; 0: a free one
  bool gdb_wait = false;
  std::uint64_t max_cycles = 0;         // of firmware; 0: the default
  bool check = false;                   // the commands, whatever takes how long
  std::optional<std::uint64_t> jitter;  // seed of random delays
  std::string action_counts;            // Accelergy's form
  bool energy_range = false;
  std::string clusters;             // of the job, where it is not all of the machine
  std::vector<std::string> beside;  // other jobs: "net=... dataflow=... clusters=..."
  std::string csv;                  // of compare: a row a run
  std::string json;                 // "-" is stdout, alone
};
int run(const RunArguments& arguments);
int compare(const RunArguments& arguments);

struct DescribeArguments {
  std::string what;  // a machine, a network, a dataflow, an energy table, a firmware program, a key; or "keys"
  std::vector<std::string> settings;
  bool area = false;
  std::string svg, json;  // of areas; json "-" is stdout, alone
  std::string ert, art;   // in Accelergy's form
};
int describe(const DescribeArguments& arguments);
int list(const std::string& kind);  // "", "hardware", "networks", "dataflows", "energy"

struct ScheduleArguments {
  std::string hardware = "edge";
  std::string network = "bert-base";
  std::string dataflow;
  std::vector<std::string> settings;  // --set key=value
  std::string tiling;
  std::uint64_t tuning_budget = 0;  // as in RunArguments
  bool no_cache = false;
  std::string firmware;          // an ELF file
  std::uint64_t max_cycles = 0;  // of firmware; 0: the default
  std::uint64_t most = 100000;   // lines, or findings
  std::string json;              // "-" is stdout, alone
};
int schedule(const ScheduleArguments& arguments);
int check(const ScheduleArguments& arguments);  // 1 with findings

// Chosen tilings on disk.
int cache(bool clear, bool list);

struct StreamArguments {
  std::string graph;  // a name under configs/streams, or a path
  std::uint32_t n = 64, d = 1;
  bool causal = false;
  std::uint32_t window = 0, sinks = 0;  // 0: none
  std::vector<std::string> depths;      // --depth CHANNEL=K
  bool unbounded = false;               // all channels not named there
  std::uint64_t seed = 1;
  std::string vcd, dot;
  std::string json;  // "-" is stdout, alone
};
int stream(const StreamArguments& arguments);

struct NewFirmwareArguments {
  std::string folder;
  std::string hardware = "edge";
  std::string name;  // of the dataflow; empty: the folder's
};
int new_firmware(const NewFirmwareArguments& arguments);

struct RiscvArguments {
  std::string program;  // an ELF file
  std::uint64_t most_cycles = 1'000'000'000;
};
int riscv(const RiscvArguments& arguments);

struct ReportArguments {
  std::vector<std::string> runs;  // JSON of run or compare
  std::string output = "report.html";
};
int report(const ReportArguments& arguments);

struct BenchArguments {
  std::string hardware = "edge";
  std::string network = "bert-base";
  double seconds = 1.0;  // per measurement
  std::string against;   // another build of this program, to be measured beside
};
int bench(const BenchArguments& arguments);

}  // namespace attnvp::cli
