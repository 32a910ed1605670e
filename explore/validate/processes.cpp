#include "explore/validate/processes.h"

#include <fmt/format.h>

#include <exception>
#include <nlohmann/json.hpp>

#include "explore/processes/processes.h"
#include "platform/config/error.h"
#include "platform/job/job.h"

namespace attnvp::validate {

namespace {

using nlohmann::json;

// A row's answer as a line: its points, or what it threw.
std::string answer(DataSet& set, const Row& row) {
  json line;
  try {
    line["points"] = json::array();
    for (const Point& p : set.predict(row)) {
      line["points"].push_back({p.what, p.measured, p.predicted, p.unit, p.note});
    }
  } catch (const config::ConfigError& e) {
    line["wrong"] = e.what();
  } catch (const std::exception& e) {
    line["failed"] = fmt::format("{}: {}", row.origin().text(), e.what());
  }
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::vector<Point> points_of(const std::string& line) {
  const json answer = json::parse(line);
  if (answer.contains("wrong")) throw config::ConfigError(answer["wrong"].get<std::string>());
  if (answer.contains("failed")) throw job::RunError(answer["failed"].get<std::string>());
  std::vector<Point> points;
  for (const json& p : answer["points"]) {
    points.push_back({p[0].get<std::string>(), p[1].get<double>(), p[2].get<double>(), p[3].get<std::string>(),
                      p[4].get<std::string>()});
  }
  return points;
}

}  // namespace

std::vector<std::vector<Point>> predict_in_processes(DataSet& set, const std::vector<Row>& rows,
                                                     const std::function<void(std::size_t)>& progress) {
  const std::vector<std::string> lines = explore::in_processes(
      rows.size(), 0, [&](std::size_t i) { return answer(set, rows[i]); }, progress);
  std::vector<std::vector<Point>> points;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (lines[i].empty()) config::fail(rows[i].origin(), "the process that predicts this row ended before its answer");
    points.push_back(points_of(lines[i]));
  }
  return points;
}

}  // namespace attnvp::validate
