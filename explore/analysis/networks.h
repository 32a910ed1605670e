// Names for the networks of a sweep, so that an expression can combine their results: "prefill.cycles + 128 *
// decode.cycles". The rows of one design, which differ only in their network, are joined to one row: the columns of the
// first network, then those of the second, ...
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "explore/sweep/columns.h"
#include "explore/sweep/database.h"

namespace attnvp::explore {

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

}  // namespace attnvp::explore
