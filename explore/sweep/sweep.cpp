#include "explore/sweep/sweep.h"

#include <chrono>
#include <map>

#include "platform/text/printable.h"

namespace attnvp::explore {

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kLookMilliseconds = 200;
constexpr auto kCommitEvery = std::chrono::milliseconds(250);

// What is left to do of the share, counted in `progress`.
std::vector<std::uint32_t> left_of(const Plan& plan, const SweepOptions& o, SweepProgress& progress,
                                   Database::Mode mode) {
  Database database(o.database, mode);
  database.require_this_simulator();
  if (mode == Database::Mode::kWrite) {
    database.add_axes(plan.axes);
    database.add_sweeps({{plan.identity(), plan.name}});
  }
  const std::map<std::string, std::string> finished = database.finished();
  std::vector<std::uint32_t> left;
  for (const std::uint32_t job : share_of(plan, o.shard, o.shards)) {
    ++progress.jobs;
    const auto known = finished.find(plan.jobs[job].key);
    if (known == finished.end() || (o.retry && !known->second.empty())) {
      left.push_back(job);
      continue;
    }
    ++progress.skipped;
    if (!known->second.empty()) progress.failures.push_back(known->second);
  }
  return left;
}

}  // namespace

SweepProgress run_sweep(const Plan& plan, const SweepOptions& o) {
  SweepProgress progress;
  const NoEmptyDatabase guard(o.database);
  const std::vector<std::uint32_t> left = left_of(plan, o, progress, Database::Mode::kWrite);
  if (left.empty()) return progress;

  WorkerPool pool(plan, static_cast<unsigned>(std::min<std::size_t>(o.jobs, left.size())));
  pool.add(left);
  Database database(o.database, Database::Mode::kWrite);  // only now: a fork must not have it
  bool open = false;
  Clock::time_point committed = Clock::now();
  const auto commit = [&] {
    if (open) database.commit();
    open = false;
    committed = Clock::now();
  };
  const auto store = [&](std::uint32_t job, const Outcome& outcome) {
    if (!open) database.begin();
    open = true;
    database.store(row_of(plan, plan.jobs[job], outcome));
    ++(outcome.status == std::string(kDone)     ? progress.done
       : outcome.status == std::string(kFailed) ? progress.failed
                                                : progress.crashed);
    if (outcome.status != std::string(kDone)) progress.failures.push_back(text::printable(outcome.text));
  };
  while (!(o.stop && o.stop()) && pool.wait(kLookMilliseconds, store)) {
    if (Clock::now() - committed > kCommitEvery) commit();
    if (o.progress) o.progress(progress);
  }
  commit();
  return progress;
}

SweepProgress sweep_status(const Plan& plan, const SweepOptions& o) {
  SweepProgress progress;
  left_of(plan, o, progress, Database::Mode::kRead);
  return progress;
}

}  // namespace attnvp::explore
