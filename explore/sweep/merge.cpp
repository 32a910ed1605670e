#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "explore/sweep/sweep.h"
#include "platform/config/error.h"

namespace attnvp::explore {

namespace {

std::string names_of(const std::map<std::string, std::string>& sweeps) {
  std::string names;
  for (const auto& [identity, name] : sweeps) names += (names.empty() ? "" : ", ") + name;
  return names;
}

}  // namespace

MergeResult merge_databases(const std::string& destination, const std::vector<std::string>& sources, bool any_sweeps) {
  const std::size_t key = column_index("key");
  const std::size_t status = column_index("status");
  const auto crashed = [&](const Row& row) { return std::get<std::string>(row[status]) == kCrashed; };
  // All sources first: a missing one should not leave half of the others behind.
  std::unordered_map<std::string, std::pair<Row, const std::string*>> joined;  // with where it came from
  std::string simulator;
  std::vector<std::string> axes;
  std::map<std::string, std::string> sweeps;
  const auto join = [&](const std::string& path, Database& database) {
    if (!simulator.empty() && database.simulator() != simulator) {
      throw config::ConfigError(fmt::format(
          "{}: holds results of another version of the simulator ({}) than {} ({}), which would not compare", path,
          database.simulator(), sources.front(), simulator));
    }
    simulator = database.simulator();
    const auto common = [&](const auto& sweep) { return sweeps.count(sweep.first) != 0; };
    const auto& its = database.sweeps();
    if (!any_sweeps && !sweeps.empty() && !its.empty() && std::none_of(its.begin(), its.end(), common)) {
      throw config::ConfigError(
          fmt::format("{}: is of another sweep ({}) than {} ({}), or of one since changed; --different-sweeps joins "
                      "them all the same",
                      path, names_of(its), sources.front(), names_of(sweeps)));
    }
    sweeps.insert(its.begin(), its.end());
    for (const std::string& name : database.axes()) axes.push_back(name);
    for (Row& row : database.rows()) {
      const std::string name = std::get<std::string>(row[key]);
      const auto [known, inserted] = joined.try_emplace(name, row, &path);
      auto& [other, origin] = known->second;
      if (inserted || crashed(row) || row == other) continue;
      if (!crashed(other)) {
        throw config::ConfigError(
            fmt::format("{} and {}: have different results for job {}; nothing was merged", *origin, path, name));
      }
      other = std::move(row);
      origin = &path;
    }
  };
  for (const std::string& path : sources) {
    Database database(path, Database::Mode::kRead);
    join(path, database);
  }
  const NoEmptyDatabase guard(destination);
  Database database(destination, Database::Mode::kWrite);
  if (database.count() == 0) database.adopt_simulator(simulator);
  MergeResult result;
  std::unordered_map<std::string, bool> before;
  for (const Row& row : database.rows()) before.emplace(std::get<std::string>(row[key]), crashed(row));
  std::uint64_t offered = joined.size();
  join(destination, database);
  database.begin();
  for (const auto& [name, entry] : joined) {
    const auto had = before.find(name);
    if (had != before.end() && (!had->second || crashed(entry.first))) continue;
    database.store(entry.first);
    ++result.added;
  }
  database.add_axes(axes);
  database.add_sweeps(sweeps);
  database.commit();
  result.rows = database.count();
  result.equal = offered - result.added;
  return result;
}

}  // namespace attnvp::explore
