#include "explore/validate/power_fit.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "explore/validate/data_set.h"
#include "platform/machine/energy.h"
#include "platform/machine/energy/machine_model.h"

namespace attnvp::validate {

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

}  // namespace attnvp::validate
