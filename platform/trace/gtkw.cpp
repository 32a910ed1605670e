#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "platform/trace/waveform.h"

namespace attnvp::trace {

namespace {

// Colours of states: work is green to blue, waiting is warm, idle is dark.
const std::map<std::string, std::pair<const char*, const char*>> kStyles = {
    // name -> colour, text
    {"idle", {"gray15", " "}},
    {"off", {"gray15", "off"}},
    {"run", {"SeaGreen", "run"}},
    {"last_tile", {"DarkSeaGreen4", "last tile"}},
    {"halted", {"Red3", "HALTED"}},
    {"blocked", {"DarkOrange3", "blocked"}},
    {"fault", {"Red", "FAULT"}},
    {"wait_event", {"DarkGoldenrod4", "waits"}},
    {"load", {"SteelBlue4", "load"}},
    {"ready", {"gray30", "ready"}},
    {"matmul_abt", {"RoyalBlue3", "QK^T"}},
    {"matmul_ab", {"SeaGreen", "PV"}},
    {"softmax", {"DarkOrchid4", "softmax"}},
    {"store", {"DarkOrange4", "store"}},
    {"score_tile", {"RoyalBlue3", "QK^T"}},
    {"attend_tile", {"SeaGreen", "PV"}},
    {"online_max", {"DarkOrchid4", "max"}},
    {"online_softmax", {"DarkOrchid4", "softmax"}},
    {"scale_add", {"MediumPurple4", "scale, add"}},
    {"rescale", {"MediumPurple4", "scale"}},
    {"divide", {"MediumPurple4", "divide"}},
    {"norm", {"DarkOrchid4", "norm"}},
    {"add", {"MediumPurple4", "add"}},
    {"bias", {"MediumPurple4", "bias"}},
    {"dequantise", {"MediumPurple4", "dequantise"}},
    {"convert", {"MediumPurple4", "convert"}},
    {"activate", {"DarkOrchid4", "activate"}},
    {"rotate", {"MediumPurple4", "rotate"}},
    {"transfer", {"SteelBlue4", "transfer"}},
    {"read", {"SteelBlue4", "read"}},
    {"write", {"DarkOrange4", "write"}},
    {"bus", {"SteelBlue4", "bus"}},
    {"stall", {"DarkGoldenrod4", "stall"}},
    {"working", {"SeaGreen", "working"}},
    {"waits_for_data", {"SteelBlue4", "waits for data"}},
    {"waits_for_room", {"DarkGoldenrod4", "waits for room"}},
};

enum Format : unsigned {
  kDecimal = 0x24,
  kNumber = 0x4000'2024,  // a decimal that may be unavailable; the upper bit is private
  kNames = 0x2024,
  kHex = 0x22,
  kBit = 0x28,
  kSteps = 0x88024,
  kCurve = 0x88420
};
enum Colour : int { kNormal = 0, kOrange = 2, kYellow = 3, kBlue = 5, kIndigo = 6, kViolet = 7 };

struct ViewRow {
  const char* name;  // of the signal
  Format format;
  Colour colour;
};
// Signals shown for a scope, in order; missing names are skipped.
const std::vector<ViewRow> kEngine = {
    {"operation", kNames, kNormal},  {"finding", kNumber, kOrange},      {"head", kNumber, kYellow},
    {"row_block", kNumber, kYellow}, {"state", kNames, kNormal},         {"fetch_state", kNames, kNormal},
    {"waits_for", kNames, kNormal},  {"queue_level", kDecimal, kIndigo}, {"halts", kDecimal, kOrange}};
const std::vector<ViewRow> kChannel = {{"operation", kNames, kNormal}, {"finding", kNumber, kOrange},
                                       {"head", kNumber, kYellow},     {"state", kNames, kNormal},
                                       {"waits_for", kNames, kNormal}, {"queue_level", kDecimal, kIndigo}};
const std::vector<ViewRow> kCpu = {{"state", kNames, kNormal}, {"address", kHex, kBlue}};
const std::vector<ViewRow> kL1 = {{"allocated_bytes", kSteps, kBlue}};
const std::vector<ViewRow> kRegions = {{"q_bytes", kSteps, kBlue},    {"k_bytes", kSteps, kBlue},
                                       {"v_bytes", kSteps, kBlue},    {"scores_bytes", kSteps, kBlue},
                                       {"o_bytes", kSteps, kBlue},    {"partials_bytes", kSteps, kBlue},
                                       {"other_bytes", kSteps, kBlue}};
const ViewRow kRate = {"bytes_per_cycle", kCurve, kViolet};
const std::vector<ViewRow> kDram = {{"bus", kNames, kNormal}, {"bytes_per_cycle", kCurve, kViolet}};
const std::vector<ViewRow> kDma = {{"busy", kBit, kNormal}, {"outstanding", kDecimal, kIndigo}};
// RTL of the VEC engine: streams and row progress.
const std::vector<ViewRow> kRtl = {{"clk", kBit, kNormal},       {"in_valid", kBit, kNormal},
                                   {"in_ready", kBit, kNormal},  {"cmd_length", kDecimal, kYellow},
                                   {"cmd_ready", kBit, kOrange}, {"row_taken", kBit, kOrange},
                                   {"out_valid", kBit, kNormal}, {"out_last", kBit, kOrange}};
const std::vector<ViewRow> kRtlSum = {{"sum", kHex, kBlue}};
const std::vector<ViewRow> kEnergy = {{"energy_pj", kCurve, kOrange}, {"power_w", kCurve, kOrange}};

constexpr std::ptrdiff_t kFewCores = 4;

class SaveFile {
 public:
  SaveFile(const Recorder& recorder, const VcdWriter& vcd, const View& view) : vcd_(vcd), view_(view) {
    for (std::uint32_t id = 0; id < recorder.signals().size(); ++id) {
      const TracedSignal& s = recorder.signals()[id];
      if (!vcd.shows(id)) continue;
      if (ids_.count(s.scope) == 0) scopes_.push_back(s.scope);
      ids_[s.scope][s.name] = id;
    }
  }

  std::string text() {
    header();
    std::vector<std::string> clusters;
    for (const std::string& scope : scopes_) {
      const std::string top = scope.substr(0, scope.find('.', scope.find('.') + 1));  // attnvp.cluster0
      if (std::find(clusters.begin(), clusters.end(), top) == clusters.end()) clusters.push_back(top);
    }
    const bool platform = std::any_of(clusters.begin(), clusters.end(), [](const std::string& top) {
      return top.find(".cluster") != std::string::npos || top.find(".dram") != std::string::npos;
    });
    if (!platform) {
      plain();
      return out_;
    }
    single_cluster_ = std::find(clusters.begin(), clusters.end(), "attnvp.cluster1") == clusters.end();
    few_ = std::count_if(scopes_.begin(), scopes_.end(), [](const std::string& scope) {
             return scope.find(".core") != std::string::npos && scope.substr(scope.rfind('.')) == ".mac";
           }) <= kFewCores;
    group("overview", true, [&] { overview(); });
    bool open = true;
    for (const std::string& top : clusters) {
      if (top.find(".cluster") == std::string::npos) continue;
      cluster(top, open);
      open = false;
    }
    for (const std::string& top : clusters) {
      if (top.find(".cluster") != std::string::npos) continue;
      rows(top, kDram, top.substr(top.rfind('.') + 1));
      others(top);
    }
    const std::string root = clusters.empty() ? std::string() : clusters.front().substr(0, clusters.front().find('.'));
    rows(root, kEnergy, "energy and power");
    return out_;
  }

 private:
  void line(const std::string& text) { out_ += text + "\n"; }

  void header() {
    line(fmt::format("[dumpfile] \"/{}\"", view_.vcd));
    // Makes GTKWave look for the other files beside this one.
    line("[savefile] \"/view.gtkw\"");
    line(fmt::format("[timestart] {}", view_.begin));
    line("[size] 1500 1000");
    line("[pos] -1 -1");
    // GTKWave's zoom refers to about 200 pixels; the window's waves are about 1200 wide.
    const double fs_per_frame = static_cast<double>(std::max<std::uint64_t>(view_.end - view_.begin, 1)) * 200 / 1150;
    const auto at = [](std::uint64_t time) { return time == UINT64_MAX ? std::string("-1") : std::to_string(time); };
    std::string markers = fmt::format("*{:.6f} {} {}", -std::log2(fs_per_frame), at(view_.marker), at(view_.marker));
    for (int i = 1; i < 26; ++i) markers += " -1";
    line(markers);
    if (view_.marker != UINT64_MAX) line("[markername] Afirst PV");
    line("[sst_width] 10");
    line("[signals_width] 280");
    line("[sst_expanded] 0");
  }

  // Unknown modules: all signals by kind, states first.
  void plain() {
    for (const bool states : {true, false}) {
      for (const std::string& scope : scopes_) by_kind(scope, states, scope.substr(scope.find('.') + 1) + " ");
    }
  }
  void by_kind(const std::string& scope, bool states, const std::string& before) {
    for (const auto& [name, id] : ids_[scope]) {
      const Signal::SignalKind kind = vcd_.kind(id);
      if ((kind == Signal::SignalKind::kEnum) != states) continue;
      const Format format = states ? kNames : kind == Signal::SignalKind::kReal ? kCurve : kSteps;
      row(id, {"", format, states ? kNormal : kBlue}, before + name);
    }
  }

  // Unknown modules of the platform and of a cluster.
  void others(const std::string& module) {
    const auto there = ids_.find(module);
    if (there == ids_.end()) return;
    if (there->second.size() == there->second.count("energy_pj") + there->second.count("power_w")) return;
    for (const auto& [name, id] : there->second) {
      if (shown_.count(id) > 0) return;
    }
    group(module.substr(module.rfind('.') + 1), false, [&] {
      for (const bool states : {true, false}) by_kind(module, states, "");
    });
  }

  // Overview: one row per engine, DMA channel and DRAM bus.
  void overview() {
    const std::string root = scopes_.empty() ? std::string() : scopes_.front().substr(0, scopes_.front().find('.'));
    note(root, {"cycle", kDecimal, kBlue}, "cycle");
    note(root, {"mac_working", kSteps, kOrange}, "MAC engines that work");
    note(root, {"vec_working", kSteps, kViolet}, "VEC engines that work");
    const auto of = [this](const std::string& part, const char* name) {
      for (const std::string& scope : scopes_) {
        const auto it = ids_[scope].find(name);
        if (scope.find(part) == std::string::npos || it == ids_[scope].end()) continue;
        std::string title = scope.substr(scope.find('.') + 1);
        if (single_cluster_ && title.compare(0, 9, "cluster0.") == 0) title = title.substr(9);
        std::replace(title.begin(), title.end(), '.', ' ');  // GTKWave shows only the part after the last dot
        row(it->second, {name, kNames, kNormal}, title);
      }
    };
    of(".core", "operation");
    of(".dma.channel", "operation");
    of(".dram", "bus");
    of(".l2", "bus");
  }

  void cluster(const std::string& top, bool open) {
    const std::string name = top.substr(top.rfind('.') + 1);
    group(name, open, [&] {
      for (const std::string& scope : scopes_) {
        if (scope.compare(0, top.size() + 5, top + ".core") != 0) continue;
        const std::string tail = scope.substr(top.size() + 1);  // core0.mac
        const std::string block = tail.substr(tail.rfind('.') + 1);
        if (tail.find('.') == tail.rfind('.')) {
          group(tail, few_, [&] {
            rows(scope, kEngine, "");
            rtl(scope);
          });
        } else if (block == "rtl" && ids_.count(scope.substr(0, scope.rfind('.'))) == 0) {
          group(tail, true, [&] { rtl(scope.substr(0, scope.rfind('.'))); });
        }
      }
      rows(top + ".cpu", kCpu, "control processor");
      group("dma", true, [&] {
        rows(top + ".dma", kDma, "");
        for (const std::string& scope : scopes_) {
          if (scope.compare(0, top.size() + 12, top + ".dma.channel") != 0) continue;
          rows(scope, kChannel, scope.substr(top.size() + 5));
        }
      });
      group("l1", true, [&] {
        rows(top + ".l1", kL1, "");
        rows(top + ".l1.regions", kRegions, "regions", false);
        group("bytes per cycle", false, [&] {
          for (const std::string& scope : scopes_) {
            if (scope.compare(0, top.size() + 8, top + ".l1.port") != 0) continue;
            row(ids_[scope].begin()->second, kRate, scope.substr(top.size() + 4));
          }
        });
      });
      events(top + ".events");
      for (const std::string& scope : scopes_) {
        const bool below = scope.compare(0, top.size() + 1, top + ".") == 0;
        if (below && scope.find('.', top.size() + 1) == std::string::npos) others(scope);
      }
    });
  }

  void events(const std::string& unit) {
    const auto there = ids_.find(unit);
    if (there == ids_.end()) return;
    group("events", false, [&] {
      std::vector<std::uint32_t> ids;
      for (const auto& entry : there->second) ids.push_back(entry.second);
      std::sort(ids.begin(), ids.end());
      for (const std::uint32_t id : ids) {
        const std::string& reference = vcd_.reference(id);
        const auto title = view_.titles.find(reference.substr(0, reference.find('[')));
        row(id, {"", kDecimal, kIndigo}, title == view_.titles.end() ? "" : title->second);
      }
    });
  }

  // Signals of an engine with RTL datapath.
  void rtl(const std::string& engine) {
    group("rtl", true, [&] {
      rows(engine + ".rtl", kRtl, "");
      rows(engine + ".rtl.softmax.sum_pass", kRtlSum, "");
    });
    rows(engine + ".linear", kRtl, "rtl of FP32 row operations");
  }

  template <typename Body>
  void group(const std::string& title, bool open, const Body& body) {
    const std::size_t before = out_.size();
    line(open ? "@800200" : "@c00200");
    line("-" + title);
    const std::size_t empty = out_.size();
    body();
    if (out_.size() == empty) {
      out_.resize(before);
      return;
    }
    line(open ? "@1000200" : "@1401200");
    line("-" + title);
  }

  // Rows of a scope, in a group if a title is given.
  void rows(const std::string& scope, const std::vector<ViewRow>& rows, const std::string& title, bool open = true) {
    const auto there = ids_.find(scope);
    if (there == ids_.end()) return;
    const auto all = [&] {
      for (const ViewRow& r : rows) {
        if (const auto it = there->second.find(r.name); it != there->second.end()) {
          row(it->second, r, r.name);
        } else {
          note(scope, r, r.name);
        }
      }
    };
    if (title.empty()) {
      all();
    } else {
      group(title, open, all);
    }
  }

  // Shows a signal that was added after the run, if present.
  void note(const std::string& scope, const ViewRow& r, const std::string& title) {
    if (const std::string reference = vcd_.noted(scope, r.name); !reference.empty()) row(reference, r, title);
  }
  void row(std::uint32_t id, const ViewRow& r, const std::string& title) {
    shown_.insert(id);
    row(vcd_.reference(id), r, title);
  }
  void row(const std::string& reference, const ViewRow& r, const std::string& title) {
    line(fmt::format("@{:x}", static_cast<unsigned>(r.format) & 0xFFF'FFFF));
    if (r.format == kNames) line("^1 /" + view_.names);
    if (r.format == kNumber) line("^2 /" + view_.idle);
    if (r.colour != kNormal) line(fmt::format("[color] {}", static_cast<int>(r.colour)));
    line(title.empty() ? reference : fmt::format("+{{{}}} {}", title, reference));
    if (r.format != kSteps && r.format != kCurve) return;
    line("@20000");  // height of an analog curve, in lines
    line("-");
  }

  const VcdWriter& vcd_;
  const View& view_;
  std::vector<std::string> scopes_;
  std::map<std::string, std::map<std::string, std::uint32_t>> ids_;
  std::set<std::uint32_t> shown_;
  bool single_cluster_ = true;
  bool few_ = true;  // few cores: their groups are open
  std::string out_;
};

}  // namespace

std::string gtkw(const Recorder& recorder, const VcdWriter& vcd, const View& view) {
  return SaveFile(recorder, vcd, view).text();
}

std::string idle() { return "XXX ?gray15? \n"; }

std::string names(const EnumCodes& codes) {
  std::string out;
  for (std::size_t code = 0; code < codes.names().size(); ++code) {
    const std::string& name = codes.names()[code];
    const auto style = kStyles.find(name);
    out += style == kStyles.end() ? fmt::format("{} {}\n", code, name)
                                  : fmt::format("{} ?{}?{}\n", code, style->second.first, style->second.second);
  }
  return out + idle();
}

}  // namespace attnvp::trace
