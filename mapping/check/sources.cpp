#include "mapping/check/sources.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <unwind.h>

#include <cstdlib>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "mapping/check/changed.h"
#include "mapping/names.h"

namespace attnvp::mapping::check {

namespace {

constexpr std::string_view kFirmware = "firmware/", kDataflows = "firmware/dataflows/", kShared = "firmware/runtime/",
                           kPush = "firmware/runtime/runtime.";
using Address = std::uintptr_t;

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

// This process' debug information, as far as it has any.
class Lines {
 public:
  Lines() : session_(dwfl_begin(&kCallbacks)) {
    if (session_ == nullptr) return;
    dwfl_report_begin(session_);
    if (dwfl_linux_proc_report(session_, getpid()) != 0) return;
    dwfl_report_end(session_, nullptr, nullptr);
  }
  ~Lines() { dwfl_end(session_); }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  // The innermost line of a dataflow, and of what dataflows share between that and the push.
  std::pair<std::string, std::string> of(const std::vector<Address>& stack) {
    std::string shared;
    for (const Address at : stack) {
      const auto known = known_.find(at);
      const std::vector<std::string>& lines = known != known_.end() ? known->second : known_[at] = lines_at(at);
      for (const std::string& line : lines) {
        if (line.compare(0, kDataflows.size(), kDataflows) == 0) return {line, shared};
        const bool step = line.compare(0, kShared.size(), kShared) == 0 && line.compare(0, kPush.size(), kPush) != 0;
        if (step && shared.empty()) shared = line;
      }
    }
    return {};
  }

 private:
  static std::string line_text(const char* file, int line) {
    if (file == nullptr) return {};
    const std::string_view path = file;
    const std::size_t at = path.rfind(kFirmware);
    return at == std::string_view::npos ? std::string() : fmt::format("{}:{}", path.substr(at), line);
  }

  // Of code that the compiler has put into its callers: theirs as well, from inside out.
  std::vector<std::string> lines_at(Address at) const {
    std::vector<std::string> lines;
    Dwfl_Module* module = session_ == nullptr ? nullptr : dwfl_addrmodule(session_, at);
    if (module == nullptr) return lines;
    if (Dwfl_Line* line = dwfl_module_getsrc(module, at)) {
      int number = 0;
      const char* file = dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr);
      lines.push_back(line_text(file, number));
    }
    Dwarf_Addr bias = 0;
    Dwarf_Die* unit = dwfl_module_addrdie(module, at, &bias);
    Dwarf_Die* scopes = nullptr;
    const int count = unit == nullptr ? 0 : dwarf_getscopes(unit, at - bias, &scopes);
    Dwarf_Files* files = nullptr;
    if (count > 0) dwarf_getsrcfiles(unit, &files, nullptr);
    for (int i = 0; i < count && files != nullptr; ++i) {
      if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine) continue;
      Dwarf_Attribute attribute;
      Dwarf_Word file = 0, number = 0;
      if (dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_file, &attribute), &file) != 0) continue;
      if (dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_line, &attribute), &number) != 0) continue;
      lines.push_back(line_text(dwarf_filesrc(files, file, nullptr, nullptr), static_cast<int>(number)));
    }
    std::free(scopes);
    return lines;
  }

  static const Dwfl_Callbacks kCallbacks;
  Dwfl* session_;
  std::map<Address, std::vector<std::string>> known_;
};
const Dwfl_Callbacks Lines::kCallbacks = {dwfl_linux_proc_find_elf, dwfl_standard_find_debuginfo, nullptr, nullptr};

}  // namespace

void name_sources(Report& report, const Job& job, const MachineConfig& machine) {
  using Place = std::tuple<std::uint32_t, std::string, std::uint64_t>;
  std::map<Place, std::vector<Party*>> wanted;
  for (Finding& f : report.findings) {
    for (Party& p : f.parties) {
      if (p.number > 0) wanted[{p.cluster, p.queue, p.number}].push_back(&p);
    }
  }
  if (wanted.empty()) return;
  Lines lines;
  check_changed(job, machine, {},
                [&](std::uint32_t cluster, const Queue& queue, std::uint64_t number, hal::Descriptor& d) {
                  const auto parties = wanted.find({cluster, name_of(queue), number});
                  if (parties == wanted.end()) return;
                  const std::string operation = operation_text(d);
                  const auto [line, shared] = lines.of(call_stack());
                  for (Party* p : parties->second) {
                    if (p->operation != operation) continue;
                    p->source = line;
                    p->step = shared;
                  }
                });
}

}  // namespace attnvp::mapping::check
