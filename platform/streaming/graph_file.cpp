#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>

#include "platform/base/expression/expression.h"
#include "platform/base/text.h"
#include "platform/machine/catalog.h"
#include "platform/machine/document.h"
#include "platform/machine/words.h"
#include "platform/streaming/stream_run.h"

namespace attnvp::stream {

namespace {

using config::ConfigError;
using config::in_quotes;

constexpr std::int64_t kLargest = std::int64_t{1} << 50;  // cycles, elements
constexpr std::int64_t kMostTokens = 1 << 20;
constexpr std::size_t kMostEntries = 1000;
constexpr double kSlowestClock = 1e6, kFastestClock = 100e9;

bool is_name(const std::string& text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !text.empty() && text.size() <= 64 && letter(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

// A whole number as expression, within limits. Throws ConfigError without location.
std::uint64_t number(const std::string& text, const Graph& graph, std::int64_t least, std::int64_t most) {
  const std::int64_t value = expression::whole_number(text, {{"N", graph.n}, {"d", graph.d}}, {});
  if (value >= least && value <= most) return static_cast<std::uint64_t>(value);
  const std::string with = graph.d == 1 ? fmt::format("N={}", graph.n) : fmt::format("N={} and d={}", graph.n, graph.d);
  const std::string is = text == std::to_string(value) ? "" : fmt::format(", which is {} for {}", value, with);
  throw ConfigError(fmt::format("found {}{}; allowed is {} to {}", in_quotes(text), is, least, most));
}

std::uint64_t depth_of(const std::string& text, const Graph& graph) {
  return text == "unbounded" ? kUnbounded : number(text, graph, 1, kLargest);
}

class GraphReader {
 public:
  GraphReader(const std::string& path, std::uint32_t n, std::uint32_t d)
      : path_(path), file_(config::Document::load(path)) {
    draft_.file = {file_.source()};
    graph_.name = text::printable(std::filesystem::path(path).stem().string());
    graph_.n = n;
    graph_.d = d;
    file_.require_keys(file_.root(), "the file", {"clock", "energy", "nodes", "channels"});
  }

  Graph read() {
    read_clock();
    with(file_.root(), "the file", "energy", [&](const std::string& text) {
      const std::string folder = std::filesystem::path(path_).parent_path().string();
      graph_.energy = config::find_config(config::Folder::kEnergy, text, folder);
    });
    for_each("nodes", [&](const std::string& name, const config::YamlNode& at, const config::YamlNode& keys) {
      draft_.node_at.push_back(file_.origin(at));
      graph_.nodes.push_back(read_node(name, keys));
    });
    for_each("channels", [&](const std::string& name, const config::YamlNode& at, const config::YamlNode& keys) {
      draft_.channel_at.push_back(file_.origin(at));
      graph_.channels.push_back(read_channel(name, at, keys));
    });
    check_connections(draft_);
    infer_types(draft_);
    check_cycles(draft_);
    return graph_;
  }

 private:
  // Visits the entries of a section, "name: {keys}"; names must be unique.
  template <class Visit>
  void for_each(const std::string& section, Visit visit) {
    const config::YamlNode map = file_.root()[section];
    if (!map) config::fail(draft_.file, fmt::format("key '{}' is missing", section));
    file_.require_map(map, fmt::format("key '{}'", section));
    std::map<std::string, int> lines;
    for (const auto& entry : map) {
      const std::string name = file_.scalar(entry.first, "a name");
      const config::Origin at = file_.origin(entry.first);
      const std::string kind = section.substr(0, section.size() - 1);
      if (!is_name(name)) {
        config::fail(at, fmt::format("{}: found {} as a name; allowed are letters, digits, '_' and '-', a letter first",
                                     kind, in_quotes(name)));
      }
      const auto [first, inserted] = lines.emplace(name, at.line);
      if (!inserted) {
        config::fail(at, fmt::format("{} '{}' is given twice, first in line {}", kind, name, first->second));
      }
      if (lines.size() > kMostEntries) {
        config::fail(at, fmt::format("key '{}' holds more than {} entries", section, kMostEntries));
      }
      file_.require_map(entry.second, fmt::format("{} '{}'", kind, name));
      visit(name, entry.first, entry.second);
    }
    if (lines.empty()) config::fail(file_.origin(map), fmt::format("key '{}' holds nothing", section));
  }

  // Passes the value of `key` to `use` and adds the location to its errors; false if the key is absent.
  template <class Use>
  bool with(const config::YamlNode& keys, const std::string& owner, const char* key, Use use) {
    const config::YamlNode value = keys[key];
    if (!value) return false;
    const std::string what = fmt::format("{}: key '{}'", owner, key);
    const std::string text = file_.scalar(value, what);
    try {
      use(text);
    } catch (const ConfigError& problem) {
      config::fail(file_.origin(value), fmt::format("{}: {}", what, problem.what()));
    }
    return true;
  }

  void read_clock() {
    with(file_.root(), "the file", "clock", [&](const std::string& text) {
      graph_.clock_hz = config::parse_real(config::KeyUnit::kFrequency, text);
      if (graph_.clock_hz >= kSlowestClock && graph_.clock_hz <= kFastestClock) return;
      throw ConfigError(fmt::format("found {}; allowed is 1 MHz to 100 GHz", in_quotes(text)));
    });
  }

  NodeSpec read_node(const std::string& name, const config::YamlNode& keys) {
    const std::string owner = fmt::format("node '{}'", name);
    NodeSpec node;
    node.name = name;
    file_.require_keys(keys, owner, {"op", "ii", "latency", "tensor", "per"});
    const bool has_op = with(keys, owner, "op", [&](const std::string& text) {
      node.operation = find_operation(text);
      if (node.operation != nullptr) return;
      std::vector<std::string> names;
      for (const StreamOperation& operation : operations()) names.emplace_back(operation.name);
      throw ConfigError(fmt::format("operation {} is unknown{}", in_quotes(text), config::hint(text, names)));
    });
    if (!has_op) config::fail(file_.origin(keys), fmt::format("{}: key 'op' is missing", owner));
    with(keys, owner, "ii", [&](const std::string& text) { node.ii = number(text, graph_, 1, kLargest); });
    with(keys, owner, "latency", [&](const std::string& text) { node.latency = number(text, graph_, 0, kLargest); });

    const bool source = node.operation->kind == NodeKind::kSource;
    for (const char* key : {"tensor", "per"}) {
      if (!source && keys[key]) {
        config::fail(file_.origin(keys[key]),
                     fmt::format("{}: key '{}' is for sources, which '{}' is not", owner, key, node.operation->name));
      }
    }
    const bool has_tensor = with(keys, owner, "tensor", [&](const std::string& text) {
      const std::vector<std::string> names{"Q", "K", "V"};
      const auto found = std::find(names.begin(), names.end(), text);
      if (found == names.end()) throw ConfigError(fmt::format("found {}; allowed: Q, K, V", in_quotes(text)));
      node.tensor = static_cast<Tensor>(found - names.begin());
    });
    if (source && !has_tensor) config::fail(file_.origin(keys), fmt::format("{}: key 'tensor' is missing", owner));
    with(keys, owner, "per", [&](const std::string& text) {
      node.per_row = text == "row";
      if (text != "row" && text != "score") {
        throw ConfigError(fmt::format("found {}; allowed: row, score", in_quotes(text)));
      }
    });
    return node;
  }

  ChannelSpec read_channel(const std::string& name, const config::YamlNode& at, const config::YamlNode& keys) {
    const std::string owner = fmt::format("channel '{}'", name);
    ChannelSpec channel;
    channel.name = name;
    file_.require_keys(keys, owner, {"from", "to", "depth", "tokens", "initial"});
    const auto required = [&](const char* key, auto use) {
      if (!with(keys, owner, key, use)) {
        config::fail(file_.origin(at), fmt::format("{}: key '{}' is missing", owner, key));
      }
    };
    required("from", [&](const std::string& text) { find_port(text, true, channel.from, channel.from_port); });
    required("to", [&](const std::string& text) { find_port(text, false, channel.to, channel.to_port); });
    required("depth", [&](const std::string& text) { channel.depth = depth_of(text, graph_); });
    with(keys, owner, "tokens", [&](const std::string& text) {
      channel.tokens = static_cast<std::uint32_t>(number(text, graph_, 0, kMostTokens));
      if (channel.tokens > channel.depth) {
        throw ConfigError(fmt::format("found {}; allowed is at most the depth, {}", channel.tokens, channel.depth));
      }
    });
    with(keys, owner, "initial", [&](const std::string& text) {
      const char* const end = text.data() + text.size();
      const auto [stop, error] = std::from_chars(text.data(), end, channel.initial);
      if (error == std::errc() && stop == end && std::isfinite(channel.initial)) return;
      throw ConfigError(fmt::format("found {}; allowed is a finite number", in_quotes(text)));
    });
    return channel;
  }

  // "NODE.PORT", or "NODE" if it has one such port.
  void find_port(const std::string& text, bool from, std::uint32_t& node_index, std::uint32_t& port_index) const {
    const std::size_t dot = text.find('.');
    const std::string node_name = text.substr(0, dot);
    std::vector<std::string> names;
    for (const NodeSpec& node : graph_.nodes) names.push_back(node.name);
    const auto found = std::find(names.begin(), names.end(), node_name);
    if (found == names.end()) {
      throw ConfigError(fmt::format("node {} is unknown{}", in_quotes(node_name), config::hint(node_name, names)));
    }
    node_index = static_cast<std::uint32_t>(found - names.begin());
    const StreamOperation& operation = *graph_.nodes[node_index].operation;
    const std::vector<Port>& ports = from ? operation.outputs : operation.inputs;
    const char* const kind = from ? "output" : "input";
    if (ports.empty()) throw ConfigError(fmt::format("node '{}', {}, has no {}", node_name, operation.name, kind));
    std::vector<std::string> port_names;
    port_names.reserve(ports.size());
    for (const Port& port : ports) port_names.emplace_back(port.name);
    port_index = 0;
    if (dot == std::string::npos) {
      if (ports.size() == 1) return;
      throw ConfigError(fmt::format("found '{0}', which has several {1}s; allowed: {0}.{2}", node_name, kind,
                                    fmt::join(port_names, fmt::format(", {}.", node_name))));
    }
    const std::string port_name = text.substr(dot + 1);
    const auto port = std::find(port_names.begin(), port_names.end(), port_name);
    if (port == port_names.end()) {
      throw ConfigError(fmt::format("node '{}', {}, has no {} {}; allowed: {}", node_name, operation.name, kind,
                                    in_quotes(port_name), fmt::join(port_names, ", ")));
    }
    port_index = static_cast<std::uint32_t>(port - port_names.begin());
  }

  std::string path_;
  config::Document file_;
  Draft draft_;
  Graph& graph_ = draft_.graph;
};

}  // namespace

Graph load_graph(const std::string& name_or_path, std::uint32_t n, std::uint32_t d) {
  return GraphReader(config::find_config(config::Folder::kStreams, name_or_path), n, d).read();
}

void override_depth(Graph& graph, const std::string& assignment) {
  const config::Origin option = config::option_origin("--depth", assignment);
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos)
    config::fail(option, "has no '='; allowed is CHANNEL=DEPTH, such as long=64 or long=N+16");
  const std::string name = assignment.substr(0, equals);
  std::vector<std::string> names;
  for (ChannelSpec& channel : graph.channels) {
    names.push_back(channel.name);
    if (channel.name != name) continue;
    try {
      channel.depth = depth_of(std::string(config::trimmed(std::string_view(assignment).substr(equals + 1))), graph);
    } catch (const ConfigError& problem) {
      config::fail(option, problem.what());
    }
    if (channel.depth < channel.tokens) {
      config::fail(option,
                   fmt::format("channel '{}' starts with {} tokens, which need as much room", name, channel.tokens));
    }
    return;
  }
  config::fail(option, fmt::format("channel {} is unknown{}", in_quotes(name), config::hint(name, names)));
}

std::string depth_text(std::uint64_t depth) { return depth == kUnbounded ? "unbounded" : fmt::to_string(depth); }

const char* port_name(const Graph& graph, const ChannelSpec& channel, bool from) {
  return from ? graph.nodes[channel.from].operation->outputs[channel.from_port].name
              : graph.nodes[channel.to].operation->inputs[channel.to_port].name;
}

std::string type_text(const ChannelSpec& channel) {
  return fmt::format("{} per {}", channel.vector ? "vector" : "scalar", channel.per_row ? "row" : "score");
}

}  // namespace attnvp::stream
