// Tree of a YAML document: maps, lists, texts and nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace attnvp::config {

// Storage of a node; a Document owns the tree.
struct YamlData {
  enum class YamlKind : std::uint8_t { kNothing, kText, kList, kMap };
  YamlKind kind = YamlKind::kNothing;
  int line = 1;  // where it begins
  std::string text;
  std::vector<YamlData> children;  // of a map: key, value, key, value
};

// A node of a document that outlives it, or no node.
class YamlNode {
 public:
  struct YamlEntry;
  class YamlIterator;

  YamlNode() = default;
  explicit YamlNode(const YamlData& data) : data_(&data) {}

  explicit operator bool() const { return data_ != nullptr; }
  bool is_nothing() const { return is(YamlData::YamlKind::kNothing); }
  bool is_scalar() const { return is(YamlData::YamlKind::kText); }
  bool is_list() const { return is(YamlData::YamlKind::kList); }
  bool is_map() const { return is(YamlData::YamlKind::kMap); }
  int line() const { return data_ == nullptr ? 1 : data_->line; }
  const std::string& scalar() const;  // empty if it is none

  // Number of items of a list or of entries of a map.
  std::size_t size() const;
  // Value of the first entry with that key; no node if there is none.
  YamlNode operator[](std::string_view key) const;
  YamlIterator begin() const;
  YamlIterator end() const;

 private:
  bool is(YamlData::YamlKind kind) const { return data_ != nullptr && data_->kind == kind; }
  const YamlData* data_ = nullptr;
};

// An item of a list, or key and value of a map's entry.
struct YamlNode::YamlEntry : YamlNode {
  YamlNode first, second;
};

class YamlNode::YamlIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = YamlEntry;
  using difference_type = std::ptrdiff_t;
  using pointer = const YamlEntry*;
  using reference = YamlEntry;

  YamlIterator(const YamlData* at, bool is_map) : at_(at), is_map_(is_map) {}
  YamlEntry operator*() const;
  YamlIterator& operator++() {
    at_ += is_map_ ? 2 : 1;
    return *this;
  }
  bool operator==(const YamlIterator& other) const { return at_ == other.at_; }

 private:
  const YamlData* at_;
  bool is_map_;
};

// The tree of a text in YAML 1.2 as yaml-cpp reads it, which must be one document; nothing for an empty one. Aliases
// become copies. Throws ConfigError with the name `source` and a line.
std::shared_ptr<const YamlData> parse_yaml(const std::string& text, const std::string& source);

}  // namespace attnvp::config
