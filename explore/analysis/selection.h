// Selection of rows of a sweep database, and goals evaluated on them. It is the input of the analyses (analysis.h).
// Rows of several networks may be joined to one row of a design.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "explore/sweep/database.h"

namespace attnvp::explore {

// Names for the networks of a sweep, so that an expression can combine their results: "prefill.cycles + 128 *
// decode.cycles". The rows of one design, which differ only in their network, are joined to one row: the columns of the
// first network, then those of the second, ...

double number_of(const SqlValue& cell);  // NaN for a text or no value

class Networks {
 public:
  Networks() = default;  // none: rows are not joined
  // `texts`: "decode=H=32,N=1,...": a name, and the network as in the column `network`. Throws ConfigError for a name
  // that is no word of letters, digits and _, is given twice, or begins the name of a column.
  explicit Networks(const std::vector<std::string>& texts);

  bool any() const { return !named_.empty(); }
  const std::vector<std::pair<std::string, std::string>>& named() const { return named_; }
  // "a.cycles + b.cycles"; without names the column itself.
  std::string sum_of(const std::string& column) const;
  // Variables of expressions: with names, inputs as they are and all columns with a network's name before them.
  const Symbols& symbols() const { return any() ? symbols_ : row_symbols(); }
  Values values(const SqlRow& row) const;

  // Joins rows that are equal in `axes`. Designs without a row of every network are left out; their number is added to
  // `incomplete`. Throws ConfigError if no row has a named network.
  std::vector<SqlRow> joined(const std::vector<SqlRow>& rows, const std::vector<std::string>& axes,
                             std::uint64_t& incomplete) const;

 private:
  std::vector<std::pair<std::string, std::string>> named_;
  Symbols symbols_;
};

class Goal;

class Selection {
 public:
  // Selects the successful rows for which `where` holds (empty: all), after they were joined by `networks`. Throws
  // ConfigError as Database, Expression and Networks do, or if no row is left.
  Selection(const std::string& database, const std::string& where, Networks networks = {});

  const std::vector<SqlRow>& rows() const { return rows_; }
  const Networks& networks() const { return networks_; }
  std::uint64_t failed() const { return failed_; }          // rows without results, regardless of `where`
  std::uint64_t incomplete() const { return incomplete_; }  // designs without a row of every network
  // Columns of the sweep's axes that have more than one value in the selection; of coupled keys only the first.
  const std::vector<std::size_t>& axes() const { return axes_; }

  // Removes rows for which a goal is not a finite number and returns their number. Throws ConfigError if none is left.
  std::uint64_t drop_without(const std::vector<Goal>& goals);

  double number(const SqlRow& row, std::size_t column) const;
  std::string text(const SqlRow& row, std::size_t column) const;  // formatted for users: "2 MiB"
  std::string settings(const SqlRow& row) const;                  // "cores=2 l1.size=2 MiB dataflow=mas"
  // The commands that run the row's jobs, by column: "command", or "decode.command" of each network.
  std::vector<std::pair<std::string, std::string>> commands(const SqlRow& row) const;

 private:
  void find_axes(const std::vector<std::string>& names);
  std::vector<SqlRow> rows_;
  std::vector<std::size_t> axes_;
  Networks networks_;
  std::uint64_t failed_ = 0, incomplete_ = 0;
};

// Goal: an expression to minimise; "max:EXPRESSION" is maximised.
class Goal {
 public:
  Goal(const std::string& text, const char* option, Networks networks = {});
  const std::string& name() const { return name_; }  // the expression
  bool most() const { return most_; }
  double value(const SqlRow& row) const;                                             // NaN if undefined
  double cost(const SqlRow& row) const { return most_ ? -value(row) : value(row); }  // lower is better
  std::string shown(double value) const;                                             // with its unit
  const Dimension& dimension() const { return expression_.type().dimension; }

 private:
  std::string name_;
  bool most_ = false;
  Networks networks_;
  Expression expression_;
};

}  // namespace attnvp::explore
