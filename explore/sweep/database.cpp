#include "explore/sweep/database.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <exception>
#include <filesystem>
#include <utility>

#include "explore/sweep/plan.h"
#include "explore/tuning/cache.h"
#include "platform/base/files.h"
#include "platform/base/origin.h"
#include "platform/machine/error.h"
#include "platform/machine/hardware.h"
#include "platform/machine/words.h"

namespace attnvp::explore {

namespace {

constexpr int kApplicationId = 0x41565053;  // "AVPS"
constexpr int kSchema = 3;
constexpr const char* kChecksum = "checksum";  // column after columns()
constexpr int kPatienceMilliseconds = 10000;   // timeout for another process's commit

std::string in_sql(const std::string& name) { return '"' + name + '"'; }

std::string column_list() {
  std::string list;
  for (const Column& c : columns()) list += (list.empty() ? "" : ", ") + in_sql(c.name);
  return list;
}

// Replaces SQLite's text for some errors.
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
      return "not a database, or a damaged one";
    default:
      return e.getErrorStr();
  }
}

// FNV-1a over kinds, lengths and bytes: detects every single changed byte.
std::int64_t checksum_of(const SqlRow& row) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&hash](const void* data, std::size_t bytes) {
    const auto* at = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ at[i]) * 0x100000001b3;
  };
  for (const SqlValue& cell : row) {
    const std::uint64_t kind = cell.index();
    add(&kind, sizeof kind);
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) add(whole, sizeof *whole);
    if (const auto* real = std::get_if<double>(&cell)) add(real, sizeof *real);
    if (const auto* text = std::get_if<std::string>(&cell)) {
      const std::uint64_t bytes = text->size();
      add(&bytes, sizeof bytes);
      add(text->data(), text->size());
    }
  }
  return static_cast<std::int64_t>(hash);
}

void bind(SQLite::Statement& statement, int index, const SqlValue& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) statement.bind(index, *whole);
  if (const auto* real = std::get_if<double>(&cell)) statement.bind(index, *real);
  if (const auto* text = std::get_if<std::string>(&cell)) statement.bind(index, *text);
}

SqlValue cell_of(const SQLite::Column& column) {
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
  files::note_input(path);
  guarded(mode == Mode::kRead ? "read" : "written", [&] {
    // Opened for writing in any mode, to roll back an incomplete transaction of a killed process.
    db_ = std::make_unique<SQLite::Database>(
        path, SQLite::OPEN_READWRITE | (mode == Mode::kWrite ? SQLite::OPEN_CREATE : 0), kPatienceMilliseconds);
    if (mode == Mode::kWrite && db_->execAndGet("SELECT count(*) FROM sqlite_schema").getInt() == 0) create();
    check();
    if (mode == Mode::kWrite) check_rows_stay();
    read_meta();
    if (mode == Mode::kWrite) {
      std::string marks;
      for (std::size_t i = 0; i < columns().size(); ++i) marks += "?, ";
      insert_ = std::make_unique<SQLite::Statement>(
          *db_, fmt::format("INSERT OR REPLACE INTO jobs ({}, {}) VALUES ({}?)", column_list(), kChecksum, marks));
      // Detects an unwritable disk or folder before jobs are run.
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
                        c.role == ColumnRole::kKey ? " PRIMARY KEY NOT NULL" : "");
  }
  db_->exec(fmt::format("CREATE TABLE jobs ({}, {} INTEGER NOT NULL) WITHOUT ROWID", list, kChecksum));
  db_->exec("CREATE TABLE meta (name TEXT PRIMARY KEY NOT NULL, value TEXT) WITHOUT ROWID");
  SQLite::Statement insert(*db_, "INSERT INTO meta VALUES ('simulator', ?)");
  insert.bind(1, explore::simulator_fingerprint());
  insert.exec();
  SQLite::Statement version(*db_, "INSERT INTO meta VALUES ('version', ?)");  // of the program that created the file
  version.bind(1, text::version());
  version.exec();
  transaction.commit();
}

void Database::check() {
  const auto refuse = [this](const std::string& why) { throw config::ConfigError(fmt::format("{}: {}", path_, why)); };
  if (db_->execAndGet("PRAGMA application_id").getInt() != kApplicationId) refuse("not a database of attnvp sweep");
  const int schema = db_->execAndGet("PRAGMA user_version").getInt();
  if (schema != kSchema) {
    refuse(fmt::format("has schema version {}; this attnvp reads version {}; nothing was changed", schema, kSchema));
  }
  SQLite::Statement info(*db_, "SELECT name FROM pragma_table_info('jobs')");
  std::vector<std::string> names;
  while (info.executeStep()) names.push_back(info.getColumn(0).getString());
  if (!names.empty() && names.back() == kChecksum) names.pop_back();
  for (std::size_t i = 0; i < std::max(names.size(), columns().size()); ++i) {
    const std::string found = i < names.size() ? names[i] : "";
    const std::string wanted = i < columns().size() ? columns()[i].name : "";
    if (found == wanted) continue;
    refuse(fmt::format("was made by an attnvp with other columns ({} where this one has {}); nothing was changed",
                       found.empty() ? "none" : "'" + found + "'", wanted.empty() ? "none" : "'" + wanted + "'"));
  }
}

// Refuses objects that could change or drop rows: triggers, unique indexes, and views in place of tables.
void Database::check_rows_stay() {
  const auto refuse = [this](const char* kind, const std::string& name) {
    config::fail({path_}, fmt::format("holds the {} {}, which may change rows as they are stored; nothing was changed, "
                                      "allowed are attnvp's own tables",
                                      kind, config::in_quotes(name)));
  };
  SQLite::Statement objects(*db_,
                            "SELECT type, name FROM sqlite_schema WHERE type = 'trigger' OR (type = 'view' AND "
                            "lower(name) IN ('jobs', 'meta')) ORDER BY name");
  if (objects.executeStep()) {
    refuse(objects.getColumn(0).getString() == "view" ? "view" : "trigger", objects.getColumn(1).getString());
  }
  for (const char* table : {"jobs", "meta"}) {
    SQLite::Statement indexes(*db_, "SELECT name FROM pragma_index_list(?) WHERE \"unique\" AND origin <> 'pk'");
    indexes.bind(1, table);
    if (indexes.executeStep()) refuse("unique index", indexes.getColumn(0).getString());
  }
}

// Accepts only entries written by create(), add_axes() and add_sweeps().
void Database::read_meta() {
  std::set<std::string> axes;
  SQLite::Statement query(*db_, "SELECT name, value FROM meta ORDER BY name");
  while (query.executeStep()) {
    const std::string name = query.getColumn(0).getString();
    const std::string value = query.getColumn(1).isNull() ? std::string() : query.getColumn(1).getString();
    if (name == "version") continue;
    if (name == "simulator") {
      simulator_ = value;
    } else if (name.rfind("axis ", 0) == 0 &&  // keys of single cores have no column
               (find_column(name.substr(5)) != nullptr || config::find_key(name.substr(5)) != nullptr)) {
      axes.insert(name.substr(5));
    } else if (name.rfind("sweep ", 0) == 0) {
      sweeps_[name.substr(6)] = value;
    } else {
      config::fail({path_}, fmt::format("is damaged: it says {} of itself", config::in_quotes(name)));
    }
  }
  for (const Column& c : columns()) {
    if (axes.count(c.name) != 0) axes_.push_back(c.name);
  }
}

void Database::require_this_simulator() const {
  if (simulator_ == explore::simulator_fingerprint()) return;
  throw config::ConfigError(
      fmt::format("{}: holds results of another version of the simulator ({}, this one is {}), which would not "
                  "compare; choose another file with --db",
                  path_, simulator_, explore::simulator_fingerprint()));
}

void Database::adopt_simulator(const std::string& simulator) {
  guarded("written", [&] {
    SQLite::Statement update(*db_, "UPDATE meta SET value = ? WHERE name = 'simulator'");
    update.bind(1, simulator);
    update.exec();
  });
  simulator_ = simulator;
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

void Database::add_sweeps(const std::map<std::string, std::string>& sweeps) {
  guarded("written", [&] {
    for (const auto& [identity, name] : sweeps) {
      SQLite::Statement insert(*db_, "INSERT OR REPLACE INTO meta VALUES (?, ?)");
      insert.bind(1, "sweep " + identity);
      insert.bind(2, name);
      insert.exec();
    }
  });
  sweeps_.insert(sweeps.begin(), sweeps.end());
}

std::map<std::string, std::string> Database::finished() {
  const std::size_t key = column_index("key"), status = column_index("status"), error = column_index("error");
  std::map<std::string, std::string> jobs;
  for_each_row([&](const SqlRow& row) {
    if (row[status] == SqlValue(kCrashed)) return;
    const auto* why = std::get_if<std::string>(&row[error]);
    jobs.emplace(std::get<std::string>(row[key]), why != nullptr ? *why : "");
  });
  return jobs;
}

std::uint64_t Database::count() {
  return guarded("read",
                 [&] { return static_cast<std::uint64_t>(db_->execAndGet("SELECT count(*) FROM jobs").getInt64()); });
}

void Database::for_each_row(const std::function<void(SqlRow)>& take) {
  guarded("read", [&] {
    SQLite::Statement query(*db_, fmt::format("SELECT {}, {} FROM jobs ORDER BY key", column_list(), kChecksum));
    const int columns = query.getColumnCount() - 1;
    while (query.executeStep()) {
      SqlRow row;
      for (int i = 0; i < columns; ++i) row.push_back(cell_of(query.getColumn(i)));
      if (cell_of(query.getColumn(columns)) != SqlValue(checksum_of(row))) {
        config::fail({path_}, fmt::format("the row of job {} is damaged: its values do not match its checksum",
                                          config::in_quotes(query.getColumn(0).getString())));
      }
      take(std::move(row));
    }
  });
}

std::vector<SqlRow> Database::rows() {
  std::vector<SqlRow> rows;
  for_each_row([&](SqlRow row) { rows.push_back(std::move(row)); });
  return rows;
}

void Database::begin() {
  guarded("written", [&] { transaction_ = std::make_unique<SQLite::Transaction>(*db_); });
}

void Database::store(const SqlRow& row) {
  guarded("written", [&] {
    insert_->reset();
    insert_->clearBindings();
    int index = 0;
    for (const SqlValue& cell : row) bind(*insert_, ++index, cell);
    bind(*insert_, ++index, checksum_of(row));
    insert_->exec();
  });
}

void Database::commit() {
  guarded("written", [&] {
    transaction_->commit();
    transaction_.reset();
  });
}

NoEmptyDatabase::NoEmptyDatabase(std::string path)
    : path_(std::move(path)), was_there_(std::filesystem::exists(path_)), failures_(std::uncaught_exceptions()) {}

NoEmptyDatabase::~NoEmptyDatabase() {
  if (was_there_ || std::uncaught_exceptions() == failures_) return;
  bool empty = false;
  try {
    SQLite::Database db(path_, SQLite::OPEN_READWRITE);
    const bool made = db.execAndGet("SELECT count(*) FROM sqlite_schema").getInt() > 0;
    empty = !made || db.execAndGet("SELECT count(*) FROM jobs").getInt64() == 0;
  } catch (const SQLite::Exception&) {
    return;  // possibly in use by another process
  }
  std::error_code ignored;
  if (empty) std::filesystem::remove(path_, ignored);
}

}  // namespace attnvp::explore
