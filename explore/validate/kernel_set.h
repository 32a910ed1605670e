// Measured kernels of any kind: rows with the columns net (text of --net) and time_us, and labels in further columns.
//
// The table beside a machine NAME.yaml, NAME.kernels.yml, names the dataflow of each operation kind, and what a label's
// value changes:
//
//     attention: flash2:grid=blocks
//     gemm: gemm-panels:kernels=1
//     norm: {dataflow: rows, set: [dram.l2_warm=1]}
//     labels:
//       variant:
//         no_softmax: {dataflow: chain, set: [vec.lanes=64]}
//       operator:
//         layernorm: {net: ",residual=1"}
//
// Operation kinds are attention, gemm, softmax, norm and elementwise. A kind without entry takes the fastest dataflow.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace attnvp::validate {

struct KernelChoice {
  std::string dataflow;               // empty: not named
  std::vector<std::string> settings;  // key=value
  std::string net;                    // appended to the text of --net
};

struct KernelTable {
  std::map<std::string, KernelChoice> kinds;                          // by operation kind
  std::map<std::string, std::map<std::string, KernelChoice>> labels;  // by column and value
};

// Table beside a machine, a name or a path; empty if there is none. Throws config::ConfigError.
KernelTable load_kernel_table(const std::string& hardware);

// "attention", "gemm", "softmax", "norm" or "elementwise": the kind of a text of --net.
std::string operation_kind(const std::string& net);

}  // namespace attnvp::validate
