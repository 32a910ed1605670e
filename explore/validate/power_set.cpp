// Power of a GPU's kernels: rows with hardware counters and watts. A row is predicted by energies that are fitted to
// all kernels of the shipped set but itself, so that no row predicts itself.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "explore/validate/data_set.h"
#include "explore/validate/power_fit.h"
#include "explore/validate/validate.h"
#include "platform/machine/hardware.h"
#include "platform/report/table.h"

namespace attnvp::validate {

namespace {

constexpr const char* kFitted = "gv100-power";  // the set whose kernels energies are fitted to

class PowerSet : public DataSet {
 public:
  explicit PowerSet(const DataSetOptions& options)
      : gpu_(config::load_hardware(options.hardware.empty() ? "gv100" : options.hardware, options.settings)),
        activities_(power_activities(gpu_)),
        lines_(config::read_csv_table(file_of_set(kFitted))),
        columns_(lines_.front().cells) {
    for (std::size_t i = 1; i < lines_.size(); ++i) rows_.emplace_back(columns_, lines_[i], i);
  }

  std::string hardware() const override { return gpu_.name; }
  std::vector<MeasuredPoint> predict(const DataRow& row) override {
    const KernelPower kernel = kernel_power(row, gpu_);
    const auto is_same = [&row](const DataRow& other) {
      return row.text("Benchmark") == other.text("Benchmark") && row.text("Kernel") == other.text("Kernel");
    };
    std::vector<KernelPower> others;
    for (const DataRow& other : rows_) {
      if (!is_same(other)) others.push_back(kernel_power(other, gpu_));
    }
    const std::vector<double> energies = fit_power(activities_, others);
    return {{"", kernel.watts, watts_of(energies, kernel), "W", fmt::format("fitted to {} others", others.size())}};
  }

 private:
  const MachineConfig gpu_;
  const std::vector<PowerActivity> activities_;
  const std::vector<config::CsvLine> lines_;
  const std::vector<std::string> columns_;
  std::vector<DataRow> rows_;
};

}  // namespace

DataSetKind power_kind() {
  return {kFitted, "power of kernels of a GPU, from hardware counters", power_columns(),
          [](const DataSetOptions& options) { return std::make_unique<PowerSet>(options); },
          "Every kernel is predicted by energies fitted to the other kernels of the set. Accesses to constants and "
          "the network have no energy of their own, as kernels do not tell them apart"};
}

std::string fit_text(const std::string& path, const DataSetOptions& options) {
  const MachineConfig gpu =
      config::load_hardware(options.hardware.empty() ? "gv100" : options.hardware, options.settings);
  const std::vector<PowerActivity> activities = power_activities(gpu);
  const std::vector<config::CsvLine> lines = config::read_csv_table(path);
  std::vector<KernelPower> kernels;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    kernels.push_back(kernel_power(DataRow(lines.front().cells, lines[i], i), gpu));
  }
  const std::vector<FittedEnergy> fitted = fit_power_with_intervals(activities, kernels);
  report::Table table;
  table.column("activity", report::Table::Align::kLeft);
  for (const char* title : {"fitted", "95% from", "to"}) table.column(title);
  table.column("unit", report::Table::Align::kLeft), table.column("before");
  table.column("source of the value before", report::Table::Align::kLeft);
  std::vector<double> energies;
  for (std::size_t j = 0; j < fitted.size(); ++j) {
    const FittedEnergy& f = fitted[j];
    const PowerActivity& a = activities[j];
    table.row({a.name, fmt::format("{:.3g}", f.value), fmt::format("{:.3g}", f.low), fmt::format("{:.3g}", f.high),
               a.unit, fmt::format("{:.3g}", a.prior), a.source});
    energies.push_back(f.value);
  }
  double fit = 0, left_out = 0;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    std::vector<KernelPower> others = kernels;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    fit += std::abs(watts_of(energies, kernels[i]) / kernels[i].watts - 1);
    left_out += std::abs(watts_of(fit_power(activities, others), kernels[i]) / kernels[i].watts - 1);
  }
  const auto n = static_cast<double>(kernels.size());
  return fmt::format("{} kernels on {}\n\n{}\nmean error     {}\nleave one out  {}\n", kernels.size(), gpu.name,
                     table.text(text::line_width()), report::percent(fit / n), report::percent(left_out / n));
}

}  // namespace attnvp::validate
