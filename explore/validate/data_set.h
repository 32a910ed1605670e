// Data set of published measurements: a file format, identified by its columns, and the prediction of its rows by this
// platform. A new format needs a DataSet, a factory here and an entry in kinds().
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "platform/machine/document.h"
#include "platform/machine/energy.h"
#include "platform/run/job.h"
#include "platform/run/schedule.h"
#include "platform/workload/workload.h"

namespace attnvp::validate {

// Settings of a data set beyond its file.
struct DataSetOptions {
  std::string hardware;               // --hw; empty: the default of the data set
  std::string network;                // --net: shape parameters without a column; empty: the default of the data set
  std::vector<std::string> settings;  // --set key=value
  std::string dataflow = {};          // --dataflow, for measured kernels; empty: what the machine's table names
};

// One line of the file; columns are accessed by name, in any order.
class DataRow {
 public:
  DataRow(const std::vector<std::string>& columns, const config::CsvLine& line, std::uint64_t number)
      : columns_(&columns), line_(&line), number_(number) {}

  std::uint64_t number() const { return number_; }  // from 1; comments and the header are not counted
  const config::Origin& origin() const { return line_->origin; }
  const std::string& text(const char* column) const { return line_->cells[index(column)]; }
  bool has(const std::string& column) const {
    return std::find(columns_->begin(), columns_->end(), column) != columns_->end();
  }
  bool empty(const char* column) const { return text(column).empty(); }
  // The following throw config::ConfigError with file and line.
  double positive(const char* column) const { return config::positive_number(*line_, index(column)); }
  double from_zero(const char* column) const { return config::number_from_zero(*line_, index(column)); }
  std::uint64_t whole(const char* column) const;  // 0 to 2^53
  bool flag(const char* column) const;            // 0 or 1

 private:
  std::size_t index(const char* column) const;  // for a column of the set's kind

  const std::vector<std::string>* columns_;
  const config::CsvLine* line_;
  std::uint64_t number_;
};

// A measured value, above 0, and its prediction.
struct MeasuredPoint {
  std::string what;  // name of the value ("read energy"); empty if a row has only one
  double measured = 0, predicted = 0;
  std::string unit;
  std::string note;          // short explanation of the prediction, such as where the time went; may be empty
  double low = 0, high = 0;  // range of the prediction; 0: none
  std::string series = {};   // a further result of the row, with errors of its own; empty: the set's result
};

class DataSet {
 public:
  virtual ~DataSet() = default;
  virtual std::string hardware() const = 0;  // machine or components that the predictions are for
  // Predicts all values of a row, in a fixed order. Each row is predicted in its own process. Throws
  // config::ConfigError (at row.origin()) and job::RunError.
  virtual std::vector<MeasuredPoint> predict(const DataRow& row) = 0;
};

struct DataSetKind {
  std::string name, description;
  std::vector<std::string> columns;  // identify a file of this kind; additional columns are allowed
  std::function<std::unique_ptr<DataSet>(const DataSetOptions&)> make;
  std::string limits = {};              // for the page: calibrated and unmodelled effects, and the range of validity
  std::vector<std::string> group = {};  // columns: rows with equal values in them form a group
};

DataSetKind attention_kind();
DataSetKind chain_kind();
DataSetKind course_kind();
DataSetKind decode_kind();
DataSetKind dram_kind();
DataSetKind flash_kind();
DataSetKind kernel_kind();
DataSetKind power_kind();
DataSetKind sram_kind();
DataSetKind step_kind();
// All kinds. A file is of the first kind whose columns it has.
const std::vector<DataSetKind>& kinds();

// Base of data sets whose rows are jobs: a machine, and runs in timing mode.
class JobSet : public DataSet {
 public:
  JobSet(const DataSetOptions& options, const char* machine);
  std::string hardware() const override { return machine_.name; }

 protected:
  using TileValues = std::vector<std::pair<const char*, std::uint32_t>>;
  // Errors are reported at the row.
  static workload::Workload layer_of(const DataRow& row, const std::string& text);
  job::RunResult run(const MachineConfig& machine, const workload::Workload& layer, const std::string& dataflow,
                     const TileValues& tiling) const;
  static std::string note(const job::RunResult& result);  // where the time went

  MachineConfig machine_;
  config::EnergyTable energy_;
};

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

constexpr double kAnyTime = std::numeric_limits<double>::infinity();  // in place of a limit

// Runs operations on a machine with settings. The platforms of the latest few settings are kept for further operations:
// elaborating the clusters of a GPU takes longer than many kernels.
class KernelRunner {
 public:
  explicit KernelRunner(std::string hardware);
  ~KernelRunner();

  // By a choice that names its dataflow or leaves it to the fastest. Throws job::RunError if its tiles do not fit. If
  // its commands alone need more than `most_seconds`, it is not run and throws, too.
  job::RunResult run(const std::vector<std::string>& settings, const workload::Workload& operation,
                     const KernelChoice& kernel, double most_seconds = kAnyTime);
  // The choices' first that fits, or the fastest.
  job::RunResult run(const std::vector<std::string>& settings, const workload::Workload& operation,
                     const KernelChoices& kernels);

 private:
  struct Kept;
  Kept& platform_of(const std::vector<std::string>& settings);  // is then the first of kept_

  const std::string hardware_;
  std::vector<std::unique_ptr<Kept>> kept_;  // latest first
};

// Rows that are jobs given by texts of --net, run as the table has it.
class KernelRows : public JobSet {
 protected:
  KernelRows(const DataSetOptions& options, const char* machine);

  struct Prediction {
    job::RunResult result;
    std::string note;  // what was run
  };
  // `otherwise`: where the table has no entry for the kind and none for the row's labels.
  Prediction run(const DataRow& row, const std::string& net, const KernelChoice& otherwise);

 private:
  Prediction run(const std::string& net, const DataRow& row, const std::vector<KernelChoice>& choices,
                 double most_seconds);

  const DataSetOptions options_;
  const std::string hardware_;
  const KernelTable table_;
  KernelRunner runner_;
};

// "attention", "gemm", "gemv", "softmax", "norm" or "elementwise": the kind of a text of --net.
std::string operation_kind(const std::string& net);

}  // namespace attnvp::validate
