// Observers of RISC-V control processors during a run: profile, instruction log, debugger. Observation does not change
// results.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/control/riscv/profile.h"
#include "models/control/riscv_processor/riscv_processor.h"

namespace attnvp {
class Platform;
}

namespace attnvp::firmware_watch {

// Debugger interface, called before and after every instruction; it may halt harts.
class Debugger {
 public:
  virtual ~Debugger() = default;
  virtual void begin(Platform& platform, const std::vector<RiscvProcessor*>& harts) = 0;
  // Both return when the hart may continue.
  virtual void before(std::size_t hart, std::uint32_t pc) = 0;
  virtual void after(std::size_t hart, const riscv::Executed& e) = 0;
  // Called when the job has finished or is in a deadlock.
  virtual void end(bool finished, const std::string& why) = 0;
};

struct WatchRequest {
  bool profile = false;
  bool log = false;
  std::uint64_t from_cycle = 0, to_cycle = UINT64_MAX;  // of the log, in cycles of the platform
  Debugger* debugger = nullptr;
};

class Watch {
 public:
  explicit Watch(const WatchRequest& request);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Starts observing. Throws config::ConfigError if the machine has no RISC-V control processors.
  void begin(Platform& platform);
  void stuck(const std::vector<std::string>& waiting);  // call before end() if harts have not finished
  void end();

  std::string folded() const;
  std::string page(const std::string& title) const;
  const std::string& log() const { return log_; }

 private:
  class WatchObserver;
  WatchRequest request_;
  std::vector<std::unique_ptr<WatchObserver>> observers_;
  std::vector<std::unique_ptr<riscv::Profile>> profiles_;
  std::vector<RiscvProcessor*> harts_;
  std::vector<std::shared_ptr<const riscv::ElfFile>> programs_;  // referenced by the profiles
  std::string log_;
};

}  // namespace attnvp::firmware_watch
