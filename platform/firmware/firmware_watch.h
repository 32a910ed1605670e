// What looks at RISC-V control processors while a job runs: profile, instruction log, debugger. Looking changes no
// result.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/riscv/profile.h"
#include "models/riscv_processor/riscv_processor.h"

namespace attnvp {
class Platform;
}

namespace attnvp::firmware_watch {

// Whoever may halt harts: it is asked at every instruction, and told of the end.
class Debugger {
 public:
  virtual ~Debugger() = default;
  virtual void begin(Platform& platform, const std::vector<RiscvProcessor*>& harts) = 0;
  // Both return when the hart is to go on.
  virtual void before(std::size_t hart, std::uint32_t pc) = 0;
  virtual void after(std::size_t hart, const riscv::Executed& e) = 0;
  // Nothing happens any more, by the job's end or in a deadlock.
  virtual void end(bool finished, const std::string& why) = 0;
};

struct Request {
  bool profile = false;
  bool log = false;
  std::uint64_t from_cycle = 0, to_cycle = UINT64_MAX;  // of the log, in cycles of the platform
  Debugger* debugger = nullptr;
};

class Watch {
 public:
  explicit Watch(const Request& request);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Of a run. Throws config::ConfigError where the machine has no RISC-V control processors.
  void begin(Platform& platform);
  void stuck(const std::vector<std::string>& waiting);  // before end(), where harts have not finished
  void end();

  std::string folded() const;
  std::string page(const std::string& title) const;
  const std::string& log() const { return log_; }

 private:
  class Observer;
  Request request_;
  std::vector<std::unique_ptr<Observer>> observers_;
  std::vector<std::unique_ptr<riscv::Profile>> profiles_;
  std::vector<RiscvProcessor*> harts_;
  std::vector<std::shared_ptr<const riscv::ElfFile>> programs_;  // that profiles refer to
  std::string log_;
};

}  // namespace attnvp::firmware_watch
