// What one run records for people to look at: a waveform (VCD with GTKWave's save file and names) and a timeline.
// The job begins and ends it; what it recorded can be had afterwards, also when the run ended in a fault or a deadlock,
// as long as the platform exists.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/trace/journal.h"
#include "models/trace/recorder.h"
#include "models/trace/vcd.h"
#include "platform/config/energy.h"
#include "platform/elaboration/platform.h"
#include "platform/trace/timeline.h"

namespace attnvp::trace {

struct Request {
  bool waveform = false, timeline = false;
  std::vector<std::string> scopes;  // platform/trace/scope.h; none: everything
  std::uint64_t from_cycle = 0, to_cycle = UINT64_MAX;
};

// The first moment at which some MAC engine computes A.B: O begins.
class FirstPv : public TraceListener {
 public:
  static constexpr std::uint64_t kNever = UINT64_MAX;
  explicit FirstPv(const Recorder& recorder);
  void begin(std::uint64_t time, const std::vector<std::uint64_t>& values) override;
  void change(std::uint64_t time, std::uint32_t id, std::uint64_t value) override;
  void end(std::uint64_t /*time*/) override {}
  std::uint64_t time() const { return time_; }

 private:
  std::vector<bool> watched_;
  std::uint64_t time_ = kNever;
};

class Session {
 public:
  explicit Session(Request request) : request_(std::move(request)) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Before and after the simulation. begin() throws config::ConfigError for a scope that is not there.
  void begin(Platform& platform, const config::EnergyTable& energy);
  void end();

  bool recorded() const { return recorded_; }  // there is something to write
  std::string vcd() const { return vcd_->text(); }
  std::string names() const;                                                 // GTKWave's translate filter
  std::string gtkw(const std::string& vcd, const std::string& names) const;  // given those files' names
  std::string timeline() const;

 private:
  void add_energy(const config::EnergyTable& energy);

  Request request_;
  Platform* platform_ = nullptr;
  bool recorded_ = false;
  std::uint64_t start_fs_ = 0, cycles_ = 0;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<EnumCodes> codes_;
  std::unique_ptr<VcdWriter> vcd_;
  std::unique_ptr<FirstPv> first_pv_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<TimelineSignals> timeline_;
  std::function<bool(const std::string&)> wanted_;
};

}  // namespace attnvp::trace
