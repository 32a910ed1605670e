#include "cli/shared/run_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <tuple>

#include "platform/base/files.h"
#include "platform/machine/error.h"
#include "platform/machine/words.h"
#include "platform/trace/waveform.h"

namespace attnvp::cli {

namespace fs = std::filesystem;

namespace {

// "120000" is in cycles, "50 us" is a time.
std::uint64_t parse_cycle(const char* option, const std::string& text, double clock_hz) {
  try {
    if (!text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      return config::parse_integer(config::KeyUnit::kCycles, text);
    }
    const double cycles = config::parse_real(config::KeyUnit::kTime, text) * clock_hz;
    if (cycles >= 1.8e19) throw config::ConfigError("found a time beyond every run");
    return static_cast<std::uint64_t>(std::llround(cycles));
  } catch (const config::ConfigError& e) {
    throw config::ConfigError(fmt::format("{}: {}; a whole number without a unit is cycles", option, e.what()));
  }
}

// --trace-from and --trace-to, in cycles.
std::pair<std::uint64_t, std::uint64_t> trace_window(const TraceArguments& a, double clock_hz) {
  std::uint64_t from = 0, to = UINT64_MAX;
  if (!a.from.empty()) from = parse_cycle("--trace-from", a.from, clock_hz);
  if (!a.to.empty()) to = parse_cycle("--trace-to", a.to, clock_hz);
  if (from >= to) {
    throw config::ConfigError(
        fmt::format("--trace-from is cycle {}, --trace-to cycle {}: allowed is a later one", from, to));
  }
  return {from, to};
}

}  // namespace

void add_trace_options(CLI::App& command, JobOptions& options, TraceArguments& a) {
  options.valid_for(
      kOperation | kRequests | kTiming,
      {
          add_output(command, "--vcd", a.vcd,
                     "write a waveform, FST where the name ends in .fst, and GTKWave's view of it beside"),
          add_output(command, "--timeline", a.timeline, "write a timeline for Perfetto (Chrome trace events)"),
          add_list(command, "--trace-scope", a.scopes,
                   "trace only these modules, e.g. core1, cluster0.core*.mac, dram; repeat for more")
              ->check(not_empty()),
          add_text(command, "--trace-from", a.from, "trace from this cycle, or time, on"),
          add_text(command, "--trace-to", a.to, "trace up to this cycle, or time"),
          add_output(command, "--profile", a.profile,
                     "write where RISC-V firmware's cycles go: call stacks in the folded form, or a flame graph where "
                     "the name ends in .html"),
          add_output(command, "--instruction-trace", a.instructions,
                     "write RISC-V firmware's instructions as Spike logs them, from --trace-from to --trace-to"),
          command
              .add_option("--gdb", a.gdb_port, "let gdb debug RISC-V firmware at this port of localhost; 0: a free one")
              ->check(within(0, 65535)),
          command.add_flag("--gdb-wait", a.gdb_wait, "with --gdb: no firmware starts before gdb is there"),
      });
}

std::string file_name(const std::string& path) { return fs::path(path).filename().string(); }

WaveformPaths::WaveformPaths(const std::string& path) : vcd(path) {
  if (path.empty() || files::is_stream(path)) return;
  gtkw = fs::path(path).replace_extension(".gtkw").string();
  names = fs::path(path).replace_extension(".names").string();
  idle = fs::path(path).replace_extension(".idle").string();
  sucl = fs::path(path).replace_extension(".sucl").string();
}

std::string WaveformPaths::encode(std::string text) const {
  return fs::path(vcd).extension() == ".fst" ? trace::fst_from_vcd(text) : std::move(text);
}

TraceFiles::TraceFiles(const TraceArguments& a, double clock_hz, files::Outputs& outputs)
    : waveform_(a.vcd), timeline_(a.timeline) {
  vcd_ = outputs.open("--vcd", waveform_.vcd);
  gtkw_ = outputs.open("the save file of --vcd", waveform_.gtkw);
  names_ = outputs.open("the names of --vcd", waveform_.names);
  idle_ = outputs.open("the filter of --vcd", waveform_.idle);
  sucl_ = outputs.open("the command file of --vcd", waveform_.sucl);
  timeline_file_ = outputs.open("--timeline", timeline_);
  trace::TraceRequest request;
  request.waveform = !waveform_.vcd.empty();
  request.timeline = !timeline_.empty();
  request.scopes = a.scopes;
  std::tie(request.from_cycle, request.to_cycle) = trace_window(a, clock_hz);
  if (!request.waveform && !request.timeline) {
    const char* option = !a.scopes.empty() ? "--trace-scope"
                         : !a.from.empty() ? "--trace-from"
                         : !a.to.empty()   ? "--trace-to"
                                           : nullptr;
    if (option != nullptr && a.instructions.empty()) {
      throw config::ConfigError(fmt::format("{} needs --vcd, --timeline or --instruction-trace", option));
    }
    return;
  }
  session_ = std::make_unique<trace::Session>(std::move(request));
}

void TraceFiles::write() {
  if (session_ == nullptr || !session_->recorded()) return;
  const WaveformPaths& w = waveform_;
  if (vcd_ != nullptr) vcd_->write(w.encode(files::with_origin(files::Form::kVcd, session_->vcd())), files::Form::kOwn);
  if (names_ != nullptr) names_->write(session_->names(), files::Form::kOwn);
  if (gtkw_ != nullptr)
    gtkw_->write(session_->gtkw(file_name(w.vcd), file_name(w.names), file_name(w.idle)), files::Form::kGtkw);
  if (idle_ != nullptr) idle_->write(trace::idle(), files::Form::kOwn);
  if (sucl_ != nullptr) sucl_->write(session_->sucl(file_name(w.vcd)), files::Form::kOwn);
  if (timeline_file_ != nullptr) timeline_file_->write(session_->timeline(), files::Form::kOwn);
}

std::string TraceFiles::where() const {
  if (session_ == nullptr || !session_->recorded()) return {};
  std::string files = waveform_.vcd;
  if (!timeline_.empty()) files += (files.empty() ? "" : " and ") + timeline_;
  return fmt::format("; what happened up to there is in {}", files);
}

FirmwareFiles::FirmwareFiles(const TraceArguments& a, double clock_hz, files::Outputs& outputs)
    : page_(fs::path(a.profile).extension() == ".html") {
  profile_ = outputs.open("--profile", a.profile);
  log_ = outputs.open("--instruction-trace", a.instructions);
  firmware_watch::WatchRequest request;
  request.profile = profile_ != nullptr;
  request.log = log_ != nullptr;
  if (request.log) std::tie(request.from_cycle, request.to_cycle) = trace_window(a, clock_hz);
  if (a.gdb_wait && a.gdb_port < 0) throw config::ConfigError("--gdb-wait needs --gdb");
  if (a.gdb_port >= 0) {
    gdb_ = std::make_unique<firmware_watch::GdbServer>(static_cast<std::uint32_t>(a.gdb_port), a.gdb_wait);
    request.debugger = gdb_.get();
  }
  if (request.profile || request.log || request.debugger != nullptr)
    watch_ = std::make_unique<firmware_watch::Watch>(request);
}

FirmwareFiles::~FirmwareFiles() = default;

void FirmwareFiles::write(const std::string& title) {
  if (profile_ != nullptr) {
    profile_->write(page_ ? watch_->page(title) : watch_->folded(), page_ ? files::Form::kHtml : files::Form::kOwn);
  }
  if (log_ != nullptr) log_->write(watch_->log(), files::Form::kOwn);
}

}  // namespace attnvp::cli
