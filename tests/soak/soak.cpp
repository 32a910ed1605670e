// test_soak JOBS [SEED]: random valid jobs, one after the other in one process: right results, the same cycles and
// counts with and without data, nothing that the checker finds, and memory that does not grow. `./vp soak JOBS` runs
// it.
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "platform/machine/energy.h"
#include "platform/machine/hardware.h"
#include "platform/run/job.h"
#include "platform/schedule/check/checker.h"
#include "tests/platform/random_jobs.h"
#include "tests/support/all_schedules.h"
#include "tests/support/tuned.h"

namespace attnvp {
namespace {

constexpr std::uint32_t kJobsOfMachine = 25, kAttemptsOfMachine = 100;
constexpr std::uint64_t kTold = 5;            // of what is wrong
constexpr std::uint64_t kMayGrow = 16 << 20;  // what one larger machine or job more may leave in the heap

std::uint64_t resident_bytes() {
  malloc_trim(0);
  std::uint64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

constexpr hal::ElementType kTypes[] = {hal::ElementType::kInt8, hal::ElementType::kFp8E4M3, hal::ElementType::kFp8E5M2,
                                       hal::ElementType::kBf16};

struct Job {
  workload::Attention network;
  job::Schedule schedule;
  job::RunResult full{};
};

std::optional<Job> random_job(runs::Random& r, const MachineConfig& machine) {
  static const std::vector<job::Schedule> kSchedules = runs::all_schedules();
  Job j;
  j.network = runs::random_network(r);
  if (r.one_in(2)) runs::random_rules(r, j.network);
  if (r.one_in(3)) j.network.type = kTypes[r.from(0, 3)];
  if (r.one_in(8)) j.network.soft_cap = static_cast<float>(r.from(1, 20));
  j.schedule = kSchedules[r.from(0, static_cast<std::uint32_t>(kSchedules.size() - 1))];
  job::Tiling& t = j.schedule.tiling;
  if (r.one_in(3)) t.set("nq", r.from(1, j.network.folded().seq_q));
  if (r.one_in(3)) t.set("nkv", r.from(1, j.network.seq_kv));
  try {
    j.schedule = runs::complete(machine, j.network, j.schedule);
  } catch (const std::runtime_error&) {  // it does not fit
    return std::nullopt;
  }
  return j;
}

struct Soak {
  std::uint64_t jobs = 0, refused = 0, machines = 0, wrong = 0;

  void tell(const MachineConfig& machine, const Job& j, const std::string& what) {
    if (++wrong > kTold) return;
    const workload::Attention& n = j.network;
    fmt::print("{}: {} on B={},H={},HKV={},NQ={},NKV={},E={},EV={}{} of type {} --tiling {}\n{}\n", what,
               j.schedule.text, n.batch, n.heads, n.heads_of_kv(), n.seq_q, n.seq_kv, n.emb, n.values(), n.rules(),
               static_cast<int>(n.type), job::tiling_line(j.schedule.tiling), config::to_yaml(machine));
  }

  // One after the other on one platform; after a refusal on a new one.
  void run_all(const MachineConfig& machine, std::vector<Job>& list, bool full) {
    std::unique_ptr<runs::Runner> runner;
    for (auto j = list.begin(); j != list.end();) {
      if (!runner) runner = std::make_unique<runs::Runner>(machine, config::load_energy("fusemax-45nm"), full);
      job::Tensors tensors;
      if (full) tensors = job::random_tensors(j->network, 7);
      try {
        job::RunResult result = runner->run(j->network, j->schedule, full ? &tensors : nullptr, {});
        result.output = {};
        if (full) {
          if (!result.golden.passed) tell(machine, *j, result.golden.to_string());
          j->full = std::move(result);
        } else if (!same(result, j->full)) {
          tell(machine, *j, "timing differs from full data");
        }
        ++j;
      } catch (const job::StoppedError& e) {
        tell(machine, *j, e.what());
        runner.reset();
        j = list.erase(j);
      } catch (const std::runtime_error&) {  // firmware cannot do it there
        ++refused;
        runner.reset();
        j = list.erase(j);
      }
    }
  }

  static bool same(const job::RunResult& a, const job::RunResult& b) {
    const auto equal = [](const job::CounterValue& x, const job::CounterValue& y) {
      return x.module == y.module && x.name == y.name && x.value == y.value;
    };
    return a.cycles == b.cycles &&
           std::equal(a.counters.begin(), a.counters.end(), b.counters.begin(), b.counters.end(), equal);
  }

  void check(const MachineConfig& machine, const Job& j) {
    const schedule::check::Report report = schedule::check::check(job::make_job(machine, j.network, j.schedule),
                                                                  machine, {job::result_bytes(j.network, j.schedule)});
    if (!report.findings.empty()) tell(machine, j, to_text(report.findings.front()));
  }

  void round(std::uint32_t seed, std::uint64_t most) {
    runs::Random r(seed);
    MachineConfig machine = runs::random_machine(r);
    try {
      config::check_machine(machine, {"random"});
    } catch (const std::runtime_error&) {
      return;
    }
    std::vector<Job> list;
    for (std::uint32_t i = 0; i < kAttemptsOfMachine && list.size() < std::min<std::uint64_t>(kJobsOfMachine, most);
         ++i) {
      if (std::optional<Job> j = random_job(r, machine)) list.push_back(std::move(*j));
    }
    run_all(machine, list, true);
    run_all(machine, list, false);
    for (const Job& j : list) check(machine, j);
    jobs += list.size();
    ++machines;
  }
};

int soak(std::uint64_t wanted, std::uint32_t seed) {
  Soak s;
  std::uint64_t warm = 0, next = wanted / 20, resident = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint32_t round = 0; s.jobs < wanted; ++round) {
    s.round(seed * 2654435761U + round, wanted - s.jobs);
    if (s.jobs < next && s.jobs < wanted) continue;
    next = s.jobs + wanted / 20;
    resident = resident_bytes();
    if (warm == 0) warm = resident;
    const double minutes = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / 60;
    fmt::print("{} jobs on {} machines, {} more refused, {} wrong, {:.1f} MiB resident, {:.1f} minutes\n", s.jobs,
               s.machines, s.refused, s.wrong, static_cast<double>(resident) / (1 << 20), minutes);
    std::fflush(stdout);
  }
  const bool flat = resident <= warm + kMayGrow;
  if (!flat) fmt::print("memory grows: {} bytes after a twentieth, {} at the end\n", warm, resident);
  return s.wrong == 0 && flat ? 0 : 1;
}

}  // namespace
}  // namespace attnvp

int sc_main(int argc, char** argv) {
  const std::uint64_t jobs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  if (jobs == 0) {
    std::fputs("usage: test_soak JOBS [SEED]\n", stderr);
    return 2;
  }
  return attnvp::soak(jobs, argc > 2 ? static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10)) : 1);
}

int main(int argc, char** argv) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  return sc_core::sc_elab_and_sim(argc, argv);
}
