// What a sweep's database says: which rows no other beats (pareto.h), what each axis does (sensitivity.h), where one
// dataflow wins over another (versus.h), as tables, plots and a page (page.h). Here: the rows that are looked at, and
// what of them is asked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explore/sweep/database.h"

namespace attnvp::explore {

class Goal;

class Selection {
 public:
  // The rows of the database that are done and for which `where` holds (empty: all). Throws ConfigError: as Database
  // and Expression do, or when no row is left.
  Selection(const std::string& database, const std::string& where);

  const std::vector<Row>& rows() const { return rows_; }
  std::uint64_t failed() const { return failed_; }  // rows that have no results, whatever `where` says
  // The columns of the sweep's axes, of keys that move together the first; those that take more than one value here.
  const std::vector<std::size_t>& axes() const { return axes_; }

  // Leaves out the rows for which one of the goals is no finite number; how many. Throws ConfigError when none is left.
  std::uint64_t drop_without(const std::vector<Goal>& goals);

  double number(const Row& row, std::size_t column) const;
  std::string text(const Row& row, std::size_t column) const;  // as a person writes it: "2 MiB"
  std::string settings(const Row& row) const;                  // "cores=2 l1.size=2 MiB dataflow=mas"

 private:
  void find_axes(const std::vector<std::string>& names);
  std::vector<Row> rows_;
  std::vector<std::size_t> axes_;
  std::uint64_t failed_ = 0;
};

// Answers an expression's questions from a row.
Values values_of(const Row& row);

// A number of every row, to be made small; "max:EXPRESSION" is made large.
class Goal {
 public:
  explicit Goal(const std::string& text, const char* option);
  const std::string& name() const { return name_; }  // the expression
  bool most() const { return most_; }
  double value(const Row& row) const;                                             // NaN: has none
  double cost(const Row& row) const { return most_ ? -value(row) : value(row); }  // less is better
  std::string shown(double value) const;                                          // with its unit
  const Dimension& dimension() const { return expression_.type().dimension; }

 private:
  std::string name_;
  bool most_ = false;
  Expression expression_;
};

}  // namespace attnvp::explore
