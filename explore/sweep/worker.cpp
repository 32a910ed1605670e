#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <string_view>

#include "explore/layers/layers.h"
#include "explore/sweep/database.h"
#include "explore/sweep/sweep.h"
#include "explore/tuning/tuner.h"
#include "models/memory/storage/host_memory.h"
#include "platform/machine/energy.h"
#include "platform/report/report.h"

namespace attnvp::explore {

namespace {
constexpr std::uint64_t kTensorSeed = 1;  // same as `attnvp run`
}

const config::EnergyTable& JobRunner::energy(const std::string& name) {
  const auto known = energies_.find(name);
  return known != energies_.end() ? known->second : energies_.emplace(name, config::load_energy(name)).first->second;
}

std::string JobRunner::simulate(const SweepJob& job) {
  const PlannedMachine& machine = plan_.machines[job.machine];
  if (!machine.problem.empty()) throw config::ConfigError(machine.problem);
  const PlannedSchedule& planned = plan_.schedules[job.schedule];
  const workload::Workload& network = plan_.networks[job.network];
  TuningOptions options;
  if (planned.searched) options.search_longer();
  if (network.scope != workload::Scope::kAttention) return simulate_layers(job, options);
  const config::EnergyTable& energies = energy(machine.config.energy);
  const Problem problem{machine.config, network, planned.schedule, energies};
  const job::Schedule schedule =
      planned.is_auto ? pick_dataflow(problem, options).best().schedule : tune(problem, options);
  if (runner_ == nullptr || machine_ != job.machine) {
    runner_.reset();
    runner_ = std::make_unique<job::Runner>(machine.config, energies, plan_.full);
    machine_ = job.machine;
  }
  if (!plan_.full) return report::to_json(runner_->run(network, schedule, nullptr, {}), machine.config.name);
  const job::Tensors tensors = job::random_tensors(network, kTensorSeed);
  const job::RunResult result = runner_->run(network, schedule, &tensors, {});
  if (!result.golden.passed) throw job::RunError("golden check failed: " + result.golden.to_string());
  return report::to_json(result, machine.config.name);
}

std::string JobRunner::simulate_layers(const SweepJob& job, const TuningOptions& tuning) {
  const MachineConfig& machine = plan_.machines[job.machine].config;
  const PlannedSchedule& planned = plan_.schedules[job.schedule];
  LayerOptions options;
  options.full = plan_.full;
  options.seed = kTensorSeed;
  options.tiling = planned.schedule.tiling;
  options.tuning = tuning;
  runner_.reset();  // one machine at a time
  const LayerRun run =
      run_layer(machine, plan_.networks[job.network], planned.schedule.text, energy(machine.energy), options);
  const job::RunResult result = combined(run);
  if (result.golden_checked && !result.golden.passed) {
    throw job::RunError("golden check failed: " + result.golden.to_string());
  }
  return report::to_json(result, machine.name);
}

Outcome JobRunner::run(std::uint32_t job) {
  try {
    return {kDone, simulate(plan_.jobs[job])};
  } catch (const host_memory::Exceeded& problem) {
    runner_.reset();
    return {kCrashed, problem.what()};
  } catch (const std::bad_alloc&) {
    runner_.reset();
    return {kCrashed, "this host has not enough memory for that layer or machine"};
  } catch (const config::ConfigError& problem) {
    runner_.reset();
    return {kFailed, problem.what()};
  } catch (const job::RunError& problem) {
    runner_.reset();
    return {kFailed, problem.what()};
  } catch (const std::exception& problem) {
    runner_.reset();
    return {kCrashed, std::string("unexpected failure: ") + problem.what()};
  }
}

namespace {

constexpr std::size_t kGivenAtOnce = 16;  // jobs assigned ahead, so that a worker does not wait
constexpr std::size_t kGivenAtEnd = 1;    // near the end, so that all workers finish together

struct Header {
  std::uint32_t job, status, bytes;
};
constexpr std::string_view kStatuses[] = {kDone, kFailed, kCrashed};

bool write_all(int file, const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = ::write(file, at, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

// Main loop of a child: reads job numbers and writes results until the parent closes the pipe.
[[noreturn]] void work(const SweepPlan& plan, int commands, int results) {
  JobRunner runner(plan);
  std::uint32_t job = 0;
  while (::read(commands, &job, sizeof job) == sizeof job) {
    const Outcome outcome = runner.run(job);
    const auto status =
        std::find(std::begin(kStatuses), std::end(kStatuses), std::string_view(outcome.status)) - std::begin(kStatuses);
    const Header header{job, static_cast<std::uint32_t>(status), static_cast<std::uint32_t>(outcome.text.size())};
    std::string message(reinterpret_cast<const char*>(&header), sizeof header);
    message += outcome.text;
    if (!write_all(results, message.data(), message.size())) break;
  }
  ::_exit(0);  // skips the parent's cleanup
}

}  // namespace

WorkerPool::WorkerPool(const SweepPlan& plan, unsigned workers) : plan_(plan), workers_(workers) {
  std::signal(SIGPIPE, SIG_IGN);
  for (PoolWorker& worker : workers_) start(worker);
}

WorkerPool::~WorkerPool() {
  for (PoolWorker& worker : workers_) end(worker);
}

void WorkerPool::start(PoolWorker& worker) {
  int commands[2], results[2];
  const auto fail = [](const char* what) {
    throw config::ConfigError(fmt::format("a worker cannot be started: {}: {}", what, std::strerror(errno)));
  };
  if (::pipe2(commands, O_CLOEXEC) != 0) fail("pipe");
  if (::pipe2(results, O_CLOEXEC) != 0) fail("pipe");
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) fail("fork");
  if (pid == 0) {
    // The parent handles Ctrl-C, which is sent to the whole process group. A child dies with its parent.
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGTERM, SIG_DFL);
    std::signal(SIGHUP, SIG_DFL);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);
    ::close(commands[1]);
    ::close(results[0]);
    for (const PoolWorker& other : workers_) {
      if (other.commands >= 0) ::close(other.commands);
      if (other.results >= 0) ::close(other.results);
    }
    host_memory::set_limit(host_memory::limit() / workers_.size());
    work(plan_, commands[0], results[1]);
  }
  ::close(commands[0]);
  ::close(results[1]);
  worker.pid = pid;
  worker.commands = commands[1];
  worker.results = results[0];
}

void WorkerPool::end(PoolWorker& worker) {
  if (worker.pid < 0) return;
  ::kill(worker.pid, SIGKILL);
  ::close(worker.commands);
  ::close(worker.results);
  ::waitpid(worker.pid, nullptr, 0);
  worker = {};
}

void WorkerPool::feed(PoolWorker& worker) {
  const std::size_t share = waiting_.size() / (4 * workers_.size());
  const std::size_t most = std::clamp(share, kGivenAtEnd + 1, kGivenAtOnce);
  if (worker.given.size() > most / 2) return;
  while (!waiting_.empty() && worker.given.size() < most) {
    const std::uint32_t job = waiting_.front();
    waiting_.pop_front();
    worker.given.push_back(job);
    write_all(worker.commands, &job, sizeof job);  // a dead worker is detected by read_results
  }
}

bool WorkerPool::wait(int milliseconds, const JobCallback& done) {
  std::vector<pollfd> polls;
  bool busy = false;
  for (PoolWorker& worker : workers_) {
    feed(worker);
    busy = busy || !worker.given.empty();
    polls.push_back({worker.results, POLLIN, 0});
  }
  if (!busy) return false;
  if (::poll(polls.data(), polls.size(), milliseconds) <= 0) return true;
  for (std::size_t i = 0; i < polls.size(); ++i) {
    if (polls[i].revents != 0) read_results(workers_[i], done);
  }
  return true;
}

void WorkerPool::read_results(PoolWorker& worker, const JobCallback& done) {
  char buffer[65536];
  const ssize_t n = ::read(worker.results, buffer, sizeof buffer);
  if (n < 0 && errno == EINTR) return;
  if (n <= 0) {
    bury(worker, done);
    return;
  }
  worker.received.append(buffer, static_cast<std::size_t>(n));
  std::size_t at = 0;
  for (Header header{}; worker.received.size() - at >= sizeof header; at += sizeof header + header.bytes) {
    std::memcpy(&header, worker.received.data() + at, sizeof header);
    if (worker.received.size() - at - sizeof header < header.bytes) break;
    worker.given.pop_front();
    done(header.job, {kStatuses[header.status].data(), worker.received.substr(at + sizeof header, header.bytes)});
  }
  worker.received.erase(0, at);
}

// Handles a dead worker: its running job is crashed, its other jobs are requeued, and a new worker is started.
void WorkerPool::bury(PoolWorker& worker, const JobCallback& done) {
  int status = 0;
  ::waitpid(worker.pid, &status, 0);
  ::close(worker.commands);
  ::close(worker.results);
  const std::deque<std::uint32_t> given = std::move(worker.given);
  worker = {};
  start(worker);
  if (given.empty()) return;
  waiting_.insert(waiting_.begin(), given.begin() + 1, given.end());
  done(given.front(), {kCrashed, WIFSIGNALED(status) ? fmt::format("the simulator was ended by signal {} ({})",
                                                                   WTERMSIG(status), ::strsignal(WTERMSIG(status)))
                                                     : "the simulator ended before its time"});
}

}  // namespace attnvp::explore
