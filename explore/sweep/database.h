// Database of a sweep's results: one SQLite file, one row per job, with the columns declared here. Rows of equal jobs
// are equal, independent of order and interruptions.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "platform/base/expression/expression.h"
#include "platform/machine/schema.h"

namespace attnvp::explore {

// Columns of a sweep's table: inputs of a job, its status, and every number of its report (results).

using expression::Dimension;
using expression::dimension_of;
using expression::Expression;
using expression::Quantity;
using expression::QuantityKind;
using expression::shown;
using expression::Symbols;
using expression::Values;

enum class ColumnRole : std::uint8_t { kKey, kInput, kStatus, kResult };

struct Column {
  std::string name;  // "l1.size"; for results the path in the JSON report: "energy_pj.total"
  ColumnRole role = ColumnRole::kResult;
  const char* sql_type = "INTEGER";      // or "REAL", "TEXT"
  Dimension dimension;                   // of a number, in base units
  const config::KeyInfo* key = nullptr;  // key of the machine; defines how values are formatted
  std::string meaning;

  bool is_text() const { return *sql_type == 'T'; }
};

// All columns, in storage order.
const std::vector<Column>& columns();
// Throws std::out_of_range.
std::size_t column_index(const std::string& name);
const Column* find_column(const std::string& name);

// Variables of a sweep's constraints: the inputs.
const Symbols& input_symbols();
// Variables of queries on rows: inputs and results.
const Symbols& row_symbols();

// "done": has results. "failed": machine or firmware does not support the job; `error` has the reason. "crashed": the
// simulator died (out of memory, signal); the next run repeats the job.
inline constexpr const char* kDone = "done";
inline constexpr const char* kFailed = "failed";
inline constexpr const char* kCrashed = "crashed";

}  // namespace attnvp::explore

namespace SQLite {
class Database;
class Statement;
class Transaction;
}  // namespace SQLite

namespace attnvp::explore {

using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string>;
using SqlRow = std::vector<SqlValue>;  // in the order of columns()

// Committed rows survive any end of the process. Every member throws ConfigError with one sentence: no such file, not a
// database, other version, not writable, disk full, in use.
class Database {
 public:
  enum class Mode : std::uint8_t { kRead, kWrite };  // kWrite creates a missing file
  Database(const std::string& path, Mode mode);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Simulator version of the rows; for a new database this simulator.
  const std::string& simulator() const { return simulator_; }
  void require_this_simulator() const;
  void adopt_simulator(const std::string& simulator);  // for an empty database that receives rows from another one

  // Sweeps whose jobs are stored: SweepPlan::identity and name.
  const std::map<std::string, std::string>& sweeps() const { return sweeps_; }
  void add_sweeps(const std::map<std::string, std::string>& sweeps);

  // Columns that a sweep varies, in the order of columns(); of coupled keys only the first.
  const std::vector<std::string>& axes() const { return axes_; }
  void add_axes(const std::vector<std::string>& names);

  // Keys of jobs that are done or failed; the value is the reason of a failure.
  std::map<std::string, std::string> finished();
  std::uint64_t count();
  // Rows by key. Each is verified against its stored checksum.
  std::vector<SqlRow> rows();
  void for_each_row(const std::function<void(SqlRow)>& take);

  // Rows are stored in a transaction; the destructor rolls back uncommitted ones.
  void begin();
  void store(const SqlRow& row);  // replaces a row with the same key
  void commit();

 private:
  template <class Action>
  auto guarded(const char* what, Action action);
  void create();
  void check();
  void check_rows_stay();
  void read_meta();

  std::string path_;
  std::string simulator_;
  std::vector<std::string> axes_;
  std::map<std::string, std::string> sweeps_;
  std::unique_ptr<SQLite::Database> db_;
  std::unique_ptr<SQLite::Statement> insert_;
  std::unique_ptr<SQLite::Transaction> transaction_;
};

// Scope guard: on an exception, removes a database that was created in this scope and has no rows.
class NoEmptyDatabase {
 public:
  explicit NoEmptyDatabase(std::string path);
  ~NoEmptyDatabase();
  NoEmptyDatabase(const NoEmptyDatabase&) = delete;
  NoEmptyDatabase& operator=(const NoEmptyDatabase&) = delete;

 private:
  std::string path_;
  bool was_there_;
  int failures_;
};

}  // namespace attnvp::explore
