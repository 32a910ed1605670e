// A channel of banked DRAM under random traffic: no limit of its data sheet is ever broken; and timings by hand.
#include "models/memory/banked_dram/channel.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "models/memory/banked_dram/limits.h"
#include "models/memory/banked_dram/traffic.h"
#include "platform/machine/hardware.h"

namespace attnvp {
namespace {

BankedConfig part(const std::string& name) {
  BankedConfig config;
  config::apply_dram_part(config, name);
  return config;
}

// Requests of every length to places at random, in bursts with pauses.
class RandomTraffic : public DramListener {
 public:
  RandomTraffic(const BankedConfig& config, unsigned seed)
      : config_(config), limits_(config), channel_(config, *this), random_(seed) {}

  void run(std::uint64_t requests) {
    Tick now = 0;
    for (std::uint64_t i = 0; i < requests; ++i) {
      if (below(64) == 0) now += below(2000);
      if (below(100000) == 0) now += 20 * Tick{config_.tREFI};
      now += below(2 * config_.burst_clocks());
      DramRequest request;
      request.tag = i;
      request.read = below(3) != 0;
      request.place.unit = below(config_.units());
      request.place.group = below(config_.bank_groups);
      request.place.bank = below(config_.banks);
      request.place.row = below(4);
      request.bursts = below(4) == 0 ? 1 + below(32) : 1;
      while (channel_.next() <= now) channel_.step();
      channel_.push(request, now);
      if (channel_.queued() > 256) now = std::max(now, last_);
    }
    while (!channel_.idle()) channel_.step();
    limits_.finish();
    EXPECT_EQ(done_, requests);
    EXPECT_EQ(limits_.violations(), 0U) << limits_.first();
    EXPECT_GE(limits_.commands(), requests);
  }
  const DramChannelCounts& counts() const { return channel_.counts(); }

 private:
  std::uint32_t below(std::uint64_t n) { return static_cast<std::uint32_t>(random_() % n); }
  void issued(const DramCommandRun& run) override { limits_.issued(run); }
  void done(std::uint64_t /*tag*/, Tick end) override {
    ++done_;
    last_ = end;
  }

  BankedConfig config_;
  DramLimits limits_;
  DramChannel channel_;
  std::minstd_rand0 random_;
  std::uint64_t done_ = 0;
  Tick last_ = 0;
};

const char* const kParts[] = {"lpddr4-3200", "lpddr4-4266", "lpddr5-6400", "ddr4-2400", "ddr5-4800",
                              "hbm2",        "hbm2e",       "hbm3",        "gddr6x",    "gddr7"};

TEST(BankedDram, KeepsAllLimitsOverAMillionRequests) { RandomTraffic(part("lpddr4-3200"), 1).run(1000000); }

TEST(BankedDram, KeepsAllLimitsOfEveryPartAndPolicy) {
  unsigned seed = 1;
  for (const char* name : kParts) {
    for (const PagePolicy page :
         {PagePolicy::kOpen, PagePolicy::kClosed, PagePolicy::kOpenAdaptive, PagePolicy::kClosedAdaptive}) {
      for (const RefreshPolicy refresh : {RefreshPolicy::kOff, RefreshPolicy::kAllBank, RefreshPolicy::kPerBank}) {
        BankedConfig config = part(name);
        config.page = page;
        config.refresh = refresh;
        config.ranks = 1 + seed % 2;
        config.age_limit = seed % 3 == 0 ? 500 : 0;
        if (seed % 2 == 0) config.write_queue = 32, config.write_high = 24, config.write_low = 8;
        SCOPED_TRACE(name);
        RandomTraffic(config, seed++).run(4000);
      }
    }
  }
}

// The checker must be able to see something.
TEST(BankedDram, CheckerTellsOfCommandsTooClose) {
  const BankedConfig config = part("lpddr4-3200");
  DramLimits limits(config);
  limits.issued({DramCommand::kActivate, 0, 0, 0, 7, 100});
  limits.issued({DramCommand::kRead, 0, 0, 0, 7, 100 + config.tRCDRD - 1});
  limits.finish();
  EXPECT_EQ(limits.violations(), 1U);
  EXPECT_EQ(limits.first(), "RD of bank 0 of rank 0 at clock 128: tRCD is 28 clocks, allowed are 29 or more");

  DramLimits rows(config);
  rows.issued({DramCommand::kActivate, 0, 0, 0, 7, 100});
  rows.issued({DramCommand::kRead, 0, 0, 0, 8, 200});
  rows.finish();
  EXPECT_EQ(rows.first(), "RD of bank 0 of rank 0 at clock 200: the open row is 7 clocks, allowed are 8 or more");
}

struct Log : DramListener {
  void issued(const DramCommandRun& run) override { runs.push_back(run); }
  void done(std::uint64_t tag, Tick end) override { ends.emplace_back(tag, end); }
  std::vector<DramCommandRun> runs;
  std::vector<std::pair<std::uint64_t, Tick>> ends;
};

DramRequest read_of(std::uint64_t tag, std::uint32_t bank, std::uint32_t row, std::uint32_t bursts = 1) {
  DramRequest request;
  request.tag = tag;
  request.place.bank = bank;
  request.place.row = row;
  request.bursts = bursts;
  return request;
}

Log served(const BankedConfig& config, const std::vector<DramRequest>& requests) {
  Log log;
  DramChannel channel(config, log);
  for (const DramRequest& request : requests) channel.push(request, 0);
  while (!channel.idle()) channel.step();
  return log;
}

TEST(BankedDram, OneReadTakesRcdAndReadLatency) {
  const BankedConfig c = part("lpddr4-3200");
  const Log log = served(c, {read_of(1, 0, 5)});
  ASSERT_EQ(log.runs.size(), 2U);
  EXPECT_EQ(log.runs[0].at, 0);
  EXPECT_EQ(log.runs[1].at, 29);
  // The command's last clock, RL, tDQSCK, eight clocks of data.
  EXPECT_EQ(log.ends[0].second, 29 + 3 + 28 + 3 + 8);
}

TEST(BankedDram, RowHitsGoFirstInABank) {
  const Log log = served(part("lpddr4-3200"), {read_of(1, 0, 5), read_of(2, 0, 6), read_of(3, 0, 5)});
  ASSERT_EQ(log.ends.size(), 3U);
  EXPECT_EQ(log.ends[0].first, 1U);
  EXPECT_EQ(log.ends[1].first, 3U);
  EXPECT_EQ(log.ends[2].first, 2U);
}

TEST(BankedDram, NoRowHitPassesARequestThatHasWaitedTooLong) {
  BankedConfig config = part("lpddr4-3200");
  config.age_limit = 20;
  const Log log = served(config, {read_of(1, 0, 5), read_of(2, 0, 6), read_of(3, 0, 5)});
  EXPECT_EQ(log.ends[1].first, 2U);
}

TEST(BankedDram, ARunKeepsTheBusBusy) {
  const BankedConfig c = part("lpddr4-3200");
  const Log log = served(c, {read_of(1, 0, 5, 32)});
  ASSERT_EQ(log.runs.size(), 2U);
  EXPECT_EQ(log.runs[1].count, 32U);
  EXPECT_EQ(log.ends[0].second, 29 + 31 * 8 + 3 + 28 + 3 + 8);
}

// While a bank gives its data, the next one is opened, in the gaps of the command bus.
TEST(BankedDram, BanksOverlap) {
  const Log log = served(part("lpddr4-3200"), {read_of(1, 0, 5, 32), read_of(2, 1, 5, 32)});
  ASSERT_EQ(log.ends.size(), 2U);
  EXPECT_EQ(log.ends[1].second - log.ends[0].second, 32 * 8);
}

// Distance between the two bursts of a request, which lie in one bank.
Tick step_of(const BankedConfig& config, bool read) {
  DramRequest request = read_of(1, 0, 5, 2);
  request.read = read;
  const Log log = served(config, {request});
  EXPECT_EQ(log.runs.size(), 2U);
  EXPECT_EQ(log.runs.back().count, 2U);
  return log.runs.back().step;
}

TEST(BankedDram, WritesOfABankGroupAreTccdLWrApart) {
  const BankedConfig ddr5 = part("ddr5-4800");
  EXPECT_EQ(step_of(ddr5, true), 12);           // tCCD_L, 5 ns
  EXPECT_EQ(step_of(ddr5, false), 24);          // tCCD_L_WR2, 10 ns
  const BankedConfig ddr4 = part("ddr4-2400");  // no key of its own: tCCD_L
  EXPECT_EQ(step_of(ddr4, false), step_of(ddr4, true));
}

// JESD79-5: tFAW of pages of 1 KiB is as long as the data of four bursts at every rate.
TEST(BankedDram, FourActivatesOfDdr5FillTheBusInTheirWindow) {
  BankedConfig config = part("ddr5-4800");
  config.page = PagePolicy::kClosed;
  config.refresh = RefreshPolicy::kOff;
  config.mapping = "row column:6 bank group column byte";  // every burst in another bank
  config.queue = 32;
  TrafficConfig traffic;
  traffic.requests = 10000;
  traffic.bytes = config.burst_bytes();
  traffic.step_bytes = traffic.bytes;
  const TrafficResult result = DramTraffic(config, traffic).run();
  EXPECT_EQ(result.counts.activates, traffic.requests);
  const auto data = static_cast<double>(traffic.requests * config.burst_clocks());
  EXPECT_GT(data / static_cast<double>(result.clocks), 0.95);
}

TEST(BankedDram, WritesArePutByAndDrained) {
  BankedConfig config = part("lpddr4-3200");
  config.write_queue = 8, config.write_high = 4, config.write_low = 0;
  std::vector<DramRequest> requests;
  for (std::uint64_t i = 0; i < 8; ++i) {
    requests.push_back(read_of(i, 0, 5));
    requests.back().read = i % 2 == 0;
  }
  Log log;
  DramChannel together(part("lpddr4-3200"), log), apart(config, log);
  for (DramChannel* channel : {&together, &apart}) {
    for (const DramRequest& request : requests) channel->push(request, 0);
    while (!channel->idle()) channel->step();
  }
  EXPECT_EQ(together.counts().turnarounds, 7U);
  EXPECT_LE(apart.counts().turnarounds, 3U);
}

TEST(BankedDram, CountsHitsMissesAndConflicts) {
  Log log;
  DramChannel channel(part("lpddr4-3200"), log);
  for (const DramRequest& request : {read_of(1, 0, 5), read_of(2, 0, 5), read_of(3, 0, 6), read_of(4, 1, 6)}) {
    channel.push(request, 0);
  }
  while (!channel.idle()) channel.step();
  EXPECT_EQ(channel.counts().hits, 1U);
  EXPECT_EQ(channel.counts().misses, 2U);
  EXPECT_EQ(channel.counts().conflicts, 1U);
  EXPECT_EQ(channel.counts().activates, 3U);
}

TEST(BankedDram, RefreshesWhileNobodyAsks) {
  const BankedConfig config = part("lpddr4-3200");
  Log log;
  DramChannel channel(config, log);
  channel.push(read_of(1, 0, 5), 0);
  while (!channel.idle()) channel.step();
  channel.push(read_of(2, 0, 5), 10 * Tick{config.tREFI} + 3000);
  while (!channel.idle()) channel.step();
  EXPECT_EQ(channel.counts().refreshes, 10U);
  EXPECT_EQ(channel.counts().misses, 2U);  // a refresh has closed the row
}

std::string complaint(const std::string& text, std::uint32_t channels = 1) {
  try {
    AddressMapping(text, part("lpddr4-3200"), channels);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "none";
}

TEST(AddressMapping, TakesAddressesApart) {
  const BankedConfig config = part("lpddr4-3200");
  const AddressMapping m("row column:6 bank column byte", config, 1);
  const DramPlace place = m.place((std::uint64_t{5} << 14) | (0x2b << 8) | (6 << 5) | (9 << 1) | 1);
  EXPECT_EQ(place.row, 5U);
  EXPECT_EQ(place.bank, 6U);
  EXPECT_EQ(place.column, (0x2bU << 4) | 9U);
  EXPECT_EQ(m.piece_bytes(), 32U);
  EXPECT_EQ(m.size_bytes(), std::uint64_t{1} << 31);
  EXPECT_EQ(AddressMapping("row bank column byte", config, 1).piece_bytes(), 2048U);
}

TEST(AddressMapping, HashesByTheRow) {
  const AddressMapping m("row bank^row+1 column byte", part("lpddr4-3200"), 1);
  EXPECT_EQ(m.place((std::uint64_t{0b1110} << 14) | (0b001 << 11)).bank, 0b001U ^ 0b111U);
}

TEST(AddressMapping, PutsChannelsInWhereTheTextHasNone) {
  BankedConfig config = part("lpddr4-3200");
  config.interleave_bytes = 256;
  const AddressMapping m("row bank column byte", config, 4);
  EXPECT_EQ(m.place(0).channel, 0U);
  EXPECT_EQ(m.place(255).channel, 0U);
  EXPECT_EQ(m.place(256).channel, 1U);
  EXPECT_EQ(m.place(1024).channel, 0U);
  EXPECT_EQ(m.place(1024).column, 128U);
  EXPECT_EQ(m.piece_bytes(), 256U);
}

TEST(AddressMapping, Complains) {
  EXPECT_EQ(complaint("row bank column byte"), "none");
  EXPECT_EQ(complaint("row bank column"), "1 bits of the byte are missing");
  EXPECT_EQ(complaint("row:99 bank column byte"), "'row:99' is of 99 bits where 17 are left of the part's");
  EXPECT_EQ(complaint("rows bank column byte"),
            "field 'rows' is unknown; allowed are row, group, bank, rank, pseudo, channel, column, byte");
  EXPECT_EQ(complaint("row bank^bank column byte"),
            "found 'bank^bank'; allowed is NAME, NAME:BITS, NAME^row, NAME:BITS^row+BIT");
  EXPECT_EQ(complaint("row:x bank column byte"),
            "found 'row:x'; allowed is NAME, NAME:BITS, NAME^row, NAME:BITS^row+BIT");
}

}  // namespace
}  // namespace attnvp
