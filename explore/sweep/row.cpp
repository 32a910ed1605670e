// A plan's job and its outcome as a row.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "explore/sweep/sweep.h"
#include "platform/config/hardware.h"
#include "platform/text/printable.h"

namespace attnvp::explore {

namespace {

Cell cell(std::uint64_t value) { return static_cast<std::int64_t>(value); }

Cell cell(const config::KeyInfo& key, const config::Value& value) {
  if (key.type == config::Type::kReal) return std::get<double>(value);
  if (key.type == config::Type::kInteger) return cell(std::get<std::uint64_t>(value));
  return config::format_value(key, value);
}

// A number of the report under "a.b", as its column stores it.
Cell result_cell(const nlohmann::json& report, const Column& column) {
  const nlohmann::json* at = &report;
  for (std::size_t start = 0; start <= column.name.size();) {
    const std::size_t dot = std::min(column.name.find('.', start), column.name.size());
    const auto next = at->find(column.name.substr(start, dot - start));
    if (next == at->end()) return {};
    at = &*next;
    start = dot + 1;
  }
  if (at->is_null()) return {};
  if (column.is_text()) return at->is_string() ? at->get<std::string>() : at->dump();
  if (at->is_string()) return {};  // the word of a parameter that is not used
  if (*column.sql_type == 'R') return at->get<double>();
  return at->is_boolean() ? cell(at->get<bool>() ? 1U : 0U) : cell(at->get<std::uint64_t>());
}

}  // namespace

Row row_of(const Plan& plan, const Job& job, const Outcome& outcome) {
  const PlannedMachine& machine = plan.machines[job.machine];
  const config::Network& network = plan.networks[job.network];
  const PlannedSchedule& schedule = plan.schedules[job.schedule];
  Row row(columns().size());
  const auto set = [&row](const char* name, Cell value) { row[column_index(name)] = std::move(value); };
  set("key", job.key);
  set("hardware", machine.hardware);
  for (const auto& key : config::hardware_schema().keys()) {
    if (key.path != "name") row[column_index(key.path)] = cell(key, key.get(machine.config));
  }
  set("network", plan.network_texts[job.network]);
  set("network.batch", cell(network.batch));
  set("network.heads", cell(network.heads));
  set("network.seq_q", cell(network.seq_q));
  set("network.seq_kv", cell(network.seq_kv));
  set("network.emb", cell(network.emb));
  set("network.kv_heads", cell(network.heads_of_kv()));
  if (network.ragged()) set("network.contexts", fmt::format("{}", fmt::join(network.contexts, "+")));
  set("dataflow", schedule.schedule.text);
  set("tiling", schedule.tiling);
  set("data", plan.full ? "full" : "timing");
  set("status", outcome.status);
  set("command", plan.command(job));
  if (outcome.status != std::string(kDone)) {
    set("error", text::printable(outcome.text));
    return row;
  }
  const nlohmann::json report = nlohmann::json::parse(outcome.text);
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (columns()[i].role == Role::kResult) row[i] = result_cell(report, columns()[i]);
  }
  return row;
}

}  // namespace attnvp::explore
