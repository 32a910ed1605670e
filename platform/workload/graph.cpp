#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "firmware/hal/element_types.h"
#include "platform/base/text.h"
#include "platform/machine/schema.h"
#include "platform/machine/words.h"
#include "platform/workload/keys.h"
#include "platform/workload/layers.h"

namespace attnvp::workload {

using namespace config;

namespace {

constexpr const char* kRoot = "GRAPH";
constexpr std::size_t kMostRank = 8;
constexpr double kMostElements = 0x1p48;
constexpr std::uint32_t kMostTimes = 1'000'000;

// Elements of an operation's first tensors; further ones are not checked.
struct OperandElements {
  std::vector<std::uint64_t> inputs;
  std::uint64_t output = 0;
};

OperandElements elements_of(const Workload& w) {
  if (const Gemm* g = w.gemm()) {
    OperandElements of{{std::uint64_t{g->rows} * g->depth, std::uint64_t{g->columns} * g->depth}, w.result_elements()};
    if (g->fusion.down > 0) of.inputs.push_back(std::uint64_t{g->fusion.down} * g->first_columns());
    return of;
  }
  if (const RowOperation* r = w.rows()) {
    const bool has_two = r->is_gated || r->is_elementwise();
    return {std::vector<std::uint64_t>(has_two ? 2 : 1, r->elements()), r->elements()};
  }
  const Attention& a = w.attention();
  return {{a.query_elements(), a.key_elements(), a.value_elements()}, a.output_elements()};
}

class OperationGraphReader {
 public:
  explicit OperationGraphReader(const Document& document) : document_(document) {}

  OperationGraph read(const std::string& default_name) {
    document_.require_keys(document_.root(), "the file", {kRoot});
    const config::YamlNode root = document_.root()[kRoot];
    document_.require_keys(root, "key 'GRAPH'", {"version", "name", "tensors", "operations", "views", "unsupported"});
    const std::string version = text_of(root, "key 'GRAPH'", "version");
    if (version != "1") {
      fail(document_.origin(root["version"]), fmt::format("found version {}; allowed is 1", in_quotes(version)));
    }
    OperationGraph graph;
    graph.name = root["name"] ? text::printable(document_.scalar(root["name"], "key 'name'")) : default_name;
    read_tensors(need(root, "key 'GRAPH'", "tensors"));
    const config::YamlNode operations = need(root, "key 'GRAPH'", "operations");
    document_.require_list(operations, "key 'GRAPH.operations'");
    if (operations.size() == 0)
      fail(document_.origin(operations), "the graph has no operation to run; allowed is one or more");
    read_views(root["views"]);
    make_views();
    read_outputs(operations);
    for (const config::YamlNode& node : operations) graph.operations.push_back(operation(node));
    read_unsupported(root["unsupported"], graph);
    return graph;
  }

 private:
  config::YamlNode need(const config::YamlNode& node, const std::string& what, const char* key) const {
    if (!node[key]) fail(document_.origin(node), fmt::format("{}: key '{}' is missing", what, key));
    return node[key];
  }
  std::string text_of(const config::YamlNode& node, const std::string& what, const char* key) const {
    return document_.scalar(need(node, what, key), fmt::format("key '{}'", key));
  }

  std::vector<std::uint64_t> shape_of(const config::YamlNode& shape) const {
    document_.require_list(shape, "key 'shape'");
    if (shape.size() > kMostRank) {
      fail(document_.origin(shape),
           fmt::format("a shape of {} extents; allowed are up to {}", shape.size(), kMostRank));
    }
    std::vector<std::uint64_t> extents;
    double elements = 1;
    for (const config::YamlNode& extent : shape) {
      const double value = number(extent, "an extent");
      if (value < 1 || value != std::uint64_t(value)) {
        fail(document_.origin(extent), fmt::format("found an extent of {}; allowed are whole numbers from 1 on",
                                                   in_quotes(document_.scalar(extent, "an extent"))));
      }
      elements *= value;
      extents.push_back(static_cast<std::uint64_t>(value));
    }
    if (elements > kMostElements) {
      fail(document_.origin(shape),
           fmt::format("a tensor of {:g} elements; allowed are {:g}", elements, kMostElements));
    }
    return extents;
  }

  double number(const config::YamlNode& node, const std::string& what) const {
    try {
      return parse_plain_real(document_.scalar(node, what));
    } catch (const ConfigError& problem) {
      fail(document_.origin(node), fmt::format("{}: {}", what, problem.what()));
    }
  }

  void check_type(const config::YamlNode& node) const {
    const std::string type = document_.scalar(node, "key 'type'");
    std::vector<std::string> allowed;
    for (const hal::ElementTypeInfo& info : hal::kElementTypes) {
      if (info.is_tensor) allowed.emplace_back(info.name);
    }
    if (std::find(allowed.begin(), allowed.end(), type) != allowed.end()) return;
    fail(document_.origin(node), fmt::format("type {} is unknown{}", in_quotes(type), hint(type, allowed)));
  }

  void read_tensors(const config::YamlNode& tensors) {
    document_.require_map(tensors, "key 'GRAPH.tensors'");
    for (const auto& entry : tensors) {
      const std::string name = document_.scalar(entry.first, "a tensor's name");
      document_.require_keys(entry.second, fmt::format("tensor {}", in_quotes(name)), {"shape", "type"});
      if (entry.second["type"]) check_type(entry.second["type"]);
      const config::YamlNode shape = need(entry.second, fmt::format("tensor {}", in_quotes(name)), "shape");
      if (!tensors_.emplace(name, ShapedTensor{name, shape_of(shape)}).second) {
        fail(document_.origin(entry.first), fmt::format("tensor {} is given twice", in_quotes(name)));
      }
    }
  }

  void check_known(const std::string& tensor, const Origin& origin) const {
    if (tensors_.count(tensor) != 0) return;
    std::vector<std::string> known;
    for (const auto& [name, shape] : tensors_) known.push_back(name);
    fail(origin, fmt::format("tensor {} is unknown{}", in_quotes(tensor), hint(tensor, known)));
  }

  std::vector<std::pair<std::string, Origin>> names(const config::YamlNode& list, const char* key) const {
    std::vector<std::pair<std::string, Origin>> all;
    document_.require_list(list, fmt::format("key '{}'", key));
    for (const config::YamlNode& node : list) {
      const std::string name = document_.scalar(node, "a tensor's name");
      check_known(name, document_.origin(node));
      all.emplace_back(name, document_.origin(node));
    }
    return all;
  }

  // Entries with the same output are the parts of a concatenation.
  void read_views(const config::YamlNode& views) {
    if (!views) return;
    document_.require_list(views, "key 'GRAPH.views'");
    for (const config::YamlNode& node : views) {
      document_.require_keys(node, "an entry of 'GRAPH.views'", {"input", "outputs"});
      const std::string input = text_of(node, "a view", "input");
      check_known(input, document_.origin(node["input"]));
      for (const auto& [name, origin] : names(need(node, "a view", "outputs"), "outputs")) {
        sources_[name].push_back(input);
        view_order_.push_back(name);
      }
    }
  }

  // Views that are no concatenations take consecutive columns of their input, in the order of the file.
  void make_views() {
    std::map<std::string, std::uint64_t> columns;  // of an input that are taken
    for (const std::string& name : view_order_) {
      if (views_.count(name) != 0) continue;
      std::vector<ShapedTensor> inputs;
      for (const std::string& input : sources_[name]) inputs.push_back(tensors_.at(input));
      views_.emplace(name, view_by_shape(tensors_.at(name), inputs, columns[inputs.front().name]));
    }
  }

  // Views that make a tensor, in an order in which they can be made.
  void add_views(const std::string& tensor, std::vector<TensorView>& all) const {
    const auto found = views_.find(tensor);
    if (found == views_.end()) return;
    for (const std::string& source : sources_.at(tensor)) add_views(source, all);
    const bool is_new =
        std::none_of(all.begin(), all.end(), [&](const TensorView& other) { return other.output == tensor; });
    if (is_new) all.push_back(found->second);
  }

  // The operation that writes each tensor, before any is read.
  void read_outputs(const config::YamlNode& operations) {
    for (const config::YamlNode& node : operations) {
      document_.require_keys(node, "an entry of 'GRAPH.operations'", {"name", "net", "inputs", "outputs", "count"});
      for (const auto& [name, origin] : names(need(node, "an operation", "outputs"), "outputs")) {
        if (sources_.count(name) != 0 || !of_operations_.insert(name).second) {
          fail(origin, fmt::format("tensor {} is written twice; allowed is once", in_quotes(name)));
        }
      }
    }
  }

  bool is_input(const std::string& tensor) const {
    return of_operations_.count(tensor) == 0 && sources_.count(tensor) == 0;
  }

  // Whether a tensor has its value: an input of the graph, or written by an operation before, perhaps through views.
  bool is_ready(const std::string& tensor) {
    if (of_operations_.count(tensor) != 0) return written_.count(tensor) != 0;
    const auto views = sources_.find(tensor);
    if (views == sources_.end()) return true;
    if (!visited_.insert(tensor).second) return false;  // a cycle of views
    const bool ready = std::all_of(views->second.begin(), views->second.end(),
                                   [this](const auto& source) { return is_ready(source); });
    visited_.erase(tensor);
    return ready;
  }

  LayerOperation operation(const config::YamlNode& node) {
    const std::string name = text_of(node, "an operation", "name"), what = "operation " + in_quotes(name);
    if (!operation_names_.insert(name).second) {
      fail(document_.origin(node), fmt::format("{} is given twice", what));
    }
    LayerOperation result;
    result.name = text::printable(name);
    const config::YamlNode net = need(node, what, "net");
    try {
      result.workload = load_operation(document_.scalar(net, "key 'net'"));
      refuse_scope(result.workload);
    } catch (const ConfigError& problem) {
      fail(document_.origin(net), fmt::format("{}: {}", what, problem.what()));
    }
    if (node["count"]) {
      const double times = number(node["count"], "key 'count'");
      if (times < 1 || times > kMostTimes || times != static_cast<std::uint32_t>(times)) {
        fail(document_.origin(node["count"]),
             fmt::format("{}: found count {:g}; allowed are 1 to {}", what, times, kMostTimes));
      }
      result.count = static_cast<std::uint32_t>(times);
    }
    const OperandElements expected = elements_of(result.workload);
    const auto inputs = names(need(node, what, "inputs"), "inputs");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto& [tensor, origin] = inputs[i];
      if (!is_ready(tensor)) {
        fail(origin, fmt::format("{} reads tensor {} before it is written", what, in_quotes(tensor)));
      }
      if (i < expected.inputs.size()) check_elements(what, tensor, origin, expected.inputs[i] * result.count);
      result.inputs.push_back(tensor);
      add_views(tensor, result.views);
    }
    const Gemm* const product = result.workload.gemm();
    if (product != nullptr && inputs.size() > 1 && is_input(inputs[1].first)) {
      const std::uint64_t of_second =
          expected.inputs.size() > 2 && inputs.size() > 2 && is_input(inputs[2].first) ? expected.inputs[2] : 0;
      result.parameters = (expected.inputs[1] + of_second) * result.count;
      result.active = result.parameters;
    }
    const auto outputs = names(node["outputs"], "outputs");
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto& [tensor, origin] = outputs[i];
      if (i == 0) check_elements(what, tensor, origin, expected.output * result.count);
      written_.insert(tensor);
      result.outputs.push_back(tensor);
    }
    return result;
  }

  void check_elements(const std::string& what, const std::string& tensor, const Origin& origin,
                      std::uint64_t expected) const {
    const std::uint64_t found = tensors_.at(tensor).elements();
    if (found == expected) return;
    fail(origin, fmt::format("{}: tensor {} has {} elements; the operation's has {}", what, in_quotes(tensor), found,
                             expected));
  }

  void read_unsupported(const config::YamlNode& list, OperationGraph& graph) const {
    if (!list) return;
    document_.require_list(list, "key 'GRAPH.unsupported'");
    for (const config::YamlNode& node : list) {
      document_.require_keys(node, "an entry of 'GRAPH.unsupported'", {"name", "op", "elements", "share_of_macs"});
      UnsupportedOperation one{text_of(node, "an entry", "name"), text_of(node, "an entry", "op"), 0};
      if (node["share_of_macs"]) one.share_of_macs = number(node["share_of_macs"], "key 'share_of_macs'");
      if (one.share_of_macs < 0 || one.share_of_macs > 1) {
        fail(document_.origin(node["share_of_macs"]),
             fmt::format("found a share of {:g}; allowed are 0 to 1", one.share_of_macs));
      }
      graph.unsupported.push_back(std::move(one));
    }
  }

  const Document& document_;
  std::map<std::string, ShapedTensor> tensors_;
  std::map<std::string, std::vector<std::string>> sources_;  // inputs of the views that write a tensor
  std::vector<std::string> view_order_;
  std::map<std::string, TensorView> views_;
  std::set<std::string> of_operations_, written_, operation_names_, visited_;
};

}  // namespace

bool is_graph(const Document& document) { return document.root().is_map() && document.root()[kRoot]; }

OperationGraph read_graph(const Document& document, const std::string& default_name) {
  return OperationGraphReader(document).read(default_name);
}

}  // namespace attnvp::workload
