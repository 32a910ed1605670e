#include "explore/validate/power_fit.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "explore/validate/data_set.h"
#include "explore/validate/validate.h"
#include "platform/machine/energy.h"
#include "platform/machine/energy/machine_model.h"
#include "platform/machine/hardware.h"
#include "platform/report/table.h"

namespace attnvp::validate {

KernelSums sums_of(const job::RunResult& result) {
  constexpr double kPicojoule = 1e-12;
  KernelSums sums;
  sums.seconds = result.seconds();
  for (const job::CounterValue& c : result.counters) {
    if (c.component.empty()) continue;
    const bool stands = energy::stands_for_time(c.component, c.action) || c.component == energy::kClock;
    (stands ? sums.standing_j : sums.active_j).add(kPicojoule, {c.energy_pj, c.low_pj, c.high_pj});
  }
  return sums;
}

StepEnergy limited_step(double active_j, double standing_w, double seconds, double limit_w) {
  const double joules = active_j + standing_w * seconds;
  if (limit_w == 0 || joules <= limit_w * seconds || standing_w >= limit_w) return {seconds, joules};
  const double longer = active_j / (limit_w - standing_w);
  return {longer, limit_w * longer};
}

namespace {

constexpr double kErrorOfPower = 0.1;  // relative, of a kernel
constexpr double kSectorWords = 16, kSharedWords = 64;
constexpr double kNanojoule = 1e-3;  // per pJ

// Columns whose counts an activity sums.
const std::vector<std::vector<const char*>>& counted() {
  static const std::vector<std::vector<const char*>> all = {
      {"L1_RH", "L1_RM", "L1_WH", "L1_WM"}, {"SHRD_ACC"}, {"L2_RH", "L2_RM", "L2_WH", "L2_WM"}, {"DRAM_Rd", "DRAM_Wr"}};
  return all;
}

// Lawson and Hanson, Solving Least Squares Problems, 1974, chapter 23.
Eigen::VectorXd non_negative(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) {
  const Eigen::Index n = a.cols();
  Eigen::VectorXd x = Eigen::VectorXd::Zero(n);
  std::vector<bool> free(static_cast<std::size_t>(n), false);
  const double tolerance = 1e-10 * (a.transpose() * b).cwiseAbs().maxCoeff();
  const auto solve_free = [&] {
    std::vector<Eigen::Index> columns;
    for (Eigen::Index i = 0; i < n; ++i) {
      if (free[static_cast<std::size_t>(i)]) columns.push_back(i);
    }
    Eigen::MatrixXd part(a.rows(), static_cast<Eigen::Index>(columns.size()));
    for (std::size_t i = 0; i < columns.size(); ++i) part.col(static_cast<Eigen::Index>(i)) = a.col(columns[i]);
    const Eigen::VectorXd solution = part.colPivHouseholderQr().solve(b);
    Eigen::VectorXd all = Eigen::VectorXd::Zero(n);
    for (std::size_t i = 0; i < columns.size(); ++i) all(columns[i]) = solution(static_cast<Eigen::Index>(i));
    return all;
  };
  for (Eigen::Index round = 0; round < 3 * n; ++round) {
    const Eigen::VectorXd gradient = a.transpose() * (b - a * x);
    Eigen::Index best = -1;
    for (Eigen::Index i = 0; i < n; ++i) {
      if (free[static_cast<std::size_t>(i)] || gradient(i) <= tolerance) continue;
      if (best < 0 || gradient(i) > gradient(best)) best = i;
    }
    if (best < 0) break;
    free[static_cast<std::size_t>(best)] = true;
    for (Eigen::Index inner = 0; inner < n; ++inner) {
      const Eigen::VectorXd next = solve_free();
      double step = 1;
      for (Eigen::Index i = 0; i < n; ++i) {
        if (free[static_cast<std::size_t>(i)] && next(i) <= 0) step = std::min(step, x(i) / (x(i) - next(i)));
      }
      x += step * (next - x);
      if (step == 1) break;
      for (Eigen::Index i = 0; i < n; ++i) {
        if (x(i) <= std::numeric_limits<double>::epsilon()) free[static_cast<std::size_t>(i)] = false, x(i) = 0;
      }
    }
  }
  return x;
}

}  // namespace

const std::vector<std::string>& power_columns() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names = {"Benchmark",    "Kernel",         "Pipeline_Duty",
                                      "Num_Idle_SMs", "Elapsed_Cycles", "watts"};
    for (const auto& columns : counted()) names.insert(names.end(), columns.begin(), columns.end());
    return names;
  }();
  return all;
}

std::vector<PowerActivity> power_activities(const MachineConfig& gpu) {
  const config::EnergyTable model = energy::resolved(config::load_energy("cmos"), gpu);
  const auto pj = [&model](const char* component, const char* action) { return model.pj(component, action, 0); };
  const double l1 = (pj("attnvp.l1", "read") + pj("attnvp.l1", "write")) / 2;
  const double l2 = (pj("attnvp.l2", "read") + pj("attnvp.l2", "write")) / 2 + 2 * pj("attnvp.network", "byte");
  const double lanes =
      gpu.vec_lanes() / gpu.clusters * (pj("attnvp.vec", "add") + pj("attnvp.vec", "multiply")) * gpu.clock_hz * 1e-12;
  constexpr const char* kPublished = "AccelWattch's model of the V100, MICRO 2021";
  constexpr const char* kModel = "the model of arithmetic, SRAM and wires at the machine's node";
  return {{"board", "W", 32.3, 8, kPublished},
          {"idle SM", "W", 0.28, 0.2, kPublished},
          {"active SM", "W", 0.48, 0.5, kPublished},
          {"busy pipelines of an SM", "W", lanes, 1, kModel},
          {"L1 access", "nJ", kSectorWords * l1 * kNanojoule, 0.3, kModel},
          {"shared memory access", "nJ", kSharedWords * l1 * kNanojoule, 0.3, kModel},
          {"L2 access, network included", "nJ", kSectorWords * l2 * kNanojoule, 0.1, kModel},
          {"DRAM access", "nJ", kSectorWords * pj("attnvp.dram", "read") * kNanojoule, 0.25,
           "O'Connor et al., MICRO 2017, 3.9 pJ a bit"}};
}

KernelPower kernel_power(const DataRow& row, const MachineConfig& gpu) {
  const double sms = gpu.clusters, idle = row.from_zero("Num_Idle_SMs"), duty = row.from_zero("Pipeline_Duty");
  if (idle > sms) config::fail(row.origin(), "column 'Num_Idle_SMs': it is above the GPU's multiprocessors");
  const double nanoseconds = row.positive("Elapsed_Cycles") / gpu.clock_hz * 1e9;
  KernelPower kernel;
  kernel.rates = {1, idle, sms - idle, duty * (sms - idle)};
  for (const std::vector<const char*>& columns : counted()) {
    double count = 0;
    for (const char* column : columns) count += row.from_zero(column);
    kernel.rates.push_back(count / nanoseconds);
  }
  kernel.watts = row.positive("watts");
  return kernel;
}

std::vector<double> fit_power(const std::vector<PowerActivity>& activities, const std::vector<KernelPower>& kernels) {
  const auto n = static_cast<Eigen::Index>(activities.size()), m = static_cast<Eigen::Index>(kernels.size());
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(m + n, n);
  Eigen::VectorXd b(m + n);
  for (Eigen::Index i = 0; i < m; ++i) {
    const KernelPower& k = kernels[static_cast<std::size_t>(i)];
    const double weight = 1 / (kErrorOfPower * k.watts);
    for (Eigen::Index j = 0; j < n; ++j) a(i, j) = weight * k.rates[static_cast<std::size_t>(j)];
    b(i) = weight * k.watts;
  }
  for (Eigen::Index j = 0; j < n; ++j) {
    const PowerActivity& known = activities[static_cast<std::size_t>(j)];
    a(m + j, j) = 1 / known.deviation;
    b(m + j) = known.prior / known.deviation;
  }
  const Eigen::VectorXd x = non_negative(a, b);
  return {x.data(), x.data() + x.size()};
}

std::vector<FittedEnergy> fit_power_with_intervals(const std::vector<PowerActivity>& activities,
                                                   const std::vector<KernelPower>& kernels) {
  constexpr std::size_t kResamples = 1000, kTail = 25;  // 2.5% on each side
  std::vector<std::vector<double>> samples(activities.size());
  std::mt19937_64 random(1);  // NOLINT(cert-msc32-c,cert-msc51-cpp): equal inputs give equal intervals
  for (std::size_t round = 0; round < kResamples; ++round) {
    std::vector<KernelPower> drawn;
    for (std::size_t i = 0; i < kernels.size(); ++i) drawn.push_back(kernels[random() % kernels.size()]);
    const std::vector<double> energies = fit_power(activities, drawn);
    for (std::size_t j = 0; j < energies.size(); ++j) samples[j].push_back(energies[j]);
  }
  const std::vector<double> all = fit_power(activities, kernels);
  std::vector<FittedEnergy> fitted;
  for (std::size_t j = 0; j < all.size(); ++j) {
    std::sort(samples[j].begin(), samples[j].end());
    fitted.push_back({all[j], samples[j][kTail], samples[j][kResamples - 1 - kTail]});
  }
  return fitted;
}

double watts_of(const std::vector<double>& energies, const KernelPower& kernel) {
  double watts = 0;
  for (std::size_t j = 0; j < energies.size(); ++j) watts += energies[j] * kernel.rates[j];
  return watts;
}

// Power of a GPU's kernels: rows with hardware counters and watts. A row is predicted by energies that are fitted to
// all kernels of the shipped set but itself, so that no row predicts itself.

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
