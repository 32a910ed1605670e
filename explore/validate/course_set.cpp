#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "explore/plot/svg.h"
#include "explore/validate/decode_set.h"
#include "platform/machine/hardware.h"
#include "platform/machine/words.h"

namespace attnvp::validate {

namespace {

constexpr double kMillisecond = 1e-3;
constexpr const char* kDecode = "decode";
const std::vector<std::string> kStates = {kDecode, "idle", "asleep", "changes"};

class CourseSet : public DataSet {
 public:
  explicit CourseSet(const DataSetOptions& options)
      : options_(options),
        limit_w_(config::load_hardware(hardware(), options.settings).technology.tdp_watts),
        runner_(hardware(), options.settings),
        standing_w_(runner_.standing_watts()) {}

  std::string hardware() const override { return options_.hardware.empty() ? "rtxa6000" : options_.hardware; }

  std::vector<MeasuredPoint> predict(const DataRow& row) override {
    const std::string& state = row.text("state");
    if (std::find(kStates.begin(), kStates.end(), state) == kStates.end()) {
      config::fail(row.origin(),
                   fmt::format("column 'state': found {}{}", config::in_quotes(state), config::hint(state, kStates)));
    }
    row.from_zero("time_s");
    const std::uint64_t requests = row.whole("requests");
    const bool decodes = state == kDecode;
    if (decodes && requests == 0) {
      config::fail(row.origin(), "column 'requests': found 0; allowed for state 'decode' is from 1");
    }
    const double watts = row.positive("power_w");
    const std::string series = decodes ? "" : state;
    if (requests == 0) {
      const double share = runner_.host().idle_share;
      return {{"", watts, share * standing_w_.value, "W", "no request", share * standing_w_.low,
               share * standing_w_.high, series}};
    }
    const auto batch = static_cast<double>(requests);
    const ServedStep step(sums_of(kernels_of_row(row, options_.network, runner_)), runner_.host(), batch, limit_w_);
    const auto watts_at = [&](double Ranged::*of) { return step.predicted(of).joules / step.predicted(of).seconds; };
    const double step_ms = step.predicted(&Ranged::value).seconds / kMillisecond;
    std::vector<MeasuredPoint> points = {{"", watts, watts_at(&Ranged::value), "W", fmt::format("{:.2f} ms", step_ms),
                                          watts_at(&Ranged::low), watts_at(&Ranged::high), series}};
    if (decodes && !row.empty("tokens_per_s")) {
      const double measured_ms = batch / row.positive("tokens_per_s") / kMillisecond;
      points.push_back({"", measured_ms, step_ms, "ms", "", 0, 0, "step_time"});
    }
    return points;
  }

 private:
  const DataSetOptions options_;
  const double limit_w_;
  StepRunner runner_;
  const Ranged standing_w_;
};

}  // namespace

std::vector<StepLayers> kernels_of_row(const DataRow& row, const std::string& network, StepRunner& runner) {
  const std::vector<workload::LayerGroup> layers =
      layers_of_step(row, network.empty() ? "llama3.1-8b" : network, static_cast<double>(row.whole("requests")),
                     row.whole("cached_tokens"));
  return runner.run(layers, layers);
}

DataSetKind course_kind() {
  return {"power-course",
          "power of a GPU that serves requests, second by second",
          {"time_s", "state", "requests", "cached_tokens", "tokens_per_s", "power_w"},
          [](const DataSetOptions& options) { return std::make_unique<CourseSet>(options); },
          "Rows of state decode are the result of the set, rows of the other states have results of their own. Not "
          "modelled: prompts, a driver that lowers the clocks of an idle GPU, and the meter's delay"};
}

// The figure of a course of power.

namespace {

constexpr double kPanelWidth = 760, kTopHeight = 330, kStepHeight = 270, kLetterWidth = 7;
constexpr const char* kMeasured = "#555555";
constexpr const char* kPredicted = "#d55e00";

using Places = std::vector<std::pair<double, double>>;  // seconds and watts

std::string number(double value) { return fmt::format("{:g}", value); }

std::string path_of(const Places& places, const plot::Scale& x, const plot::Scale& y, const std::string& style) {
  std::string path;
  for (const auto& [px, py] : places) {
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x(px), y(py));
  }
  return fmt::format("<path d=\"{}\" {}/>\n", path, style);
}

std::string stroke(const char* color, double width) {
  return fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"{:g}\"", color, width);
}

std::string title(double x, double y, const std::string& text) {
  return "<g font-weight=\"bold\">" + plot::label(x, y, "start", text) + "</g>\n";
}

struct Second {
  double from = 0, to = 0;
  MeasuredPoint point;
};

// Rows in their order, with the watts of any of the results.
std::vector<Second> seconds_of(const SetResult& r) {
  std::map<std::uint64_t, MeasuredPoint> watts;
  const auto take = [&](const std::vector<std::uint64_t>& rows, const std::vector<MeasuredPoint>& points) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (points[i].unit == "W") watts.insert_or_assign(rows[i], points[i]);
    }
  };
  take(r.rows, r.points);
  for (const PointSeries& series : r.further) take(series.rows, series.points);
  std::vector<Second> seconds;
  for (const auto& [row, point] : watts) {
    const double from = DataRow(r.columns, r.lines[row - 1], row).from_zero("time_s");
    if (!seconds.empty()) seconds.back().to = from;
    seconds.push_back({from, from + 1, point});
  }
  return seconds;
}

std::string course_panel(const SetResult& r, double limit_w) {
  const std::vector<Second> seconds = seconds_of(r);
  const plot::Frame frame{70, kPanelWidth - 20, 56, kTopHeight - 60};
  Places measured, predicted, low, high;
  double most = limit_w;
  for (const Second& s : seconds) {
    measured.emplace_back((s.from + s.to) / 2, s.point.measured);
    for (const double t : {s.from, s.to}) {
      predicted.emplace_back(t, s.point.predicted);
      low.emplace_back(t, s.point.low), high.emplace_back(t, s.point.high);
    }
    most = std::max({most, s.point.measured, s.point.high});
  }
  const plot::Scale x{seconds.front().from, seconds.back().to, frame.left, frame.right},
      y{0, 1.05 * most, frame.bottom, frame.top};
  std::string out = title(frame.left, 20, fmt::format("Power of {} while it serves requests", r.hardware));
  out += plot::axes(frame, x, y, number, number, "time, s", "power, W");
  Places band = low;
  band.insert(band.end(), high.rbegin(), high.rend());
  out += path_of(band, x, y, fmt::format("fill=\"{}\" fill-opacity=\"0.15\"", kPredicted));
  if (limit_w > 0) {
    out += plot::line(frame.left, y(limit_w), frame.right, y(limit_w), "stroke=\"#888\" stroke-dasharray=\"5 4\"");
    out += plot::label(frame.right, y(limit_w) - 5, "end", fmt::format("limit, {:g} W", limit_w));
  }
  out += path_of(predicted, x, y, stroke(kPredicted, 2)) + path_of(measured, x, y, stroke(kMeasured, 2));
  double legend = frame.left;
  for (const auto& [name, color] : {std::pair{"measured", kMeasured}, std::pair{"predicted, with range", kPredicted}}) {
    out += plot::line(legend, 38, legend + 22, 38, fmt::format("stroke=\"{}\" stroke-width=\"3\"", color).c_str());
    out += plot::label(legend + 28, 42, "start", name);
    legend += 120;
  }
  return out;
}

// Predicted power of spans that follow each other; names where they fit.
std::string span_panel(const std::vector<PowerSpan>& spans, double unit_s, const std::string& unit,
                       const std::string& heading, bool named, double width, const std::string& attributes) {
  const plot::Frame frame{60, width - 20, 40, kStepHeight - 60};
  Places course;
  double end = 0, most = 0;
  for (const PowerSpan& s : spans) {
    course.emplace_back(end, s.watts);
    end += s.seconds / unit_s;
    course.emplace_back(end, s.watts);
    most = std::max(most, s.watts);
  }
  const plot::Scale x{0, end, frame.left, frame.right}, y{0, 1.25 * most, frame.bottom, frame.top};
  std::string out = plot::open_svg(width, kStepHeight, attributes) + title(frame.left, 20, heading);
  out += plot::axes(frame, x, y, number, number, "time, " + unit, "power, W");
  out += path_of(course, x, y, stroke(kPredicted, named ? 2 : 1));
  double from = 0;
  for (const PowerSpan& s : spans) {
    const double to = from + s.seconds / unit_s;
    const bool has_room = x(to) - x(from) > kLetterWidth * static_cast<double>(s.name.size());
    if (named && has_room) out += plot::label((x(from) + x(to)) / 2, y(s.watts) - 6, "middle", s.name);
    from = to;
  }
  return out + "</svg>\n";
}

// The first row of state decode with the most requests: its index.
std::size_t fullest_row(const SetResult& r) {
  const auto requests = [&r](std::uint64_t row) { return DataRow(r.columns, r.lines[row - 1], row).whole("requests"); };
  std::uint64_t fullest = 0, most = 0;
  for (const std::uint64_t row : r.rows) {
    if (requests(row) > most) fullest = row, most = requests(row);
  }
  return fullest;
}

}  // namespace

std::string course_svg(const SetResult& r, const DataSetOptions& options) {
  constexpr double kMillisecond_s = 1e-3, kMicrosecond_s = 1e-6;
  const double limit_w = config::load_hardware(r.hardware, options.settings).technology.tdp_watts;
  const std::size_t fullest = fullest_row(r);
  std::string out = plot::open_svg(kPanelWidth, kTopHeight + (fullest > 0 ? kStepHeight : 0));
  out += course_panel(r, limit_w);
  if (fullest == 0) return out + "</svg>\n";
  const DataRow row(r.columns, r.lines[fullest - 1], fullest);
  StepRunner runner(r.hardware, options.settings);
  const std::vector<StepLayers> layers = kernels_of_row(row, options.network, runner);
  const std::uint64_t requests = row.whole("requests");
  const auto course = [&](const std::vector<StepLayers>& of, const HostTime& host) {
    return course_of_step(of, host, static_cast<double>(requests), limit_w);
  };
  const auto widest = std::max_element(layers.begin(), layers.end(),
                                       [](const StepLayers& a, const StepLayers& b) { return a.count < b.count; });
  StepLayers layer = *widest;
  layer.count = 1;
  out += span_panel(course(layers, runner.host()), kMillisecond_s, "ms", fmt::format("A step of {} requests", requests),
                    false, kPanelWidth / 2, fmt::format("x=\"0\" y=\"{:g}\"", kTopHeight));
  out += span_panel(course({layer}, {}), kMicrosecond_s, "us", "One layer of it", true, kPanelWidth / 2,
                    fmt::format("x=\"{:g}\" y=\"{:g}\"", kPanelWidth / 2, kTopHeight));
  return out + "</svg>\n";
}

}  // namespace attnvp::validate
