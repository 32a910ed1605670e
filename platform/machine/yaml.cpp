#include "platform/machine/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "platform/machine/error.h"

namespace attnvp::config {

namespace {

constexpr std::size_t kDeepest = 100;        // maps and lists in each other
constexpr std::size_t kMostNodes = 1 << 20;  // with copies for aliases

std::size_t count(const YamlData& node) {
  std::size_t all = 1;
  for (const YamlData& child : node.children) all += count(child);
  return all;
}

// Builds the tree from yaml-cpp's events, which are several times faster than its nodes.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const std::string& source) : source_(source) {}
  YamlData take_root() { return std::move(root_); }

  // yaml-cpp 0.7 reads text such as ", a: 1" as an infinite sequence of empty documents.
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (has_document_) {
      refuse(line_of(mark), "holds a second YAML document, or text that belongs to no key; allowed is one document");
    }
    has_document_ = true;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    close({YamlData::YamlKind::kNothing, line_of(mark), {}, {}}, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      refuse(line_of(mark), "not valid YAML: an alias stands within the node that it names");
    }
    take(count(found->second), line_of(mark));
    close(YamlData(found->second), YAML::NullAnchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const bool is_key = !open_.empty() && open_.back().node.kind == YamlData::YamlKind::kMap &&
                        open_.back().node.children.size() % 2 == 0;
    if (is_key && value == "<<" && tag == kPlain) {
      refuse(line_of(mark), "merge key '<<' is not supported; allowed is to write the merged keys out");
    }
    close({YamlData::YamlKind::kText, line_of(mark), value, {}}, anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(YamlData::YamlKind::kList, anchor, line_of(mark));
  }
  void OnSequenceEnd() override { close_last(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(YamlData::YamlKind::kMap, anchor, line_of(mark));
  }
  void OnMapEnd() override { close_last(); }

 private:
  static constexpr const char* kPlain = "?";  // tag of an unquoted scalar without one
  struct OpenYaml {
    YamlData node;
    YAML::anchor_t anchor;
  };

  static int line_of(const YAML::Mark& mark) { return std::max(mark.line, 0) + 1; }
  [[noreturn]] void refuse(int line, const std::string& why) const { fail({source_, line}, why); }

  void open(YamlData::YamlKind kind, YAML::anchor_t anchor, int line) {
    if (open_.size() == kDeepest)
      refuse(line, fmt::format("has more than {} lists and maps in each other; allowed are so many", kDeepest));
    open_.push_back({{kind, line, {}, {}}, anchor});
  }
  void close_last() {
    OpenYaml done = std::move(open_.back());
    open_.pop_back();
    close(std::move(done.node), done.anchor);
  }
  void close(YamlData node, YAML::anchor_t anchor) {
    take(1, node.line);
    if (anchor != YAML::NullAnchor) {
      take(count(node), node.line);
      anchors_.insert_or_assign(anchor, node);
    }
    (open_.empty() ? root_ : open_.back().node.children.emplace_back()) = std::move(node);
  }
  void take(std::size_t nodes, int line) {
    nodes_ += nodes;
    if (nodes_ > kMostNodes) refuse(line, fmt::format("has more than {} nodes; allowed are so many", kMostNodes));
  }

  const std::string& source_;
  YamlData root_;
  bool has_document_ = false;
  std::vector<OpenYaml> open_;
  std::map<YAML::anchor_t, YamlData> anchors_;
  std::size_t nodes_ = 0;
};

}  // namespace

const std::string& YamlNode::scalar() const {
  static const std::string none;
  return is_scalar() ? data_->text : none;
}

std::size_t YamlNode::size() const {
  if (data_ == nullptr) return 0;
  return data_->kind == YamlData::YamlKind::kMap ? data_->children.size() / 2 : data_->children.size();
}

YamlNode YamlNode::operator[](std::string_view key) const {
  if (!is_map()) return {};
  for (std::size_t i = 0; i < data_->children.size(); i += 2) {
    const YamlData& name = data_->children[i];
    if (name.kind == YamlData::YamlKind::kText && name.text == key) return YamlNode(data_->children[i + 1]);
  }
  return {};
}

YamlNode::YamlIterator YamlNode::begin() const {
  return {data_ == nullptr ? nullptr : data_->children.data(), is_map()};
}

YamlNode::YamlIterator YamlNode::end() const {
  return {data_ == nullptr ? nullptr : data_->children.data() + data_->children.size(), is_map()};
}

YamlNode::YamlEntry YamlNode::YamlIterator::operator*() const {
  if (is_map_) return {YamlNode(), YamlNode(at_[0]), YamlNode(at_[1])};
  return {YamlNode(at_[0]), YamlNode(), YamlNode()};
}

std::shared_ptr<const YamlData> parse_yaml(const std::string& text, const std::string& source) {
  TreeBuilder tree(source);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    if (parser.HandleNextDocument(tree)) parser.HandleNextDocument(tree);  // a second one is refused
  } catch (const YAML::Exception& problem) {
    fail({source, std::max(problem.mark.line, 0) + 1}, "not valid YAML: " + problem.msg);
  }
  return std::make_shared<const YamlData>(tree.take_root());
}

}  // namespace attnvp::config
