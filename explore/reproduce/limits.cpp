#include "explore/reproduce/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "platform/config/error.h"
#include "platform/config/hardware.h"

namespace attnvp::reproduce {

namespace {

class Search {
 public:
  Search(const MachineConfig& machine, std::string dataflow)
      : machine_(machine), energy_(config::load_energy(machine.energy)), schedule_(job::parse_dataflow(dataflow)) {
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
    return limit_;
  }

 private:
  bool attempt(std::uint32_t steps) {
    config::Network network;
    network.heads = 1;
    network.seq_q = limit_.rows;
    network.seq_kv = steps * kLimitStep;
    network.emb = kLimitEmb;
    network.name = fmt::format("{} x {}", network.seq_q, network.seq_kv);
    try {
      if (!runner_) runner_ = std::make_unique<job::Runner>(machine_, energy_, false);
      const job::Result result = runner_->run(network, schedule_, nullptr, {});
      limit_.tokens = network.seq_kv;
      limit_.cycles = result.cycles;
      limit_.l1_peak_bytes = result.max("l1", "peak_bytes");
      return true;
    } catch (const job::RunError& e) {
      refused_with(e.what());
    } catch (const config::ConfigError& e) {
      refused_with(e.what());
    }
    runner_.reset();  // spent
    return false;
  }

  void refused_with(const std::string& sentence) {
    static const std::string kSpeaker = "firmware: ";
    const std::size_t at = sentence.find(kSpeaker);
    limit_.refused = at == std::string::npos ? sentence : sentence.substr(at + kSpeaker.size());
  }

  const MachineConfig& machine_;
  config::EnergyTable energy_;
  job::Schedule schedule_;
  std::unique_ptr<job::Runner> runner_;
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
