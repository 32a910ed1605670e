#include "explore/analysis/page.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "explore/plot/svg.h"
#include "platform/report/json.h"
#include "platform/text/printable.h"
#include "platform/text/version.h"

namespace attnvp::explore {

namespace {

const char* const kStyle = R"(
body { font: 15px/1.5 sans-serif; color: #222; max-width: 1180px; margin: 24px auto; padding: 0 16px; }
h1 { font-size: 22px; } h2 { font-size: 17px; margin-top: 32px; }
#top { display: flex; flex-wrap: wrap; gap: 24px; align-items: flex-start; }
#top svg { cursor: crosshair; max-width: 100%; height: auto; }
#job { flex: 1; min-width: 300px; border: 1px solid #ddd; border-radius: 6px; padding: 12px 16px; }
#job table { border-collapse: collapse; width: 100%; } #job td { padding: 1px 0; vertical-align: top; }
#job td:last-child { text-align: right; font-variant-numeric: tabular-nums; }
code, pre { font: 13px/1.45 monospace; } pre { overflow-x: auto; background: #f7f7f7; padding: 10px 12px; border-radius: 6px; }
#command { white-space: pre-wrap; } button { font: inherit; padding: 2px 10px; }
.scroll { overflow-x: auto; } #front-rows tr { cursor: pointer; } #front-rows tr:hover { background: #eef4fa; }
#front-rows table { border-collapse: collapse; } #front-rows td, #front-rows th { padding: 2px 12px 2px 0; text-align: right; }
)";

// Clicks choose the nearest job in pixels.
const char* const kScript = R"(
const svg = document.getElementById('front'), mark = document.createElementNS(svg.namespaceURI, 'circle');
mark.setAttribute('r', 8); mark.setAttribute('fill', 'none'); mark.setAttribute('stroke', '#222'); mark.setAttribute('stroke-width', 2);
svg.appendChild(mark);
const element = (tag, text, parent) => { const e = document.createElement(tag); e.textContent = text; parent.appendChild(e); return e; };
function show(i) {
  const job = data.jobs[i], panel = document.getElementById('rows');
  mark.setAttribute('cx', job.at[0]); mark.setAttribute('cy', job.at[1]);
  panel.textContent = '';
  data.names.forEach((name, n) => { const row = document.createElement('tr'); element('td', name, row); element('td', job.values[n], row); panel.appendChild(row); });
  document.getElementById('which').textContent = job.front ? 'on the front' : 'not on the front';
  document.getElementById('command').textContent = job.command;
  location.replace('#' + job.key);
}
svg.addEventListener('click', event => {
  const p = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  let best = 0, least = Infinity;
  data.jobs.forEach((job, i) => {
    const d = (job.at[0] - p.x) ** 2 + (job.at[1] - p.y) ** 2 - (job.front ? 9 : 0);
    if (d < least) { least = d; best = i; }
  });
  show(best);
});
document.querySelectorAll('#front-rows tr[data-job]').forEach(row => row.addEventListener('click', () => show(+row.dataset.job)));
document.getElementById('copy').addEventListener('click', () => navigator.clipboard.writeText(document.getElementById('command').textContent));
const wanted = data.jobs.findIndex(job => '#' + job.key === location.hash);
show(wanted >= 0 ? wanted : data.first);
)";

const char* const kNumbers[] = {"cycles",          "seconds",          "energy_pj.total", "utilization.mac",
                                "utilization.vec", "utilization.dram", "l1.peak_bytes"};

std::string number_text(const Selection& s, const Row& row, std::size_t column) {
  return shown(s.number(row, column), columns()[column].dimension);
}

nlohmann::ordered_json data_of(const Selection& s, const Front& front) {
  const FrontScales scales = front_scales(s, front);
  nlohmann::ordered_json data;
  std::vector<std::size_t> numbers;
  for (const std::size_t axis : s.axes()) data["names"].push_back(columns()[axis].name);
  for (const Goal& goal : front.goals) data["names"].push_back(goal.name());
  for (const char* name : kNumbers) {
    bool goal = false;
    for (const Goal& g : front.goals) goal = goal || g.name() == name;
    if (!goal) {
      numbers.push_back(column_index(name));
      data["names"].push_back(name);
    }
  }
  data["names"].push_back("tiling as used");
  const std::set<std::size_t> on_front(front.rows.begin(), front.rows.end());
  for (std::size_t i = 0; i < s.rows().size(); ++i) {
    const Row& row = s.rows()[i];
    nlohmann::ordered_json values = nlohmann::ordered_json::array();
    for (const std::size_t axis : s.axes()) values.push_back(s.text(row, axis));
    for (const Goal& goal : front.goals) values.push_back(goal.shown(goal.value(row)));
    for (const std::size_t column : numbers) values.push_back(number_text(s, row, column));
    std::string tiling;
    for (const char* key : {"bb", "hh", "nq", "nkv", "m0", "n0", "k0", "kv", "rb"}) {
      const std::size_t column = column_index(std::string("tiling.") + key);
      tiling += fmt::format("{}{}={}", tiling.empty() ? "" : " ", key, s.text(row, column));
    }
    values.push_back(tiling);
    const auto rounded = [](double v) { return std::round(v * 10) / 10; };
    data["jobs"].push_back(
        {{"at", {rounded(scales.x(front.goals[0].value(row))), rounded(scales.y(front.goals[1].value(row)))}},
         {"values", std::move(values)},
         {"front", on_front.count(i) != 0},
         {"key", s.text(row, column_index("key"))},
         {"command", s.text(row, column_index("command"))}});
  }
  data["first"] = front.rows.empty() ? 0 : front.rows.front();
  return data;
}

std::string front_rows(const Selection& s, const Front& front) {
  std::string out = "<table>\n<tr>";
  const auto cell = [&out](const char* tag, const std::string& text) {
    out += fmt::format("<{0}>{1}</{0}>", tag, text::escaped_for_html(text));
  };
  for (const Goal& goal : front.goals) cell("th", goal.name());
  for (const std::size_t axis : s.axes()) cell("th", columns()[axis].name);
  out += "</tr>\n";
  for (const std::size_t i : front.rows) {
    out += fmt::format("<tr data-job=\"{}\">", i);
    for (const Goal& goal : front.goals) cell("td", goal.shown(goal.value(s.rows()[i])));
    for (const std::size_t axis : s.axes()) cell("td", s.text(s.rows()[i], axis));
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

}  // namespace

std::string page_html(const Page& page, const Selection& s, const Front& front, const std::vector<Effect>& effects) {
  const std::string data = report::json_for_html(data_of(s, front));
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head>"
      "<meta charset=\"utf-8\"><title>{0}</title><style>{1}</style></head><body>\n"
      "<h1>{0}</h1>\n<div id=\"top\"><div>{2}</div>\n"
      "<div id=\"job\"><b>A job</b>, <span id=\"which\"></span>; click a point for another one\n"
      "<table id=\"rows\"></table>\n<p>Runs it again: <button id=\"copy\">copy</button></p>\n"
      "<pre id=\"command\"></pre></div></div>\n<h2>The front</h2>\n<div id=\"front-rows\" class=\"scroll\">{3}</div>\n",
      text::escaped_for_html(page.title), kStyle, front_svg(s, front, ""), front_rows(s, front));
  if (!page.versus.empty()) {
    out += fmt::format("<h2>Two dataflows</h2>\n<pre>{}</pre>\n", text::escaped_for_html(page.versus));
  }
  out += fmt::format("<h2>What each axis does</h2>\n<div class=\"scroll\">{}</div>\n<pre>{}</pre>\n",
                     sensitivity_svg(effects, front.goals),
                     text::escaped_for_html(sensitivity_table(effects, front.goals)));
  return out + "<script>\nconst data = " + data + ";" + kScript + "</script>\n</body></html>\n";
}

}  // namespace attnvp::explore
