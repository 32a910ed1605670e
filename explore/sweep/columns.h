// Columns of a sweep's table: inputs of a job, its status, and every number of its report (results).
#pragma once

#include <string>
#include <vector>

#include "platform/base/expression/expression.h"
#include "platform/machine/schema.h"

namespace attnvp::explore {

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
