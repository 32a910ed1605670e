#include "explore/reproduce/csv.h"

#include "platform/config/catalog.h"

namespace attnvp::reproduce {

std::vector<CsvLine> read_csv(const std::string& name) {
  return config::read_csv_table(config::config_root() + "/paper/" + name);
}

}  // namespace attnvp::reproduce
