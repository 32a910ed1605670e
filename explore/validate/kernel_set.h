// Measured kernels of any kind: rows with the columns net (text of --net) and time_us, and labels in further columns.
//
// The table beside a machine NAME.yaml, NAME.kernels.yml, names the dataflow of each operation kind, and what a label's
// value changes:
//
//     attention: {dataflow: "flash2:grid=blocks", tiling: "nq=128,nkv=64"}
//     gemm: gemm-panels:kernels=1
//     norm: {dataflow: rows, set: [dram.l2_warm=1]}
//     labels:
//       variant:
//         no_softmax: {dataflow: chain, set: [vec.lanes=64]}
//
// Operation kinds are attention, decode (attention of one new token; otherwise as attention), gemm, gemv (a gemm of one
// row; otherwise as gemm), softmax, norm and elementwise. A kind without entry takes the fastest dataflow. A list has
// alternatives, as libraries choose kernels and tiles by sizes: the first one whose `up_to` the layer does not exceed,
// whose `group` it has and whose tiles fit into the machine's memories applies; `fastest: [...]` has alternatives of
// which the fastest does.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "explore/validate/data_set.h"
#include "platform/run/job.h"
#include "platform/run/tiling.h"
#include "platform/workload/workload.h"

namespace attnvp::validate {

struct KernelChoice {
  std::string dataflow;               // empty: not named
  std::string tiling;                 // text of --tiling, for `dataflow`; a tile larger than a row's layer is reduced
  job::Tiling up_to;                  // largest extents of layers that the entry is for: nq, nkv, kd
  bool odd_groups = false;            // only for layers with an odd number of heads of Q for one of K (`group: odd`)
  bool packed = true;                 // a tile of queries may have rows of all heads of a group (`rows: head`: of one)
  std::vector<config::Setting> net;   // of the layer, in place of the row's
  job::Tiling blocks;                 // tokens of a block: a longer side, nq or nkv, is computed in whole blocks
  std::vector<std::string> settings;  // key=value
};

struct KernelChoices {
  std::vector<KernelChoice> all;  // alternatives in order; empty: the fastest dataflow
  bool takes_fastest = false;     // otherwise the first that fits
};

// Time that a server's host adds to a decoding step, during which the GPU idles.
struct HostTime {
  double step_seconds = 0, request_seconds = 0;  // for a step, and for each of its requests
  double idle_share = 1;                         // of standing power, while the GPU idles
};

struct KernelTable {
  std::map<std::string, KernelChoices> kinds;                          // by operation kind
  std::map<std::string, std::map<std::string, KernelChoices>> labels;  // by column and value
  HostTime host;                                                       // key `host`
  KernelChoices of(const workload::Workload& operation) const;         // without alternatives for other extents
};

// Settings of the sides of attention that a kernel with these blocks computes in whole blocks.
std::vector<config::Setting> in_blocks(const workload::Workload& layer, const job::Tiling& blocks);

// Table beside a machine, a name or a path; empty if there is none. Throws config::ConfigError.
KernelTable load_kernel_table(const std::string& hardware);

// Runs an operation on a machine with settings by a choice that names its dataflow or leaves it to the fastest.
// Throws job::RunError if its tiles do not fit.
job::RunResult run_kernel(const std::string& hardware, const std::vector<std::string>& settings,
                          const workload::Workload& operation, const KernelChoice& kernel);
// The choices' first that fits, or the fastest.
job::RunResult run_kernel(const std::string& hardware, const std::vector<std::string>& settings,
                          const workload::Workload& operation, const KernelChoices& kernels);

// Rows that are jobs given by texts of --net, run as the table has it.
class KernelRows : public JobSet {
 protected:
  KernelRows(const DataSetOptions& options, const char* machine);

  struct Prediction {
    job::RunResult result;
    std::string note;  // what was run
  };
  // `otherwise`: where the table has no entry for the kind and none for the row's labels.
  Prediction run(const DataRow& row, const std::string& net, const KernelChoice& otherwise) const;

 private:
  Prediction run(const std::string& net, const DataRow& row, const std::vector<KernelChoice>& choices) const;

  const DataSetOptions options_;
  const std::string hardware_;
  const KernelTable table_;
};

// "attention", "gemm", "gemv", "softmax", "norm" or "elementwise": the kind of a text of --net.
std::string operation_kind(const std::string& net);

}  // namespace attnvp::validate
