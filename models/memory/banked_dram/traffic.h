// Traffic generator for one channel: at most one request per clock, with strided or random addresses and a limit on
// requests in flight. For measurements of the DRAM alone.
#pragma once

#include <cstdint>
#include <deque>
#include <random>

#include "models/memory/banked_dram/address_mapping.h"
#include "models/memory/banked_dram/channel.h"

namespace attnvp {

struct TrafficConfig {
  std::uint64_t requests = 60000;
  std::uint32_t bytes = 32;      // of a request
  std::uint64_t step_bytes = 0;  // stride; 0: random addresses
  double read_share = 1;
  std::uint32_t pending = 0;  // limit on reads and on writes in flight; 0: none
  std::uint32_t seed = 7;
};

struct TrafficResult {
  Tick clocks = 0;  // until the last response
  std::uint64_t bytes = 0;
  DramChannelCounts counts;
};

class DramTraffic : private DramListener {
 public:
  // `watch` receives all commands.
  DramTraffic(const BankedConfig& config, const TrafficConfig& traffic, DramListener* watch = nullptr);
  TrafficResult run();

 private:
  void accepted(std::uint64_t tag, Tick free) override;
  void issued(const DramCommandRun& run) override;
  void done(std::uint64_t tag, Tick end) override;
  void send(Tick now);
  DramRequest make();
  bool may_send() const {
    return traffic_.pending == 0 || (under_way_[0] < traffic_.pending && under_way_[1] < traffic_.pending);
  }

  BankedConfig config_;
  TrafficConfig traffic_;
  AddressMapping mapping_;
  DramListener* watch_;
  DramChannel channel_;
  std::minstd_rand0 random_;
  std::uniform_int_distribution<std::uint64_t> address_;
  std::uniform_real_distribution<double> share_{0, 1};
  std::uint64_t sent_ = 0;
  std::uint32_t under_way_[2] = {0, 0};  // writes, reads
  bool postponed_ = false;
  Tick free_ = 0;  // time at which the port accepts the next request
  bool accepted_ = false;
  struct TrafficResponse {
    Tick at;
    bool read;
  };
  std::deque<TrafficResponse> answers_;  // one per clock, in the order of their reads and writes
  Tick last_answer_ = -1;
};

}  // namespace attnvp
