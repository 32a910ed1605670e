#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "platform/streaming/stream_run.h"

namespace attnvp::stream {

namespace {

enum class Rate : std::uint8_t { kUnknown, kPerRow, kPerScore };

struct StreamType {
  Shape shape = Shape::kAny;  // kAny: unknown
  Rate rate = Rate::kUnknown;
  bool operator==(const StreamType& other) const { return shape == other.shape && rate == other.rate; }
  bool operator!=(const StreamType& other) const { return !(*this == other); }
};

const char* name_of(Shape shape) { return shape == Shape::kVector ? "vectors" : "scalars"; }

class Inference {
 public:
  explicit Inference(Draft& draft) : d_(draft), types_(draft.graph.channels.size()), rates_(draft.graph.nodes.size()) {}

  void run() {
    // Terminates: shapes and rates only become known or grow.
    while (step()) {
    }
    for (std::uint32_t i = 0; i < d_.graph.nodes.size(); ++i) check_node(i);
    for (std::size_t c = 0; c < types_.size(); ++c) {
      ChannelSpec& channel = d_.graph.channels[c];
      channel.per_row = types_[c].rate == Rate::kPerRow;
      channel.vector = types_[c].shape == Shape::kVector;
      channel.width = channel.vector ? d_.graph.d : 1;
      for (const std::uint32_t n : {channel.from, channel.to}) {
        d_.graph.nodes[n].width = std::max(d_.graph.nodes[n].width, channel.width);
      }
    }
    for (std::size_t i = 0; i < rates_.size(); ++i) d_.graph.nodes[i].per_row = rates_[i] == Rate::kPerRow;
  }

 private:
  template <class Visit>
  void for_each_input(std::uint32_t node, Visit visit) const {
    for (std::size_t c = 0; c < types_.size(); ++c) {
      const ChannelSpec& channel = d_.graph.channels[c];
      if (channel.to == node) visit(c, d_.graph.nodes[node].operation->inputs[channel.to_port]);
    }
  }

  bool step() {
    bool changed = false;
    for (std::uint32_t i = 0; i < d_.graph.nodes.size(); ++i) {
      const NodeSpec& node = d_.graph.nodes[i];
      Shape any = Shape::kAny;
      Rate rate = Rate::kUnknown;
      for_each_input(i, [&](std::size_t c, const Port& port) {
        if (port.shape == Shape::kAny && any == Shape::kAny) any = types_[c].shape;
        rate = std::max(rate, types_[c].rate);
      });
      const NodeKind kind = node.operation->kind;
      if (kind == NodeKind::kSource) rate = node.per_row ? Rate::kPerRow : Rate::kPerScore;
      if (kind == NodeKind::kScan || kind == NodeKind::kReduction) rate = Rate::kPerScore;
      rates_[i] = rate;
      for (std::size_t c = 0; c < types_.size(); ++c) {
        const ChannelSpec& channel = d_.graph.channels[c];
        if (channel.from != i) continue;
        const Shape shape = node.operation->outputs[channel.from_port].shape;
        const StreamType type{shape == Shape::kAny ? any : shape, kind == NodeKind::kReduction ? Rate::kPerRow : rate};
        changed = changed || types_[c] != type;
        types_[c] = type;
      }
    }
    return changed;
  }

  void check_node(std::uint32_t i) const {
    const NodeSpec& node = d_.graph.nodes[i];
    const config::Origin& at = d_.node_at[i];
    bool per_score = false;
    std::size_t first_any = SIZE_MAX;
    for_each_input(i, [&](std::size_t c, const Port& port) {
      const ChannelSpec& channel = d_.graph.channels[c];
      const StreamType& type = types_[c];
      const std::string place = fmt::format("{}.{}", node.name, port.name);
      if (type.shape == Shape::kAny || type.rate == Rate::kUnknown) {
        config::fail(d_.channel_at[c],
                     fmt::format("channel '{}' carries nothing: no source leads to it", channel.name));
      }
      if (port.shape != Shape::kAny && port.shape != type.shape) {
        config::fail(d_.channel_at[c], fmt::format("channel '{}' carries {}; port {} takes {}", channel.name,
                                                   name_of(type.shape), place, name_of(port.shape)));
      }
      if (port.shape == Shape::kAny) {
        if (first_any == SIZE_MAX) first_any = c;
        if (types_[first_any].shape != type.shape) {
          config::fail(d_.channel_at[c],
                       fmt::format("channel '{}' carries {}, channel '{}' {}; node '{}' takes the same from both",
                                   channel.name, name_of(type.shape), d_.graph.channels[first_any].name,
                                   name_of(types_[first_any].shape), node.name));
        }
      }
      per_score = per_score || type.rate == Rate::kPerScore;
      if (node.operation->name == kOutputName && type.rate == Rate::kPerScore) {
        config::fail(
            d_.channel_at[c],
            fmt::format("channel '{}' carries an element per score; port {} takes one per row", channel.name, place));
      }
    });
    const NodeKind kind = node.operation->kind;
    if ((kind == NodeKind::kScan || kind == NodeKind::kReduction) && !per_score) {
      config::fail(
          at,
          fmt::format(
              "node '{}': '{}' works along a row, and its inputs carry one element per row; one per score is needed",
              node.name, node.operation->name));
    }
  }

  Draft& d_;
  std::vector<StreamType> types_;  // of the channels
  std::vector<Rate> rates_;        // of the nodes
};

}  // namespace

void check_connections(const Draft& draft) {
  const Graph& graph = draft.graph;
  std::size_t outputs = 0;
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const NodeSpec& node = graph.nodes[i];
    const auto unconnected = [&](const char* kind, const char* port) {
      config::fail(draft.node_at[i],
                   fmt::format("node '{}': {} port '{}' is not connected to a channel", node.name, kind, port));
    };
    for (std::size_t p = 0; p < node.operation->inputs.size(); ++p) {
      const ChannelSpec* first = nullptr;
      for (std::size_t c = 0; c < graph.channels.size(); ++c) {
        const ChannelSpec& channel = graph.channels[c];
        if (channel.to != i || channel.to_port != p) continue;
        if (first != nullptr) {
          config::fail(draft.channel_at[c],
                       fmt::format("channel '{}' leads to {}.{}, as channel '{}' does; an input takes one channel",
                                   channel.name, node.name, node.operation->inputs[p].name, first->name));
        }
        first = &channel;
      }
      if (first == nullptr) unconnected("input", node.operation->inputs[p].name);
    }
    for (std::size_t p = 0; p < node.operation->outputs.size(); ++p) {
      const bool connected = std::any_of(graph.channels.begin(), graph.channels.end(),
                                         [&](const ChannelSpec& c) { return c.from == i && c.from_port == p; });
      if (!connected) unconnected("output", node.operation->outputs[p].name);
    }
    if (node.operation->name != kOutputName) continue;
    if (++outputs > 1) {
      config::fail(draft.node_at[i], fmt::format("node '{}' is a second 'output'; allowed is one", node.name));
    }
  }
}

void infer_types(Draft& draft) { Inference(draft).run(); }

void check_cycles(const Draft& draft) {
  const Graph& graph = draft.graph;
  enum class VisitMark : std::uint8_t { kNew, kOnPath, kDone };
  std::vector<VisitMark> marks(graph.nodes.size());
  std::vector<std::size_t> path;  // channels
  const auto visit = [&](const auto& self, std::uint32_t node) -> void {
    marks[node] = VisitMark::kOnPath;
    for (std::size_t c = 0; c < graph.channels.size(); ++c) {
      const ChannelSpec& channel = graph.channels[c];
      if (channel.from != node || channel.tokens > 0 || marks[channel.to] == VisitMark::kDone) continue;
      path.push_back(c);
      if (marks[channel.to] == VisitMark::kOnPath) {
        auto start =
            std::find_if(path.begin(), path.end(), [&](std::size_t p) { return graph.channels[p].from == channel.to; });
        std::string names = graph.nodes[channel.to].name;
        for (; start != path.end(); ++start) names += " -> " + graph.nodes[graph.channels[*start].to].name;
        config::fail(
            draft.channel_at[c],
            fmt::format(
                "channel '{}' closes the cycle {}, in which no channel starts with a token; give one 'tokens: 1'",
                channel.name, names));
      }
      self(self, channel.to);
      path.pop_back();
    }
    marks[node] = VisitMark::kDone;
  };
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    if (marks[i] == VisitMark::kNew) visit(visit, i);
  }
}

}  // namespace attnvp::stream
