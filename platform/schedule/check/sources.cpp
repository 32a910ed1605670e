#include <elfutils/libdwfl.h>
#include <unistd.h>
#include <unwind.h>

#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "models/control/riscv/elf_file.h"
#include "platform/schedule/addresses.h"
#include "platform/schedule/check/checker.h"
#include "platform/schedule/programs.h"

namespace attnvp::schedule::check {

namespace {

using Address = std::uintptr_t;
using Stack = std::vector<std::string>;  // source lines, innermost first

std::vector<Address> call_stack() {
  std::vector<Address> stack;
  const auto note = [](_Unwind_Context* context, void* to) {
    int before_call = 0;
    const Address at = _Unwind_GetIPInfo(context, &before_call);
    static_cast<std::vector<Address>*>(to)->push_back(before_call != 0 ? at : at - 1);
    return _URC_NO_REASON;
  };
  _Unwind_Backtrace(note, &stack);
  return stack;
}

// Debug information of this process, if any.
class OwnLines {
 public:
  OwnLines() : session_(dwfl_begin(&kCallbacks)) {
    if (session_ == nullptr) return;
    dwfl_report_begin(session_);
    if (dwfl_linux_proc_report(session_, getpid()) != 0) return;
    dwfl_report_end(session_, nullptr, nullptr);
  }
  ~OwnLines() { dwfl_end(session_); }
  OwnLines(const OwnLines&) = delete;
  OwnLines& operator=(const OwnLines&) = delete;

  Stack now() {
    Stack all;
    for (const Address at : call_stack()) {
      const auto known = known_.find(at);
      const Stack& lines = known != known_.end() ? known->second : known_[at] = lines_at(at);
      all.insert(all.end(), lines.begin(), lines.end());
    }
    return all;
  }

 private:
  Stack lines_at(Address at) const {
    Dwarf_Addr bias = 0;
    Dwfl_Module* module = session_ == nullptr ? nullptr : dwfl_addrmodule(session_, at);
    Dwarf_Die* unit = module == nullptr ? nullptr : dwfl_module_addrdie(module, at, &bias);
    return unit == nullptr ? Stack{} : riscv::source_lines(unit, at - bias);
  }

  static const Dwfl_Callbacks kCallbacks;
  Dwfl* session_;
  std::map<Address, Stack> known_;
};
const Dwfl_Callbacks OwnLines::kCallbacks = {dwfl_linux_proc_find_elf, dwfl_standard_find_debuginfo, nullptr, nullptr};

// Path from the firmware's folder on; external dataflows are shown by file name.
std::string line_text(const std::string& line, std::size_t firmware) {
  return line.substr(firmware == std::string::npos ? line.rfind('/') + 1 : firmware);
}

// Innermost line of a dataflow, and the shared step between it and the push. In an ELF program all code around the
// shared steps belongs to the dataflow; in this process only code in the dataflows' folder does.
std::pair<std::string, std::string> dataflow_line(const Stack& stack, bool program) {
  std::string shared;
  bool within = false;  // inside shared code
  for (const std::string& line : stack) {
    const std::size_t firmware = line.rfind("firmware/");
    const auto in = [&](std::string_view folder) {
      return firmware != std::string::npos && line.compare(firmware, folder.size(), folder) == 0;
    };
    if (in("firmware/runtime/") || in("firmware/hal/") || in("firmware/riscv/")) {
      within = true;
      const bool step = in("firmware/runtime/") && !in("firmware/runtime/runtime.");
      if (step && shared.empty()) shared = line_text(line, firmware);
    } else if (in("firmware/dataflows/") || (program && within)) {
      return {line_text(line, firmware), shared};
    }
  }
  return {};
}

}  // namespace

void name_sources(Report& report, const Job& job, const MachineConfig& machine) {
  using CommandId = std::tuple<std::uint32_t, std::string, std::uint64_t>;
  std::map<CommandId, std::vector<Party*>> wanted;
  for (Finding& f : report.findings) {
    for (Party& p : f.parties) {
      if (p.number > 0) wanted[{p.cluster, p.queue, p.number}].push_back(&p);
    }
  }
  if (wanted.empty()) return;
  const ProgramCalls program(job, machine);
  std::optional<OwnLines> own;
  if (!program.any()) own.emplace();
  check_changed(program.job(), machine, {},
                [&](std::uint32_t cluster, const Queue& queue, std::uint64_t number, hal::Descriptor& d) {
                  const auto parties = wanted.find({cluster, name_of(queue), number});
                  if (parties == wanted.end()) return;
                  const std::string operation = operation_text(d);
                  const auto [line, shared] = dataflow_line(own ? own->now() : program.lines(), !own);
                  for (Party* p : parties->second) {
                    if (p->operation != operation) continue;
                    p->source = line;
                    p->step = shared;
                  }
                });
}

}  // namespace attnvp::schedule::check
