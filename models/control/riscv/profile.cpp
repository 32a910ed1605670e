#include "models/control/riscv/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace attnvp::riscv {

namespace {

constexpr const char* kStall = "[bus]";

// In folded stacks ';' separates frames and ' ' the count.
std::string frame(std::string name) {
  std::replace(name.begin(), name.end(), ';', ':');
  return name;
}

}  // namespace

Profile::Profile(const ElfFile& program, std::string root) : program_(program) {
  names_.push_back(std::move(root));
  nodes_.emplace_back();
}

int Profile::function_of(std::uint32_t pc) {
  const ElfFile::ElfSymbol* symbol = program_.function_at(pc);
  const std::uint32_t key = symbol == nullptr ? 0 : symbol->address;
  const auto [known, fresh] = known_.emplace(key, static_cast<int>(names_.size()));
  if (fresh) names_.push_back(symbol == nullptr ? "[unknown]" : symbol->name);
  return known->second;
}

int Profile::below(int node, int function) {
  const auto found = nodes_[static_cast<std::size_t>(node)].callees.find(function);
  if (found != nodes_[static_cast<std::size_t>(node)].callees.end()) return found->second;
  const int made = static_cast<int>(nodes_.size());
  nodes_[static_cast<std::size_t>(node)].callees[function] = made;
  CallNode& fresh = nodes_.emplace_back();
  fresh.function = function;
  fresh.parent = node;
  return made;
}

void Profile::executed(const Executed& e) {
  const std::size_t slot = e.pc >> 1 & 0x1FF'FFFF;
  if (slot >= cache_.size()) cache_.resize(slot + 1024, -1);
  int& function = cache_[slot];
  if (function < 0) function = function_of(e.pc);

  const auto node = [this](int i) -> CallNode& { return nodes_[static_cast<std::size_t>(i)]; };
  if (at_ == 0 || jump_ == Jump::kCall) {
    at_ = below(at_, function);
  } else if (node(at_).function != function) {
    int up = node(at_).parent;
    if (jump_ == Jump::kReturn) {
      while (up > 0 && node(up).function != function) up = node(up).parent;
      at_ = up > 0 ? up : below(0, function);
    } else {  // a tail call, or a trap
      at_ = below(std::max(up, 0), function);
    }
  } else if (jump_ == Jump::kReturn) {  // of a recursive function
    const int up = node(at_).parent;
    if (up > 0 && node(up).function == function) at_ = up;
  }
  CallNode& here = node(at_);
  here.instructions += e.retired ? 1 : 0;
  here.cycles += e.end - e.cycle - e.stall;
  here.stall += e.stall;

  jump_ = jump_of(e);
}

std::string Profile::folded() const {
  std::vector<std::string> stacks(nodes_.size());
  std::string text;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const CallNode& n = nodes_[i];
    const std::string name = frame(names_[static_cast<std::size_t>(n.function)]);
    stacks[i] = n.parent < 0 ? name : stacks[static_cast<std::size_t>(n.parent)] + ";" + name;
    if (n.cycles > 0) text += fmt::format("{} {}\n", stacks[i], n.cycles);
    if (n.stall > 0) text += fmt::format("{};{} {}\n", stacks[i], kStall, n.stall);
  }
  return text;
}

std::vector<Profile::Total> Profile::totals() const {
  std::vector<Total> totals(names_.size());
  std::vector<std::uint64_t> inclusive(nodes_.size());
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    const CallNode& n = nodes_[i];
    inclusive[i] += n.cycles + n.stall;
    if (n.parent >= 0) inclusive[static_cast<std::size_t>(n.parent)] += inclusive[i];
    Total& t = totals[static_cast<std::size_t>(n.function)];
    t.instructions += n.instructions;
    t.self += n.cycles;
    t.stall += n.stall;
    bool again = false;  // recursion counts once
    for (int up = n.parent; up >= 0 && !again; up = nodes_[static_cast<std::size_t>(up)].parent) {
      again = nodes_[static_cast<std::size_t>(up)].function == n.function;
    }
    if (!again) t.inclusive += inclusive[i];
  }
  for (std::size_t i = 0; i < totals.size(); ++i) totals[i].function = names_[i];
  std::stable_sort(totals.begin(), totals.end(), [](const Total& a, const Total& b) { return a.self > b.self; });
  return totals;
}

std::string folded(const std::vector<const Profile*>& profiles) {
  std::string text;
  for (const Profile* p : profiles) text += p->folded();
  return text;
}

// Flame graph in one HTML file: folded stacks, and a script that draws and zooms them.

namespace {

constexpr const char* kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>TITLE</title>
<style>
:root { color-scheme: light dark; --ink: #1b1f24; --ground: #fff }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --ground: #14171b } }
body { font: 16px/1.5 system-ui, sans-serif; margin: 1rem clamp(.6rem, 2vw, 2rem); color: var(--ink); background: var(--ground) }
h1 { font-size: 1.6rem } h1, p, #what { overflow-wrap: anywhere }
#graph { position: relative; width: 100% }
#graph div { position: absolute; height: 17px; overflow: hidden; white-space: nowrap; font: 12px/17px monospace;
  box-sizing: border-box; border: 1px solid var(--ground); padding: 0 3px; cursor: pointer; border-radius: 2px; color: #1b1f24 }
#what { min-height: 1.5em; margin: .5em 0 }
.scroll { overflow-x: auto }
table { border-collapse: collapse; margin-top: 1em } td, th { padding: 1px 10px; text-align: right }
td:first-child, th:first-child { text-align: left; font-family: monospace }
</style></head><body>
<h1>TITLE</h1>
<p>Cycles of the harts' clock, callers above callees; as wide as it took. A click zooms. Waiting for the bus is grey.</p>
<div id="what"></div><div id="graph"></div>
<div class="scroll"><table id="table"><thead><tr><th>function</th><th>instructions</th><th>cycles itself</th><th>stalled</th><th>with
callees</th></tr></thead><tbody>
)";

constexpr const char* kScript = R"(
const root = { name: "all", self: 0, total: 0, children: new Map(), parent: null };
for (const line of document.getElementById("stacks").textContent.trim().split("\n")) {
  const at = line.lastIndexOf(" "), cycles = Number(line.slice(at + 1));
  let node = root;
  node.total += cycles;
  for (const name of line.slice(0, at).split(";")) {
    if (!node.children.has(name))
      node.children.set(name, { name, self: 0, total: 0, children: new Map(), parent: node });
    node = node.children.get(name);
    node.total += cycles;
  }
  node.self += cycles;
}
const graph = document.getElementById("graph"), what = document.getElementById("what");
const shortened = name => name.replace(/attnvp::(firmware::)?/g, "").replace(/\(anonymous namespace\)::/g, "");
function colour(name) {
  if (name.startsWith("[")) return "#bbb";
  let h = 0;
  for (const c of name) h = (h * 31 + c.charCodeAt(0)) % 997;
  return `hsl(${15 + h % 40}, ${70 + h % 25}%, ${62 + h % 12}%)`;
}
function draw(zoomed) {
  graph.textContent = "";
  const path = [];
  for (let n = zoomed; n; n = n.parent) path.unshift(n);
  let deepest = 0;
  const box = (node, left, width, depth) => {
    if (width < 0.05) return;
    deepest = Math.max(deepest, depth);
    const div = document.createElement("div");
    div.style = `left:${left}%;width:${width}%;top:${depth * 18}px;background:${colour(node.name)}`;
    div.textContent = shortened(node.name);
    div.title = `${node.name}\n${node.total.toLocaleString("en")} cycles, ${(100 * node.total / root.total).toFixed(2)}%; ` +
      `${node.self.toLocaleString("en")} itself`;
    div.onmouseover = () => { what.textContent = div.title.replace("\n", ": "); };
    div.onclick = () => draw(node);
    graph.appendChild(div);
  };
  path.slice(0, -1).forEach((n, depth) => box(n, 0, 100, depth));
  const below = (node, left, width, depth) => {
    box(node, left, width, depth);
    for (const child of [...node.children.values()].sort((a, b) => b.total - a.total)) {
      const share = width * child.total / node.total;
      if (share >= 0.05) below(child, left, share, depth + 1);
      left += share;
    }
  };
  below(zoomed, 0, 100, path.length - 1);
  graph.style.height = `${(deepest + 2) * 18}px`;
}
draw(root);
)";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

}  // namespace

std::string flame_page(const std::string& title, const std::vector<const Profile*>& profiles) {
  std::string head = kHead;
  for (std::size_t at = head.find("TITLE"); at != std::string::npos; at = head.find("TITLE")) {
    head.replace(at, 5, escaped(title));
  }
  std::string rows;
  for (const Profile* p : profiles) {
    for (const Profile::Total& t : p->totals()) {
      rows += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", escaped(t.function),
                          t.instructions, t.self, t.stall, t.inclusive);
    }
  }
  // Text in a script element is not escaped; function names contain no "</script>".
  return head + rows + "</tbody></table></div>\n<script type=\"text/plain\" id=\"stacks\">\n" + folded(profiles) +
         "</script>\n<script>" + kScript + "</script></body></html>\n";
}

}  // namespace attnvp::riscv
