#include "explore/reproduce/csv.h"

#include "platform/config/catalog.h"

namespace attnvp::reproduce {

std::vector<CsvLine> read_csv(const std::string& name) {
  return config::read_csv_table(config::config_root() + "/paper/" + name);
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace attnvp::reproduce
