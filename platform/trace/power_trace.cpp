#include <algorithm>
#include <cmath>
#include <string_view>

#include "platform/run/results/accounting.h"
#include "platform/trace/session.h"

namespace attnvp::trace {

namespace {

constexpr double kWattsOfPjPerFs = 1000;
constexpr std::size_t kMostCells = std::size_t{1} << 21;  // of all series; beyond it windows are doubled
constexpr std::uint64_t kLongest = UINT64_MAX / 4;
constexpr double kRounding = 1e-10;  // of sums of parts

std::uint64_t since(std::uint64_t time, std::uint64_t origin) { return time > origin ? time - origin : 0; }

}  // namespace

PowerTrace::PowerTrace(Platform& platform, const config::EnergyTable& energy,
                       const std::function<bool(const std::string& module)>& wanted, std::uint64_t window_fs, Cut cut)
    : platform_(platform),
      origin_fs_(platform.context().clock.now_fs()),
      window_fs_(std::clamp<std::uint64_t>(window_fs, 1, kLongest)),
      cut_(cut) {
  constexpr std::size_t kNotShown = SIZE_MAX;
  for_each_module(platform, [&](Module& module) {
    const std::size_t terms = terms_.size(), standing = standing_.size();
    const bool shown = wanted(module.name());
    add_module(module, shown ? scopes_.size() : kNotShown, energy);
    if (shown && (terms_.size() > terms || standing_.size() > standing)) scopes_.emplace_back(module.name());
  });
  scopes_.emplace_back(platform.name());
  const std::size_t all = scopes_.size() - 1;
  for (Term& term : terms_) term.series = std::min(term.series, all);
  for (StandingPower& s : standing_) s.series = std::min(s.series, all);
  for (std::size_t i = 0; i < terms_.size(); ++i) term_of_[terms_[i].counter] = i;
  before_.assign(scopes_.size(), 0);
  windows_.resize(scopes_.size());
  most_windows_ = std::max<std::size_t>(kMostCells / scopes_.size(), 1024);
}

void PowerTrace::add_module(Module& module, std::size_t series, const config::EnergyTable& table) {
  const config::EnergyTable& energy = table.of_module(module.name());
  const auto add_term = [&](const Counter& counter, double pj) {
    terms_.push_back({&counter, series, pj, most_per_fs(counter)});
  };
  for (const Counter* counter : module.counters()) {
    const attnvp::Action& action = counter->action();
    // An action without energy is an error only if it occurs; the job reports it.
    if (action.component == nullptr || !energy.has(action.component, action.name)) continue;
    add_term(*counter, energy.pj(action.component, action.name, module.size_bytes()));
  }
  // Cycles of power gating are reported at their end.
  const TechnologyConfig& technology = platform_.machine().technology;
  double spared = 0;
  for (const job::Standing& s : job::standing_of(module, energy)) {
    const double pj = energy.pj(s.component, s.action, 0);
    standing_.push_back({series, pj});
    if (technology.gating == "power" || (technology.gating != "none" && s.cycles == &job::PoweredCycles::clocked)) {
      spared += pj;
    }
  }
  for (const Counter* counter : module.counters()) {
    if (spared > 0 && std::string_view(counter->name()) == "gated_cycles") add_term(*counter, -spared);
  }
  if (std::string_view(module.basename()) != "l0") return;
  L0 l0;
  for (const Counter* counter : module.counters()) {
    if (std::string_view(counter->name()) == "read_words") l0.read = counter;
    if (std::string_view(counter->name()) == "write_words") l0.write = counter;
  }
  for (sc_core::sc_object* sibling : module.get_parent_object()->get_child_objects()) {
    if (const auto* const engine = dynamic_cast<Module*>(sibling)) l0_of_[engine] = l0;
  }
}

// Requests are counted at once; their data passes at the rate of memories and control buses.
double PowerTrace::most_per_fs(const Counter& counter) const {
  const MachineConfig& m = platform_.machine();
  const std::string_view component = counter.action().component == nullptr ? "" : counter.action().component;
  const std::string_view action = counter.action().name == nullptr ? "" : counter.action().name;
  const double cycle_fs = static_cast<double>(platform_.context().clock.period_fs());
  if (component == "attnvp.dram" && (action == "read" || action == "write")) {
    return m.dram.bytes_per_second / 2 * 1e-15;
  }
  if (component != "attnvp.network" || action != "byte") return 0;
  const double control = 1.0 * m.clusters * m.control.bus_bytes / std::max<double>(m.control.access_cycles, 1);
  const double ports =
      m.clusters > 1 ? m.sum_of_clusters([](const MachineConfig& c) { return c.l1.port_bytes_per_cycle; }) : 0;
  return (m.dram.bytes_per_second + (m.has_l2() ? m.l2.bytes_per_second : 0)) * 1e-15 + (control + ports) / cycle_fs;
}

std::uint64_t PowerTrace::now() const { return since(platform_.context().clock.now_fs(), origin_fs_); }

void PowerTrace::done(const Counter& counter, double amount, std::uint64_t from_fs, std::uint64_t to_fs) {
  const auto found = term_of_.find(&counter);
  if (found == term_of_.end()) return;
  Term& term = terms_[found->second];
  term.tells = true;
  term.told += amount;
  add(term.series, amount * term.pj, since(from_fs, origin_fs_), since(to_fs, origin_fs_));
}

void PowerTrace::will_tell(const Counter& counter) {
  const auto found = term_of_.find(&counter);
  if (found != term_of_.end()) terms_[found->second].tells = true;
}

void PowerTrace::accessed_l0(const Module& engine, double read_words, double write_words, std::uint64_t from_fs,
                             std::uint64_t to_fs) {
  const auto l0 = l0_of_.find(&engine);
  if (l0 == l0_of_.end() || l0->second.read == nullptr || l0->second.write == nullptr) return;
  done(*l0->second.read, read_words, from_fs, to_fs);
  done(*l0->second.write, write_words, from_fs, to_fs);
}

// An interval is at least one cycle.
void PowerTrace::add(std::size_t series, double pj, std::uint64_t from, std::uint64_t to) {
  if (pj == 0) return;
  to = std::max(to, from + platform_.context().clock.period_fs());
  const PowerInterval interval{series, pj, from, to};
  to <= now() ? place(interval) : to_come_.push_back(interval);
}

void PowerTrace::place(const PowerInterval& i) {
  const double pj_per_fs = i.pj / static_cast<double>(i.to - i.from);
  if (i.from < cut_.from) before_[i.series] += pj_per_fs * static_cast<double>(std::min(i.to, cut_.from) - i.from);
  const std::uint64_t to = std::min(i.to, cut_.to);
  std::uint64_t from = std::max(i.from, cut_.from);
  if (from >= to) return;
  const auto first_window = [this] { return cut_.from == 0 ? 0 : cut_.from / window_fs_; };  // divisions are slow
  std::uint64_t origin = first_window(), last = (to - 1) / window_fs_;
  while (last - origin >= most_windows_) {
    double_windows();
    origin = first_window();
    last = (to - 1) / window_fs_;
  }
  std::vector<double>& windows = windows_[i.series];
  if (windows.size() <= last - origin) windows.resize(last - origin + 1);
  for (std::uint64_t window = from / window_fs_; window <= last; ++window) {
    const std::uint64_t until = std::min(to, (window + 1) * window_fs_);
    windows[window - origin] += pj_per_fs * static_cast<double>(until - from);
    from = until;
  }
}

void PowerTrace::double_windows() {
  const std::uint64_t first = cut_.from / window_fs_;
  for (std::vector<double>& windows : windows_) {
    std::vector<double> twice;
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const std::size_t at = (first + i) / 2 - first / 2;
      if (twice.size() <= at) twice.resize(at + 1);
      twice[at] += windows[i];
    }
    windows = std::move(twice);
  }
  window_fs_ *= 2;
}

void PowerTrace::place_due(std::uint64_t time) {
  const auto is_over = [&](const PowerInterval& i) { return i.to <= time; };
  for (const PowerInterval& i : to_come_) {
    if (is_over(i)) place(i);
  }
  to_come_.erase(std::remove_if(to_come_.begin(), to_come_.end(), is_over), to_come_.end());
}

void PowerTrace::sample() {
  const std::uint64_t time = now();
  place_due(time);
  if (time <= sampled_) return;
  const std::uint64_t from = std::exchange(sampled_, time);
  for (Term& term : terms_) {
    const std::uint64_t value = term.counter->value();
    if (!term.tells) {
      term.to_come += static_cast<double>(value - std::min(value, term.seen));
      double amount = term.to_come;
      if (term.most_per_fs > 0) amount = std::min(amount, term.most_per_fs * static_cast<double>(time - from));
      term.to_come -= amount;
      add(term.series, amount * term.pj, from, time);
    }
    term.seen = value;
  }
}

void PowerTrace::end() {
  sample();
  end_ = std::max<std::uint64_t>(now(), 1);
  for (PowerInterval i : std::exchange(to_come_, {})) {  // the run's energy was spent within it
    i.to = end_;
    i.from = std::min(i.from, end_ - 1);
    place(i);
  }
  // Remainders: an odd byte counted as a word, and counted work of an aborted run.
  for (const Term& term : terms_) {
    const auto counted = static_cast<double>(term.counter->value());
    const double rest = term.tells ? counted - term.told : term.to_come;
    if (std::abs(rest) > kRounding * counted) place({term.series, rest * term.pj, 0, end_});
  }
  place({windows_.size() - 1, 0, 0, end_});  // extends the windows to the end
  const auto cycles = static_cast<double>(now() / platform_.context().clock.period_fs());
  for (const StandingPower& s : standing_) place({s.series, s.pj_per_cycle * cycles, 0, end_});
  std::size_t windows = 0;
  for (const std::vector<double>& of : windows_) windows = std::max(windows, of.size());
  for (std::vector<double>& of : windows_) of.resize(windows);
  for (std::size_t s = 0; s + 1 < windows_.size(); ++s) {
    before_.back() += before_[s];
    for (std::size_t w = 0; w < windows; ++w) windows_.back()[w] += windows_[s][w];
  }
}

std::uint64_t PowerTrace::first_of(std::size_t window) const {
  return std::max(cut_.from, (cut_.from / window_fs_ + window) * window_fs_);
}

std::uint64_t PowerTrace::end_of(std::size_t window) const {
  return std::min({(cut_.from / window_fs_ + window + 1) * window_fs_, cut_.to, end_});
}

double PowerTrace::watts(std::size_t series, std::size_t window) const {
  return windows_[series][window] / static_cast<double>(end_of(window) - first_of(window)) * kWattsOfPjPerFs;
}

std::vector<PowerTrace::PowerSample> PowerTrace::points(std::size_t series) const {
  std::vector<PowerSample> points;
  double pj = before_[series];
  const std::vector<double>& windows = windows_[series];
  for (std::size_t w = 0; w < windows.size(); ++w) {
    points.push_back({first_of(w), pj, watts(series, w)});
    pj += windows[w];
  }
  points.push_back({std::max(cut_.from, std::min(cut_.to, end_)), pj, 0});
  return points;
}

void PowerTrace::for_each_window(
    const std::function<void(std::uint64_t from_fs, std::size_t series, double watts)>& visit) const {
  for (std::size_t w = 0; w < windows_.back().size(); ++w) {
    for (std::size_t s = 0; s < windows_.size(); ++s) {
      if (w == 0 || watts(s, w) != watts(s, w - 1)) visit(first_of(w), s, watts(s, w));
    }
  }
}

}  // namespace attnvp::trace
