#include "explore/reproduce/limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "explore/tuning/tuned_runner.h"
#include "platform/config/error.h"
#include "platform/config/hardware.h"

namespace attnvp::reproduce {

namespace {

class Search {
 public:
  Search(const MachineConfig& machine, std::string dataflow)
      : machine_(machine), schedule_(job::parse_dataflow(dataflow)) {
    limit_.dataflow = std::move(dataflow);
    limit_.cores = machine.cores;
    limit_.rows = kLimitRowsPerCore * machine.cores * machine.clusters;
  }

  // In steps: doubling up to the first refusal, then halving the gap.
  Limit find() {
    const std::uint32_t most = kLongestLayer / kLimitStep;
    std::uint32_t runs = 0, refused = most + 1;
    for (std::uint32_t steps = 1; refused > most && runs < most; steps = std::min(2 * steps, most)) {
      (attempt(steps) ? runs : refused) = steps;
    }
    while (refused - runs > 1 && runs < most) {
      const std::uint32_t steps = runs + (refused - runs) / 2;
      (attempt(steps) ? runs : refused) = steps;
    }
    if (runs > 0) run(runs);
    return limit_;
  }

 private:
  config::Network layer(std::uint32_t steps) const {
    config::Network network;
    network.heads = 1;
    network.seq_q = limit_.rows;
    network.seq_kv = steps * kLimitStep;
    network.emb = kLimitEmb;
    network.name = fmt::format("{} x {}", network.seq_q, network.seq_kv);
    return network;
  }

  // Whether there are any tiles for it that the machine has room for.
  bool attempt(std::uint32_t steps) {
    try {
      explore::first_fit(machine_, layer(steps), schedule_);
      return true;
    } catch (const job::RunError& e) {
      refused_with(e.what());
    } catch (const config::ConfigError& e) {
      refused_with(e.what());
    }
    return false;
  }

  void run(std::uint32_t steps) {
    const config::Network network = layer(steps);
    const job::Result result =
        explore::TunedRunner(machine_, config::load_energy(machine_.energy), false).run(network, schedule_);
    limit_.tokens = network.seq_kv;
    limit_.cycles = result.cycles;
    limit_.l1_peak_bytes = result.max("l1", "peak_bytes");
  }

  void refused_with(const std::string& sentence) {
    static const std::string kSpeaker = "firmware: ";
    const std::size_t at = sentence.find(kSpeaker);
    limit_.refused = at == std::string::npos ? sentence : sentence.substr(at + kSpeaker.size());
  }

  const MachineConfig& machine_;
  job::Schedule schedule_;
  Limit limit_;
};

}  // namespace

std::vector<Limit> find_limits(const MachineConfig& machine, const std::vector<std::string>& dataflows,
                               const std::function<void(const std::string& dataflow, std::uint32_t cores)>& progress) {
  std::vector<MachineConfig> machines{machine};
  if (machine.cores > 1) {
    machines.push_back(machine);
    machines.back().cores = 1;
    config::check_machine(machines.back(), {machine.name + " with cores=1"});
  }
  std::vector<Limit> limits;
  for (const std::string& dataflow : dataflows) {
    for (const MachineConfig& m : machines) {
      progress(dataflow, m.cores);
      limits.push_back(Search(m, dataflow).find());
    }
  }
  return limits;
}

}  // namespace attnvp::reproduce
