// A set of measurements by others is a kind of file, known by its columns, and how this platform predicts its rows. A
// new one is a DataSet with a factory here and a line in kinds().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "platform/config/csv.h"
#include "platform/config/energy.h"
#include "platform/config/network.h"
#include "platform/job/job.h"

namespace attnvp::validate {

// What a set may be told beyond its file.
struct Options {
  std::string hardware;               // --hw; empty: the set's own
  std::string network;                // --net: what of the shape is not in the columns; empty: the set's own
  std::vector<std::string> settings;  // --set key=value
};

// One line of the file; columns by name, wherever they stand.
class Row {
 public:
  Row(const std::vector<std::string>& columns, const config::CsvLine& line, std::uint64_t number)
      : columns_(&columns), line_(&line), number_(number) {}

  std::uint64_t number() const { return number_; }  // from 1; comments and the line of names are not counted
  const config::Origin& origin() const { return line_->origin; }
  const std::string& text(const char* column) const { return line_->cells[index(column)]; }
  bool empty(const char* column) const { return text(column).empty(); }
  // These throw config::ConfigError with file and line.
  double positive(const char* column) const { return config::positive_number(*line_, index(column)); }
  double from_zero(const char* column) const { return config::number_from_zero(*line_, index(column)); }
  std::uint64_t whole(const char* column) const;  // 0 to 2^53
  bool flag(const char* column) const;            // 0 or 1

 private:
  std::size_t index(const char* column) const;  // of one that the set's kind names

  const std::vector<std::string>* columns_;
  const config::CsvLine* line_;
  std::uint64_t number_;
};

// One measured figure, above 0, and its prediction.
struct Point {
  std::string what;  // which figure of the row ("read energy"); empty where a row has one only
  double measured = 0, predicted = 0;
  std::string unit;
  std::string note;  // why it is so, in a few words: where the time went; may be empty
};

class DataSet {
 public:
  virtual ~DataSet() = default;
  virtual std::string hardware() const = 0;  // the machine, or the parts, that the predictions are for
  // All figures of a row, in a fixed order. Called in processes of their own: one row does not see another. Throws
  // config::ConfigError (at row.origin()) and job::RunError.
  virtual std::vector<Point> predict(const Row& row) = 0;
};

struct Kind {
  std::string name, description;
  std::vector<std::string> columns;  // that make a file one of this kind; further ones may stand beside them
  std::function<std::unique_ptr<DataSet>(const Options&)> make;
  std::string limits = {};              // for the page: what is calibrated, what is not modelled, where not to trust it
  std::vector<std::string> group = {};  // columns: rows that agree in them are of one group
};

Kind attention_kind();
Kind chain_kind();
Kind dram_kind();
Kind flash_kind();
Kind sram_kind();
Kind step_kind();
// All kinds there are; the first whose columns a file has is its kind.
const std::vector<Kind>& kinds();

// What sets share whose rows are jobs of this platform: a machine, and a run in timing mode.
class JobSet : public DataSet {
 public:
  JobSet(const Options& options, const char* machine);
  std::string hardware() const override { return machine_.name; }

 protected:
  using Tiling = std::vector<std::pair<const char*, std::uint32_t>>;
  // A mistake is told at the row.
  static config::Network layer_of(const Row& row, const std::string& text);
  job::Result run(const MachineConfig& machine, const config::Network& layer, const std::string& dataflow,
                  const Tiling& tiling) const;
  static std::string note(const job::Result& result);  // where the time went

  MachineConfig machine_;
  config::EnergyTable energy_;
};

}  // namespace attnvp::validate
