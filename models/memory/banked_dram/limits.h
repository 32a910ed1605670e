// Checker of a channel's commands against the limits of the data sheet, pair by pair. It is independent of the
// controller's implementation.
#pragma once

#include <array>
#include <queue>
#include <string>
#include <vector>

#include "models/memory/banked_dram/channel.h"

namespace attnvp {

class DramLimits : public DramListener {
 public:
  explicit DramLimits(const BankedConfig& config);

  void issued(const DramCommandRun& run) override;
  void done(std::uint64_t /*tag*/, Tick /*end*/) override {}
  void finish();  // after the last command

  std::uint64_t commands() const { return commands_; }
  std::uint64_t violations() const { return violations_; }
  const std::string& first() const { return first_; }  // first violation, as a sentence

 private:
  static constexpr std::size_t kCommands = 9;
  enum class LimitScope : std::uint8_t { kBank, kGroup, kRank, kOtherRank };
  struct Rule {
    DramCommand before, after;
    LimitScope scope;
    Tick clocks;  // from start to start
    const char* name;
  };
  struct CommandStart {
    Tick at;
    DramCommandRun run;
    bool operator<(const CommandStart& o) const {
      return at > o.at;
    }  // std::priority_queue has the greatest element first
  };
  using LastCommands = std::array<Tick, kCommands>;  // start of the last command of each kind

  void rules_of(const BankedConfig& config);
  Tick length_of(DramCommand command) const;
  void check(const CommandStart& event);
  void check_bus(const CommandStart& event, std::size_t bus);
  void check_state(const CommandStart& event);
  void violated(const CommandStart& event, const char* what, Tick distance, Tick wanted);
  void remember(const CommandStart& event);

  BankedConfig config_;
  std::vector<std::vector<Rule>> rules_;       // by second command
  std::priority_queue<CommandStart> waiting_;  // runs are reported in advance
  std::vector<LastCommands> banks_, groups_, ranks_;
  std::vector<std::array<Tick, 4>> activates_;
  std::vector<std::size_t> oldest_;
  std::vector<std::int64_t> rows_;  // open row of each bank, or -1
  std::array<Tick, 2> bus_until_{0, 0};
  std::uint64_t commands_ = 0, violations_ = 0;
  std::string first_;
};

}  // namespace attnvp
