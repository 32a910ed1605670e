// Data sets of components: DRAM channels and SRAMs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "explore/validate/data_set.h"
#include "models/memory/banked_dram/traffic.h"
#include "platform/machine/energy/sram.h"
#include "platform/machine/hardware.h"
#include "platform/machine/words.h"

namespace attnvp::validate {

namespace {

using config::ConfigError;

constexpr double kMostRequests = 1e9;
constexpr std::array<const char*, 4> kPages = {"Open", "Closed", "OpenAdaptive", "ClosedAdaptive"};

PagePolicy page_of(const DataRow& row) {
  const auto found = std::find(kPages.begin(), kPages.end(), row.text("page"));
  if (found == kPages.end()) {
    config::fail(row.origin(), fmt::format("column 'page': found {}; allowed: {}", config::in_quotes(row.text("page")),
                                           fmt::join(kPages, ", ")));
  }
  return static_cast<PagePolicy>(found - kPages.begin());
}

std::uint64_t count(const DataRow& row, const char* column, double least, double most) {
  const std::uint64_t value = row.whole(column);
  if (static_cast<double>(value) < least || static_cast<double>(value) > most) {
    config::fail(row.origin(),
                 fmt::format("column '{}': found {}; allowed is {:g} to {:g}", column, value, least, most));
  }
  return value;
}

BankedConfig part_of(const DataRow& row) {
  BankedConfig part;
  try {
    config::apply_dram_part(part, row.text("part"));
  } catch (const ConfigError& problem) {
    config::fail(row.origin(), fmt::format("column 'part': {}", problem.what()));
  }
  part.mapping = config::dram_mapping(row.text("mapping"));
  part.page = page_of(row);
  part.refresh = count(row, "refresh", 0, 1) == 1 ? RefreshPolicy::kAllBank : RefreshPolicy::kOff;
  part.queue = static_cast<std::uint32_t>(count(row, "request_buffer", 1, 1024));
  return part;
}

TrafficConfig traffic_of(const DataRow& row, const BankedConfig& part) {
  TrafficConfig traffic;
  traffic.requests = count(row, "requests", 1, kMostRequests);
  traffic.bytes = static_cast<std::uint32_t>(count(row, "bytes_per_request", part.burst_bytes(), 4096));
  if (traffic.bytes % part.burst_bytes() != 0) {
    config::fail(row.origin(), fmt::format("column 'bytes_per_request': found {}; allowed are whole bursts of {} bytes",
                                           traffic.bytes, part.burst_bytes()));
  }
  if (row.text("pattern") != "random") traffic.step_bytes = count(row, "pattern", 1, 1e12);
  traffic.read_share = row.from_zero("read_share");
  if (traffic.read_share > 1) {
    config::fail(row.origin(), fmt::format("column 'read_share': found {}; allowed is 0 to 1", traffic.read_share));
  }
  if (!row.empty("pending")) traffic.pending = static_cast<std::uint32_t>(count(row, "pending", 1, 1e6));
  return traffic;
}

class DramCurves : public DataSet {
 public:
  std::string hardware() const override { return "the part of each row"; }
  std::vector<MeasuredPoint> predict(const DataRow& row) override {
    const BankedConfig part = part_of(row);
    const TrafficConfig traffic = traffic_of(row, part);
    try {
      const TrafficResult result = DramTraffic(part, traffic).run();
      const double seconds = static_cast<double>(result.clocks) * part.tCK_seconds;
      const double rate = static_cast<double>(result.bytes) / seconds;
      return {{"", row.positive("percent_of_peak"), 100 * rate / part.channel_bytes_per_second(), "% of peak",
               fmt::format("{} hits, {} misses, {} conflicts", result.counts.hits, result.counts.misses,
                           result.counts.conflicts)}};
    } catch (const std::invalid_argument& problem) {
      config::fail(row.origin(), fmt::format("column 'mapping': {}", problem.what()));
    }
  }
};

}  // namespace

DataSetKind dram_kind() {
  return {"dram-curves",
          "bandwidth of a DRAM channel under a traffic generator, by a cycle-true simulator",
          {"part", "mapping", "page", "refresh", "request_buffer", "pattern", "read_share", "bytes_per_request",
           "pending", "requests", "percent_of_peak"},
          [](const DataSetOptions&) { return std::make_unique<DramCurves>(); }};
}

namespace {

class SramSet : public DataSet {
 public:
  std::string hardware() const override { return "SRAM model (CACTI 7)"; }

  std::vector<MeasuredPoint> predict(const DataRow& row) override {
    constexpr double kPjPerNj = 1000;
    const energy::SramShape shape{row.positive("node_nm"), row.text("cell"), row.positive("bytes"),
                                  row.positive("banks"), row.positive("width_bits")};
    energy::SramFigures figures;
    try {
      figures = energy::SramTable::cacti().at(shape);
    } catch (const config::ConfigError& problem) {
      config::fail(row.origin(), problem.what());
    }
    std::vector<MeasuredPoint> points = {
        {"read energy", row.positive("read_nj") * kPjPerNj, figures.read_pj, "pJ", ""},
        {"write energy", row.positive("write_nj") * kPjPerNj, figures.write_pj, "pJ", ""},
        {"leakage of a bank", row.positive("leakage_mw_per_bank"), figures.leakage_mw_per_bank, "mW", ""},
        {"area", row.positive("area_mm2"), figures.area_mm2, "mm2", ""}};
    return points;
  }
};

}  // namespace

DataSetKind sram_kind() {
  return {"sram",
          "scratch RAMs by CACTI",
          {"node_nm", "cell", "bytes", "banks", "width_bits", "read_nj", "write_nj", "leakage_mw_per_bank", "area_mm2"},
          [](const DataSetOptions&) { return std::make_unique<SramSet>(); }};
}

}  // namespace attnvp::validate
