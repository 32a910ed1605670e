// A sweep's results: one SQLite file, one row a job, in the columns of columns.h. Whatever the order and the
// interruptions in which they came, equal jobs leave equal rows.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "explore/sweep/columns.h"

namespace SQLite {
class Database;
class Statement;
class Transaction;
}  // namespace SQLite

namespace attnvp::explore {

using Cell = std::variant<std::monostate, std::int64_t, double, std::string>;
using Row = std::vector<Cell>;  // in the order of columns()

// A committed row survives the process, however it ends. Every member throws ConfigError with one sentence: no such
// file, not a database, of another version, not writable, disk full, in use.
class Database {
 public:
  enum class Mode : std::uint8_t { kRead, kWrite };  // kWrite makes it where there is none
  Database(const std::string& path, Mode mode);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Of the simulator that the rows come from; of this one for a new database.
  const std::string& simulator() const { return simulator_; }
  void require_this_simulator() const;
  void adopt_simulator(const std::string& simulator);  // of an empty database that takes rows from elsewhere

  // The sweeps whose jobs are here, by what they are (Plan::identity), each with its name.
  const std::map<std::string, std::string>& sweeps() const { return sweeps_; }
  void add_sweeps(const std::map<std::string, std::string>& sweeps);

  // Columns that a sweep varies on purpose, in the order of columns(); of keys that move together the first.
  const std::vector<std::string>& axes() const { return axes_; }
  void add_axes(const std::vector<std::string>& names);

  // Jobs that are done or failed, by key; why, of those that failed.
  std::map<std::string, std::string> finished();
  std::uint64_t count();
  // By key. Each is held against the checksum that was stored with it.
  std::vector<Row> rows();
  void for_each_row(const std::function<void(Row)>& take);

  // Stored rows count once they are committed; the destructor drops what is not.
  void begin();
  void store(const Row& row);  // in place of one of the same key
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

// On the way out of a failure, removes a database that was not there before and that holds no row.
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
