// Examiner of a trace: visits the steps in a possible order and compares each with earlier accesses.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "platform/schedule/bus.h"
#include "platform/schedule/check/checker.h"
#include "platform/schedule/check/trace.h"
#include "platform/schedule/check/trackers.h"

namespace attnvp::schedule::check {

class Examiner {
 public:
  Examiner(const Job& job, const Trace& trace, const CheckOptions& options);
  Report run();

 private:
  void tokens();
  void deadlock();
  bool stuck(LineId line, Finding& finding, bool& root) const;
  void complaints();
  void memories();
  void command(LineId line, std::uint32_t step);
  void look_for_blanks(const Access& access, const Touch& now, BlankRows& rows);
  Interval torn(const Region& region) const;
  std::uint64_t source_of(const Touch& write, std::uint64_t address, std::uint64_t& row_stride) const;
  void keys(LineId line, std::uint32_t step);
  const hal::Descriptor* maker(std::uint64_t address, const Touch*& by) const;
  void scales(LineId line, std::uint32_t step);
  void space(LineId line, std::uint32_t step);
  void result(const std::vector<ByteRange>& parts);
  bool is_appended(const Region& region) const;
  bool ordered(const Touch& before, const Touch& now) const;
  bool ordered_in_line(const Touch& before, const Touch& now) const;
  void race(const Touch& one, const Touch& other);

  Party party(LineId line, std::uint32_t step, const char* access, std::uint64_t address) const;
  Party party(const Touch& touch) const;
  std::string place(std::uint32_t cluster, std::uint64_t address) const;
  // Event that usually orders the two queues: one that either command names, or any; kNone: there is none.
  std::uint32_t event_between(const Touch& before, const Touch& now) const;
  // "e4 (P from VEC)": the event's name and, as in waveforms, what its tokens stand for.
  std::string event_text(std::uint32_t event, std::uint32_t seen_from) const;
  Finding about(FindingKind kind, const Touch& touch, Interval bytes, const char* detail) const;
  void tell(FindingKind kind, const Touch& touch, Interval bytes, const char* detail);
  void add(Finding finding, LineId first, LineId second);

  const Job& job_;
  const Trace& trace_;
  CheckOptions options_;
  Clocks clocks_;
  Progress order_;
  std::vector<ByteRange> appended_;  // of K and V; not written by the host
  std::uint64_t given_end_;          // of what the host writes
  Shadow shadow_;
  Blanks blanks_;
  KeyTracker keys_;
  struct Freed {
    std::uint32_t step;
    Interval bytes;
  };
  std::vector<std::vector<Freed>> freed_;  // of each cluster, so far
  struct Maximum {                         // command that computed the maximum
    LineId line = kNone;
    std::uint32_t step = 0;
    std::uint64_t address = 0;  // of its result
    bool operator==(const Maximum& o) const { return line == o.line && step == o.step; }
  };
  std::map<std::pair<LineId, std::uint32_t>, Maximum> made_with_;  // by commands that use a maximum
  std::map<std::tuple<FindingKind, LineId, LineId>, std::size_t> known_;
  Report report_;
};

}  // namespace attnvp::schedule::check
