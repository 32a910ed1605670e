// A traced run with all its records.
#pragma once

#include <string>
#include <vector>

#include "platform/trace/session.h"
#include "tests/platform/runs.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {

struct Traced {
  std::string text, names, gtkw, timeline;
  job::RunResult result;
};

struct Options {
  std::string network = "H=3,N=64,E=32";
  std::string dataflow = "mas";
  std::string hardware = "edge";
  std::string tiling;
  bool full_data = false;
  std::vector<std::string> scopes;
  std::uint64_t from = 0, to = UINT64_MAX;
  std::string vec = "model";
};

inline Traced trace(const Options& o = {}) {
  MachineConfig machine = config::load_hardware(o.hardware);
  machine.vec.kind = o.vec;
  const workload::Attention network = workload::load(o.network).attention();
  job::Schedule schedule = job::parse_dataflow(o.dataflow);
  schedule.tiling = job::parse_tiling(o.tiling);
  job::Tensors tensors;
  if (o.full_data) tensors = job::random_tensors(network, 1);
  trace::TraceRequest request;
  request.waveform = request.timeline = true;
  request.scopes = o.scopes;
  request.from_cycle = o.from;
  request.to_cycle = o.to;
  trace::Session session(request);
  job::RunOptions options;
  options.trace = &session;
  runs::Runner runner(machine, config::load_energy(machine.energy), o.full_data);
  Traced t;
  t.result = runner.run(network, schedule, o.full_data ? &tensors : nullptr, options);
  t.text = session.vcd();
  t.timeline = session.timeline();
  t.names = session.names();
  t.gtkw = session.gtkw("run.vcd", "run.names", "run.idle");
  return t;
}

inline std::uint64_t period_of(const job::RunResult& r) {
  return static_cast<std::uint64_t>(1e15 / r.frequency_hz + 0.5);
}

inline std::uint64_t counter(const job::RunResult& r, const std::string& module, const std::string& name) {
  for (const job::CounterValue& c : r.counters) {
    if (c.module == module && c.name == name) return c.value;
  }
  ADD_FAILURE() << "no counter " << module << "." << name;
  return 0;
}

}  // namespace attnvp::runs
