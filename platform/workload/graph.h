// Graph of operations from a file: tensors, and operations with their texts of `--net`, which run one after the other
// in the order of the file. The form is in docs/reference/file-formats.md, "Graph file".
#pragma once

#include <string>
#include <vector>

#include "platform/machine/document.h"
#include "platform/workload/layers.h"

namespace attnvp::workload {

// Operation that the file's writer could not express; it is not run.
struct UnsupportedOperation {
  std::string name, operation;
  double share_of_macs = 0;  // of the multiply-accumulates of the graph, 0 to 1
};

struct OperationGraph {
  std::string name;
  std::vector<LayerOperation> operations;
  std::vector<UnsupportedOperation> unsupported;
};

// True if the file's root has the key GRAPH.
bool is_graph(const config::Document& document);

// Throws ConfigError with file and line: unknown keys, tensors or operations; an operation that reads a tensor before
// it is written; a tensor that is written twice; a tensor whose elements differ from those of the operation.
OperationGraph read_graph(const config::Document& document, const std::string& default_name);

}  // namespace attnvp::workload
