#include "explore/validate/processes.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <thread>

#include "platform/config/error.h"
#include "platform/job/job.h"

namespace attnvp::validate {

namespace {

using nlohmann::json;

struct Child {
  pid_t pid = -1;
  int from = -1;  // a pipe with a line a row
};

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
  return line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
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

[[noreturn]] void fail(const char* what) {
  throw job::RunError(fmt::format("rows cannot be predicted by processes of their own: {} failed", what));
}

Child start(DataSet& set, const std::vector<Row>& rows, std::size_t first, std::size_t step) {
  int ends[2];
  if (::pipe(ends) != 0) fail("pipe");
  const pid_t pid = ::fork();
  if (pid < 0) fail("fork");
  if (pid > 0) {
    ::close(ends[1]);
    return {pid, ends[0]};
  }
  ::close(ends[0]);
  std::FILE* const to = ::fdopen(ends[1], "w");
  for (std::size_t i = first; i < rows.size(); i += step) std::fputs(answer(set, rows[i]).c_str(), to);
  std::fclose(to);
  ::_exit(0);  // what the parent registered for its end is not the child's to do
}

std::string all_of(int from) {
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(from, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  ::close(from);
  return text;
}

}  // namespace

std::vector<std::vector<Point>> predict_in_processes(DataSet& set, const std::vector<Row>& rows) {
  const std::size_t n = std::min<std::size_t>(std::max(1U, std::thread::hardware_concurrency()), rows.size());
  std::fflush(nullptr);  // or every child writes it again
  std::vector<Child> children;
  for (std::size_t k = 0; k < n; ++k) children.push_back(start(set, rows, k, n));
  std::vector<std::string> lines(rows.size());
  for (std::size_t k = 0; k < n; ++k) {
    const std::string text = all_of(children[k].from);
    ::waitpid(children[k].pid, nullptr, 0);
    std::size_t at = 0;
    for (std::size_t i = k; i < rows.size(); i += n) {
      const std::size_t end = text.find('\n', at);
      if (end == std::string::npos) break;
      lines[i] = text.substr(at, end - at);
      at = end + 1;
    }
  }
  std::vector<std::vector<Point>> points;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (lines[i].empty()) config::fail(rows[i].origin(), "the process that predicts this row ended before its answer");
    points.push_back(points_of(lines[i]));
  }
  return points;
}

}  // namespace attnvp::validate
