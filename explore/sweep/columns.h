// The columns of a sweep's table: what a job was (inputs), how it ended, and every number of its report (results).
#pragma once

#include <string>
#include <vector>

#include "platform/config/schema.h"
#include "platform/expression/expression.h"

namespace attnvp::explore {

using expression::Dimension;
using expression::dimension_of;
using expression::Expression;
using expression::Kind;
using expression::Quantity;
using expression::shown;
using expression::Symbols;
using expression::Values;

enum class Role : std::uint8_t { kKey, kInput, kStatus, kResult };

struct Column {
  std::string name;  // "l1.size"; a result has its JSON report's path: "energy_pj.total"
  Role role = Role::kResult;
  const char* sql_type = "INTEGER";      // or "REAL", "TEXT"
  Dimension dimension;                   // of a number, which is in base units
  const config::KeyInfo* key = nullptr;  // a machine's key: how its values are written
  std::string meaning;

  bool is_text() const { return *sql_type == 'T'; }
};

// All, in the order in which they are stored.
const std::vector<Column>& columns();
// Throws std::out_of_range.
std::size_t column_index(const std::string& name);
const Column* find_column(const std::string& name);

// What a sweep's constraints may speak of: the inputs.
const Symbols& input_symbols();
// What can be asked of a row: inputs and results.
const Symbols& row_symbols();

// "done": has results. "failed": the machine or its firmware cannot do it; `error` says why. "crashed": the simulator
// ended before its time (not enough memory, a signal); tried anew by the next run.
inline constexpr const char* kDone = "done";
inline constexpr const char* kFailed = "failed";
inline constexpr const char* kCrashed = "crashed";

}  // namespace attnvp::explore
