#include "explore/sweep/database.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <filesystem>
#include <utility>

#include "explore/sweep/plan.h"
#include "platform/config/error.h"

namespace attnvp::explore {

namespace {

constexpr int kApplicationId = 0x41565053;  // "AVPS"
constexpr int kSchema = 2;
constexpr int kPatienceMilliseconds = 10000;  // for another process's commit

std::string in_sql(const std::string& name) { return '"' + name + '"'; }

std::string column_list() {
  std::string list;
  for (const Column& c : columns()) list += (list.empty() ? "" : ", ") + in_sql(c.name);
  return list;
}

// What SQLite says, where it says too little.
std::string reason(const SQLite::Exception& e) {
  switch (e.getErrorCode()) {
    case SQLITE_FULL:
      return "no space left on device";
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return "it is read-only";
    case SQLITE_CANTOPEN:
      return "the file cannot be opened";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another process is using it";
    case SQLITE_IOERR:
      return "the disk or its file system failed, or a limit on file sizes was reached";
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return "it is no database, or a damaged one";
    default:
      return e.getErrorStr();
  }
}

Cell cell_of(const SQLite::Column& column) {
  if (column.isInteger()) return static_cast<std::int64_t>(column.getInt64());
  if (column.isFloat()) return column.getDouble();
  if (column.isText()) return column.getString();
  return {};
}

}  // namespace

template <class Action>
auto Database::guarded(const char* what, Action action) {
  try {
    return action();
  } catch (const SQLite::Exception& e) {
    throw config::ConfigError(fmt::format("{}: cannot be {}: {}", path_, what, reason(e)));
  }
}

Database::Database(const std::string& path, Mode mode) : path_(path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (mode == Mode::kRead && !std::filesystem::exists(status)) {
    throw config::ConfigError(fmt::format("{}: no such file; attnvp sweep makes one", path));
  }
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw config::ConfigError(fmt::format("{}: is not a regular file", path));
  }
  guarded(mode == Mode::kRead ? "read" : "written", [&] {
    // For writing in any case: what a killed process left half done is rolled back by who comes next.
    db_ = std::make_unique<SQLite::Database>(
        path, SQLite::OPEN_READWRITE | (mode == Mode::kWrite ? SQLite::OPEN_CREATE : 0), kPatienceMilliseconds);
    if (mode == Mode::kWrite && db_->execAndGet("SELECT count(*) FROM sqlite_schema").getInt() == 0) create();
    check();
    if (mode == Mode::kWrite) {
      std::string marks;
      for (std::size_t i = 0; i < columns().size(); ++i) marks += i == 0 ? "?" : ", ?";
      insert_ = std::make_unique<SQLite::Statement>(
          *db_, fmt::format("INSERT OR REPLACE INTO jobs ({}) VALUES ({})", column_list(), marks));
      // A disk or a folder that cannot be written should not cost a job.
      db_->exec("BEGIN IMMEDIATE; UPDATE meta SET value = value; COMMIT");
    }
  });
}

Database::~Database() = default;

void Database::create() {
  SQLite::Transaction transaction(*db_);
  db_->exec(fmt::format("PRAGMA application_id = {}", kApplicationId));
  db_->exec(fmt::format("PRAGMA user_version = {}", kSchema));
  std::string list;
  for (const Column& c : columns()) {
    list += fmt::format("{}{} {}{}", list.empty() ? "" : ", ", in_sql(c.name), c.sql_type,
                        c.role == Role::kKey ? " PRIMARY KEY NOT NULL" : "");
  }
  db_->exec("CREATE TABLE jobs (" + list + ") WITHOUT ROWID");
  db_->exec("CREATE TABLE meta (name TEXT PRIMARY KEY NOT NULL, value TEXT) WITHOUT ROWID");
  SQLite::Statement insert(*db_, "INSERT INTO meta VALUES ('simulator', ?)");
  insert.bind(1, simulator_fingerprint());
  insert.exec();
  transaction.commit();
}

void Database::check() {
  const auto refuse = [this](const std::string& why) { throw config::ConfigError(fmt::format("{}: {}", path_, why)); };
  if (db_->execAndGet("PRAGMA application_id").getInt() != kApplicationId) refuse("is no database of attnvp sweep");
  const int schema = db_->execAndGet("PRAGMA user_version").getInt();
  if (schema != kSchema) {
    refuse(fmt::format("has schema version {}; this attnvp reads version {}; nothing was changed", schema, kSchema));
  }
  SQLite::Statement info(*db_, "SELECT name FROM pragma_table_info('jobs')");
  std::vector<std::string> names;
  while (info.executeStep()) names.push_back(info.getColumn(0).getString());
  for (std::size_t i = 0; i < std::max(names.size(), columns().size()); ++i) {
    const std::string found = i < names.size() ? names[i] : "";
    const std::string wanted = i < columns().size() ? columns()[i].name : "";
    if (found == wanted) continue;
    refuse(fmt::format("was made by an attnvp with other columns ({} where this one has {}); nothing was changed",
                       found.empty() ? "none" : "'" + found + "'", wanted.empty() ? "none" : "'" + wanted + "'"));
  }
  simulator_ = db_->execAndGet("SELECT value FROM meta WHERE name = 'simulator'").getString();
}

void Database::require_this_simulator() const {
  if (simulator_ == simulator_fingerprint()) return;
  throw config::ConfigError(
      fmt::format("{}: holds results of another version of the simulator ({}, this one is {}), which would not "
                  "compare; choose another file with --db",
                  path_, simulator_, simulator_fingerprint()));
}

void Database::adopt_simulator(const std::string& simulator) {
  guarded("written", [&] {
    SQLite::Statement update(*db_, "UPDATE meta SET value = ? WHERE name = 'simulator'");
    update.bind(1, simulator);
    update.exec();
  });
  simulator_ = simulator;
}

std::vector<std::string> Database::axes() {
  return guarded("read", [&] {
    std::vector<std::string> names;
    for (const Column& c : columns()) {
      SQLite::Statement query(*db_, "SELECT 1 FROM meta WHERE name = ?");
      query.bind(1, "axis " + c.name);
      if (query.executeStep()) names.push_back(c.name);
    }
    return names;
  });
}

void Database::add_axes(const std::vector<std::string>& names) {
  guarded("written", [&] {
    for (const std::string& name : names) {
      SQLite::Statement insert(*db_, "INSERT OR IGNORE INTO meta VALUES (?, NULL)");
      insert.bind(1, "axis " + name);
      insert.exec();
    }
  });
}

std::set<std::string> Database::finished_keys() {
  return guarded("read", [&] {
    std::set<std::string> keys;
    SQLite::Statement query(*db_, "SELECT key FROM jobs WHERE status <> ?");
    query.bind(1, kCrashed);
    while (query.executeStep()) keys.insert(query.getColumn(0).getString());
    return keys;
  });
}

std::uint64_t Database::count() {
  return guarded("read",
                 [&] { return static_cast<std::uint64_t>(db_->execAndGet("SELECT count(*) FROM jobs").getInt64()); });
}

std::vector<Row> Database::rows() {
  return guarded("read", [&] {
    std::vector<Row> rows;
    SQLite::Statement query(*db_, fmt::format("SELECT {} FROM jobs ORDER BY key", column_list()));
    while (query.executeStep()) {
      Row row;
      for (int i = 0; i < query.getColumnCount(); ++i) row.push_back(cell_of(query.getColumn(i)));
      rows.push_back(std::move(row));
    }
    return rows;
  });
}

void Database::begin() {
  guarded("written", [&] { transaction_ = std::make_unique<SQLite::Transaction>(*db_); });
}

void Database::store(const Row& row) {
  guarded("written", [&] {
    insert_->reset();
    insert_->clearBindings();
    for (std::size_t i = 0; i < row.size(); ++i) {
      const int index = static_cast<int>(i) + 1;
      if (const auto* whole = std::get_if<std::int64_t>(&row[i])) insert_->bind(index, *whole);
      if (const auto* real = std::get_if<double>(&row[i])) insert_->bind(index, *real);
      if (const auto* text = std::get_if<std::string>(&row[i])) insert_->bind(index, *text);
    }
    insert_->exec();
  });
}

void Database::commit() {
  guarded("written", [&] {
    transaction_->commit();
    transaction_.reset();
  });
}

}  // namespace attnvp::explore
