#include "explore/tuning/cache.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/VariadicBind.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>

#include "models/control/config.h"
#include "models/registry.h"
#include "platform/base/files.h"
#include "platform/base/text.h"
#include "platform/machine/hardware.h"
#include "platform/schedule/programs.h"
#include "simulator_fingerprint.h"

namespace attnvp::explore {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostBytes = 1ULL << 30;  // of a file that the key covers
constexpr int kPatienceMilliseconds = 2000;       // timeout for another process's commit
constexpr const char* kTable =
    "CREATE TABLE IF NOT EXISTS tilings (key TEXT PRIMARY KEY, machine TEXT, network TEXT, dataflow TEXT, "
    "tiling TEXT, cycles INTEGER)";

std::string file_hash(const std::string& path) {
  return path.empty() ? std::string() : text::uuid_of(files::read_file(path, kMostBytes));
}

}  // namespace

std::string simulator_fingerprint() { return ATTNVP_SIMULATOR_FINGERPRINT; }

std::string cache_key(const Problem& p, const TuningOptions& o) {
  // The key does not cover the code of libraries and programs.
  const auto is_plugin = [&](const Slot& slot) { return slot.kind(p.machine) == "plugin"; };
  if (std::any_of(slots().begin(), slots().end(), is_plugin)) return {};
  const auto& riscv = p.machine.own<RiscvConfig>();
  const bool own_firmware = p.machine.control.cpu == "riscv" && riscv.firmware != RiscvConfig::kShipped;
  const workload::Workload& n = p.network;
  return text::uuid_of(
      fmt::format("simulator {}\n{}firmware {}\nenergies {}\nnetwork {}\ndataflow {} {}\ntiling {}\n"
                  "tuner {} {} {} {} {} {} {}\n",
                  simulator_fingerprint(), config::to_yaml(p.machine), own_firmware ? file_hash(riscv.firmware) : "",
                  file_hash(p.energy.source()), n.identity(), p.schedule.dataflow, fmt::join(p.schedule.options, " "),
                  job::tiling_option(p.schedule.tiling), name_of(o.objective), o.strategy, o.evaluations, o.enough,
                  o.equal, o.sample_steps, o.seed));
}

std::string Cache::path() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  if (cache != nullptr && *cache == '/') return std::string(cache) + "/attnvp/tilings.sqlite";
  if (home != nullptr && *home == '/') return std::string(home) + "/.cache/attnvp/tilings.sqlite";
  return {};
}

Cache::Cache(const Problem& problem, const TuningOptions& options) : problem_(problem) {
  if (options.use_cache) key_ = cache_key(problem, options);
  if (key_.empty() || path().empty()) return;
  std::error_code error;
  fs::create_directories(fs::path(path()).parent_path(), error);
  for (const int mode : {SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, SQLite::OPEN_READONLY}) {
    try {
      database_ = std::make_unique<SQLite::Database>(path(), mode, kPatienceMilliseconds);
      if (mode != SQLite::OPEN_READONLY) database_->exec(std::string("PRAGMA synchronous = OFF; ") + kTable);
      return;
    } catch (const std::exception&) {  // not writable, possibly readable
      database_.reset();
    }
  }
}

Cache::~Cache() = default;

std::optional<job::Schedule> Cache::find() const {
  if (database_ == nullptr) return std::nullopt;
  try {
    SQLite::Statement query(*database_, "SELECT tiling FROM tilings WHERE key = ?");
    query.bind(1, key_);
    if (!query.executeStep()) return std::nullopt;
    job::Schedule schedule = problem_.schedule;
    schedule.tiling = job::parse_tiling(query.getColumn(0).getString(), *schedule.firmware);
    return schedule;
  } catch (const std::exception&) {  // damaged, or locked for too long: treated as empty
    return std::nullopt;
  }
}

void Cache::store(const Evaluation& chosen) const {
  if (database_ == nullptr) return;
  try {
    SQLite::Statement insert(*database_, "INSERT OR REPLACE INTO tilings VALUES (?, ?, ?, ?, ?, ?)");
    SQLite::bind(insert, key_, problem_.machine.name, problem_.network.name(), problem_.schedule.text,
                 job::tiling_option(chosen.schedule.tiling), static_cast<std::int64_t>(chosen.cycles));
    insert.exec();
  } catch (const std::exception&) {  // full, read-only, locked
  }
}

std::vector<Cache::CachedTiling> Cache::entries() {
  std::vector<CachedTiling> all;
  std::error_code error;
  if (!fs::exists(path(), error)) return all;
  try {
    const SQLite::Database database(path(), SQLite::OPEN_READONLY, kPatienceMilliseconds);
    SQLite::Statement query(database, "SELECT machine, network, dataflow, tiling, cycles FROM tilings ORDER BY rowid");
    while (query.executeStep()) {
      const auto cell = [&](int i) { return query.getColumn(i).getString(); };
      all.push_back({cell(0), cell(1), cell(2), cell(3), static_cast<std::uint64_t>(query.getColumn(4).getInt64())});
    }
  } catch (const std::exception&) {  // not a cache file
  }
  return all;
}

std::uint64_t Cache::clear() {
  const std::uint64_t count = entries().size();
  std::error_code error;
  if (!path().empty()) fs::remove(path(), error);
  return count;
}

}  // namespace attnvp::explore
