#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "explore/analysis/analysis.h"
#include "platform/machine/error.h"
#include "platform/machine/words.h"
#include "platform/report/table.h"

namespace attnvp::explore {

namespace {

struct Bin {
  double from;
  const char* text;
};
// Share of time, summed over both engines. In a fused run that alternates between them, 100% means no other stalls.
constexpr Bin kBins[] = {{0.95, "95% or more"}, {0.90, "90% to 95%"}, {0.75, "75% to 90%"}, {0, "less"}};

double engines_busy(const Selection& s, std::size_t row) {
  return s.number(s.rows()[row], column_index("utilization.mac")) +
         s.number(s.rows()[row], column_index("utilization.vec"));
}

double dram_bytes(const Selection& s, std::size_t row) {
  return s.number(s.rows()[row], column_index("dram.read_bytes")) +
         s.number(s.rows()[row], column_index("dram.write_bytes"));
}

double row_block(const Selection& s, std::size_t row) { return s.number(s.rows()[row], column_index("tiling.nq")); }

std::string busiest(const Selection& s, std::size_t row) {
  std::string name;
  double most = -1;
  for (const char* resource : {"mac", "vec", "dram"}) {
    const double busy = s.number(s.rows()[row], column_index(std::string("utilization.") + resource));
    if (busy > most) name = resource;
    most = std::max(most, busy);
  }
  return fmt::format("{} {:.0f}%", name, 100 * most);
}

}  // namespace

Versus versus_of(const Selection& s, const std::string& names, const Goal& goal) {
  Versus v;
  const std::size_t comma = names.find(',');
  if (comma == std::string::npos) {
    throw config::ConfigError(fmt::format(
        "--versus: found {}; allowed are two dataflows of the sweep, such as mas,flat", config::in_quotes(names)));
  }
  v.first = std::string(config::trimmed(std::string_view(names).substr(0, comma)));
  v.second = std::string(config::trimmed(std::string_view(names).substr(comma + 1)));
  const std::size_t dataflow = column_index("dataflow");
  std::set<std::string> known;
  for (const SqlRow& row : s.rows()) known.insert(s.text(row, dataflow));
  for (const std::string& name : {v.first, v.second}) {
    if (known.count(name) == 0) {
      throw config::ConfigError(fmt::format("--versus: dataflow {} is in no row{}", config::in_quotes(name),
                                            config::hint(name, {known.begin(), known.end()})));
    }
  }
  std::map<SqlRow, std::size_t> firsts;  // by all other inputs
  const auto others = [&](const SqlRow& row) {
    SqlRow key;
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (columns()[c].role == ColumnRole::kInput && c != dataflow) key.push_back(row[c]);
    }
    return key;
  };
  for (std::size_t i = 0; i < s.rows().size(); ++i) {
    if (s.text(s.rows()[i], dataflow) == v.first) firsts.emplace(others(s.rows()[i]), i);
  }
  for (std::size_t i = 0; i < s.rows().size(); ++i) {
    if (s.text(s.rows()[i], dataflow) != v.second) continue;
    const auto match = firsts.find(others(s.rows()[i]));
    if (match == firsts.end()) continue;
    v.pairs.push_back({match->second, i, goal.value(s.rows()[i]) / goal.value(s.rows()[match->second])});
  }
  if (v.pairs.empty()) {
    throw config::ConfigError(fmt::format("--versus: no two rows differ in {} and {} alone", v.first, v.second));
  }
  std::stable_sort(v.pairs.begin(), v.pairs.end(), [](const Pair& a, const Pair& b) { return a.gain < b.gain; });
  return v;
}

std::string versus_text(const Selection& s, const Versus& v, const Goal& goal, std::size_t most_rows,
                        std::size_t line_width) {
  report::Table bins;
  bins.column(fmt::format("MAC + VEC busy under {}", v.second), report::Table::Align::kLeft);
  for (const std::string& title : {std::string("pairs"), v.first + " better", std::string("equal"), v.first + " worse",
                                   std::string("least gain"), std::string("median"), std::string("most")}) {
    bins.column(title);
  }
  double above = 10;
  for (const Bin& bin : kBins) {
    std::vector<double> gains;
    for (const Pair& pair : v.pairs) {
      const double busy = engines_busy(s, pair.second);
      if (busy >= bin.from && busy < above) gains.push_back(pair.gain);
    }
    above = bin.from;
    if (gains.empty()) continue;
    const auto count = [&](auto condition) {
      return std::to_string(std::count_if(gains.begin(), gains.end(), condition));
    };
    bins.row({bin.text, std::to_string(gains.size()), count([](double g) { return g > 1; }),
              count([](double g) { return g == 1; }), count([](double g) { return g < 1; }),
              fmt::format("{:.3f}x", gains.front()), fmt::format("{:.3f}x", gains[gains.size() / 2]),
              fmt::format("{:.3f}x", gains.back())});
  }
  std::string out = fmt::format("{} versus {}, {}\n\n{}", v.first, v.second, goal.name(), bins.text(line_width));

  const auto worse =
      static_cast<std::size_t>(std::count_if(v.pairs.begin(), v.pairs.end(), [](const Pair& p) { return p.gain < 1; }));
  if (worse == 0) return out + fmt::format("\n{} is never worse.\n", v.first);
  const auto reloads = std::count_if(v.pairs.begin(), v.pairs.end(), [&](const Pair& p) {
    return p.gain < 1 && dram_bytes(s, p.first) > dram_bytes(s, p.second);
  });
  const auto shorter = std::count_if(v.pairs.begin(), v.pairs.end(), [&](const Pair& p) {
    return p.gain < 1 && row_block(s, p.first) < row_block(s, p.second);
  });
  out += fmt::format(
      "\n{} is worse in {} of {} pairs; in {} of these it moves more bytes through DRAM, in {} its row blocks (nq) are "
      "shorter.\n\n",
      v.first, worse, v.pairs.size(), reloads, shorter);
  report::Table losses;
  for (const std::size_t axis : s.axes()) {
    if (axis != column_index("dataflow")) losses.column(columns()[axis].name);
  }
  for (const char* title : {"gain", "busiest", "DRAM traffic", "nq"}) losses.column(title);
  for (std::size_t i = 0; i < std::min(worse, most_rows); ++i) {
    const Pair& pair = v.pairs[i];
    std::vector<std::string> cells;
    for (const std::size_t axis : s.axes()) {
      if (axis != column_index("dataflow")) cells.push_back(s.text(s.rows()[pair.first], axis));
    }
    cells.push_back(fmt::format("{:.3f}x", pair.gain));
    cells.push_back(busiest(s, pair.first));
    cells.push_back(fmt::format("{:.2f}x", dram_bytes(s, pair.first) / dram_bytes(s, pair.second)));
    cells.push_back(fmt::format("{} for {}", row_block(s, pair.first), row_block(s, pair.second)));
    losses.row(std::move(cells));
  }
  out += losses.text(line_width);
  if (worse > most_rows) out += fmt::format("... and {} more\n", worse - most_rows);
  return out;
}

}  // namespace attnvp::explore
