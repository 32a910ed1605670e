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
// Operation kinds are attention, gemm, gemv (a gemm of one row; otherwise as gemm), softmax, norm and elementwise. A
// kind without entry takes the fastest dataflow. A list has alternatives, as libraries choose kernels and tiles by
// sizes: the first one whose `up_to` the layer does not exceed and whose tiles fit into the machine's memories applies.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "explore/validate/data_set.h"
#include "platform/run/tiling.h"

namespace attnvp::validate {

struct KernelChoice {
  std::string dataflow;               // empty: not named
  std::string tiling;                 // text of --tiling, for `dataflow`; a tile larger than a row's layer is reduced
  job::Tiling up_to;                  // largest extents of layers that the entry is for: nq, nkv, kd
  bool packed = true;                 // a tile of queries may have rows of all heads of a group (`rows: head`: of one)
  std::vector<config::Setting> net;   // of the layer, in place of the row's
  std::vector<std::string> settings;  // key=value
};

struct KernelTable {
  using Alternatives = std::vector<KernelChoice>;                     // in order
  std::map<std::string, Alternatives> kinds;                          // by operation kind
  std::map<std::string, std::map<std::string, Alternatives>> labels;  // by column and value
  std::string kind_of(const std::string& net) const;                  // the kind whose entry applies to a text of --net
};

// Table beside a machine, a name or a path; empty if there is none. Throws config::ConfigError.
KernelTable load_kernel_table(const std::string& hardware);

// Rows that are jobs given by texts of --net, run as the table has it.
class KernelRows : public JobSet {
 protected:
  KernelRows(const Options& options, const char* machine);

  struct Prediction {
    job::RunResult result;
    std::string note;  // what was run
  };
  // `otherwise`: where the table has no entry for the kind and none for the row's labels.
  Prediction run(const Row& row, const std::string& net, const KernelChoice& otherwise) const;

 private:
  Prediction run(const std::string& net, const Row& row, const std::vector<const KernelChoice*>& choices) const;

  const Options options_;
  const std::string hardware_;
  const KernelTable table_;
};

// "attention", "gemm", "gemv", "softmax", "norm" or "elementwise": the kind of a text of --net.
std::string operation_kind(const std::string& net);

}  // namespace attnvp::validate
