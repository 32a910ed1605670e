#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "platform/machine/error.h"
#include "platform/report/json.h"
#include "platform/report/page/page.h"

namespace attnvp::report {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostSlices = 50'000;  // 2 MB of a page
constexpr std::uint64_t kWindows = 1000;

std::uint64_t window_cycles(std::uint64_t first, std::uint64_t last) {
  return std::max<std::uint64_t>((last - first + kWindows - 1) / kWindows, 1);
}

std::string detail_of(const ordered_json& args) {
  const auto has = [&](const char* key) { return args.contains(key) && args[key].is_number(); };
  if (has("m") && has("n") && has("k"))
    return fmt::format("{} x {} x {}", args["m"].dump(), args["n"].dump(), args["k"].dump());
  if (has("bytes")) return fmt::format("{} bytes", args["bytes"].dump());
  if (has("columns")) return fmt::format("{} rows of {}", args["rows"].dump(), args["columns"].dump());
  return {};
}

struct Track {
  std::string name;
  bool used = false, waits = false;
  std::size_t place = 0;
};

// Watts over time, summed by kind of module: {kinds, points: [cycle, watts...]}; long runs have means per window.
ordered_json power_of(const ordered_json& events, std::uint64_t first, std::uint64_t last) {
  std::vector<std::string> kinds;
  std::vector<std::pair<std::uint64_t, std::vector<double>>> points;
  for (const ordered_json& e : events) {
    if (e.at("ph") != "C" || e.at("name") != "power [W]") continue;
    std::vector<double> watts(kinds.size());
    for (const auto& [module, value] : e.at("args").items()) {
      const std::string kind = module.substr(module.rfind('.') + 1);
      const auto place = static_cast<std::size_t>(std::find(kinds.begin(), kinds.end(), kind) - kinds.begin());
      if (place == kinds.size()) kinds.push_back(kind);
      watts.resize(kinds.size());
      watts[place] += value.get<double>();
    }
    points.emplace_back(std::max(e.at("ts").get<std::uint64_t>(), first), std::move(watts));
  }
  ordered_json out = ordered_json::array();
  const auto add = [&out](std::uint64_t cycle, const std::vector<double>& watts, std::uint64_t per) {
    ordered_json point = ordered_json::array({cycle});
    for (const double w : watts) point.push_back(w / static_cast<double>(per));
    out.push_back(std::move(point));
  };
  for (auto& [from, watts] : points) watts.resize(kinds.size());
  if (points.size() <= 2 * kWindows) {
    for (const auto& [from, watts] : points) add(from, watts, 1);
    return {{"kinds", kinds}, {"points", std::move(out)}};
  }
  const std::uint64_t cycles = window_cycles(first, last);
  std::vector<std::vector<double>> sums((last - first + cycles - 1) / cycles, std::vector<double>(kinds.size()));
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::uint64_t end = std::min(i + 1 < points.size() ? points[i + 1].first : last, last);
    for (std::uint64_t at = points[i].first; at < end;) {
      const std::uint64_t window = (at - first) / cycles, to = std::min(end, first + (window + 1) * cycles);
      for (std::size_t k = 0; k < kinds.size(); ++k) {
        sums[window][k] += points[i].second[k] * static_cast<double>(to - at);
      }
      at = to;
    }
  }
  for (std::size_t w = 0; w < sums.size(); ++w) {
    add(first + w * cycles, sums[w], std::min(cycles, last - first - w * cycles));
  }
  return {{"kinds", kinds}, {"points", std::move(out)}};
}

// Natural order: core2 before core10.
bool before(const std::string& a, const std::string& b) {
  std::size_t i = 0, j = 0;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      const std::size_t m = std::min(a.find_first_not_of("0123456789", i), a.size());
      const std::size_t n = std::min(b.find_first_not_of("0123456789", j), b.size());
      if (m - i != n - j) return m - i < n - j;
      if (const int order = a.compare(i, m - i, b, j, n - j); order != 0) return order < 0;
      i = m;
      j = n;
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i;
      ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

struct Slice {
  std::size_t track;
  std::uint64_t from, to;
  std::size_t name;
};

// Cycles of each name by track and window, and the number of slices that begin there.
ordered_json summed_up(const std::vector<Slice>& slices, std::uint64_t first, std::uint64_t last) {
  const std::uint64_t cycles = window_cycles(first, last);
  std::map<std::tuple<std::size_t, std::uint64_t, std::size_t>, std::pair<std::uint64_t, std::uint64_t>> sums;
  for (const Slice& s : slices) {
    std::uint64_t from = std::clamp(s.from, first, last);
    const std::uint64_t end = std::clamp(s.to, from, last);
    std::uint64_t window = (from - first) / cycles;
    ++sums[{s.track, window, s.name}].second;
    for (; from < end; ++window) {
      const std::uint64_t to = std::min(end, first + (window + 1) * cycles);
      sums[{s.track, window, s.name}].first += to - from;
      from = to;
    }
  }
  ordered_json out = ordered_json::array();
  for (const auto& [key, sum] : sums) {
    const auto& [track, window, name] = key;
    out.push_back({track, window, name, sum.first, sum.second});
  }
  return {{"cycles", cycles}, {"sums", std::move(out)}};
}

}  // namespace

ordered_json page_timeline(const std::string& path, const ordered_json& run) {
  const ordered_json file = read_json(path);
  try {
    const ordered_json& other = file.at("otherData");
    if (other.at("cycles") != run.at("cycles")) {
      throw config::ConfigError(fmt::format("{}: a timeline of {} cycles, the run that names it has {}", path,
                                            other.at("cycles").dump(), run.at("cycles").dump()));
    }
    const std::uint64_t first = other.at("first_cycle"), last = std::max<std::uint64_t>(first, other.at("last_cycle"));
    const ordered_json& events = file.at("traceEvents");
    std::map<int, std::string> processes;
    std::map<int, Track> tracks;  // by thread
    for (const ordered_json& e : events) {
      const std::string ph = e.at("ph"), name = e.at("name");
      if (ph == "M" && name == "process_name") processes[e.at("pid")] = e.at("args").at("name");
      if (ph == "M" && name == "thread_name") {
        tracks[e.at("tid")].name = processes[e.at("pid")] + "." + e.at("args").at("name").get<std::string>();
      }
      if (ph != "X") continue;
      Track& track = tracks.at(e.at("tid"));
      track.used = true;
      track.waits = track.waits || name.compare(0, 10, "waits for ") == 0;
    }
    ordered_json out{{"window", {first, last}}, {"tracks", ordered_json::array()}, {"waits", ordered_json::array()}};
    std::vector<Track*> used;
    for (auto& [thread, track] : tracks) {
      if (track.used) used.push_back(&track);
    }
    std::sort(used.begin(), used.end(), [](const Track* a, const Track* b) { return before(a->name, b->name); });
    for (Track* const track : used) {
      track->place = out["tracks"].size();
      out["tracks"].push_back(track->name);
      out["waits"].push_back(track->waits);
    }
    out["power"] = power_of(events, first, last);
    TextTable names, details;
    out["found"] = ordered_json::array();  // indices of details that are findings
    ordered_json slices = ordered_json::array();
    std::vector<Slice> all;
    for (const ordered_json& e : events) {
      if (e.at("ph") != "X") continue;
      const std::uint64_t from = e.at("ts"), length = e.at("dur");
      all.push_back({tracks.at(e.at("tid")).place, from, from + length, names.of(e.at("name"))});
    }
    if (all.size() > kMostSlices) {
      out["windows"] = summed_up(all, first, last);
    } else {
      std::size_t i = 0;
      for (const ordered_json& e : events) {
        if (e.at("ph") != "X") continue;
        const ordered_json& args = e.at("args");
        const Slice& s = all[i++];
        std::string detail = detail_of(args);
        const bool found = args.contains("finding") && args["finding"].is_string();
        if (found) detail += (detail.empty() ? "" : "; ") + args["finding"].get<std::string>();
        const auto number = details.of(detail);
        if (found) out["found"].push_back(number);
        slices.push_back({s.track, s.from, s.to, s.name, args.value("head", 0), args.value("row_block", 0), number});
      }
    }
    out["names"] = names.texts();
    out["details"] = details.texts();
    out["slices"] = std::move(slices);
    return out;
  } catch (const nlohmann::json::exception& e) {
    throw config::ConfigError(fmt::format("{}: not a timeline of attnvp run --timeline: {}", path, e.what()));
  }
}

}  // namespace attnvp::report
