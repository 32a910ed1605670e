// YAML document as nodes and as flat settings; errors have file and line.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/machine/error.h"
#include "platform/machine/yaml.h"

namespace attnvp::config {

// One scalar of a YAML file with its dotted path ("l1.size"), or a "key=value" of the command line.
struct Setting {
  std::string path;
  std::string text;
  Origin origin;
};

// Text of a regular file of at most 1 MiB, in UTF-8 without control characters; a byte order mark is removed. Throws
// ConfigError.
std::string read_text_file(const std::string& path);

// Path for messages: relative to the working directory if below it.
std::string shown_path(const std::string& path);

// Keys whose value may be a list of maps, with the allowed paths of a map: {"cores", {"mac.rows"}}. '*' stands for an
// item of an enclosing list: "clusters.*.cores".
using ListKeys = std::map<std::string, std::vector<std::string>>;

class Document {
 public:
  // Throws ConfigError: not readable, not YAML, more than one document, empty.
  static Document load(const std::string& path);
  static Document parse(const std::string& text, const std::string& source);

  YamlNode root() const { return YamlNode(*tree_); }  // valid while the document or a copy exists
  const std::string& source() const { return source_; }

  Origin origin(const YamlNode& node) const;

  // Checks of one node; each throws ConfigError with file and line. Messages call the node `what`.
  void require_map(const YamlNode& node, const std::string& what) const;
  void require_list(const YamlNode& node, const std::string& what) const;
  std::string scalar(const YamlNode& node, const std::string& what) const;

  // The node must be a map of allowed keys without duplicates.
  void require_keys(const YamlNode& node, const std::string& what, const std::vector<std::string>& allowed) const;

  // Flattens the root map to dotted paths, in file order. `known` holds every allowed path, and "x.*" for a section
  // that is read elsewhere. Refuses unknown keys and sections (naming the nearest known one), duplicates, values of a
  // section, and maps or lists of a key. A list under a key of `lists` becomes the key with the number of items,
  // "cores" with "2", followed by the items' settings, "cores.1.mac.rows".
  std::vector<Setting> settings(const std::vector<std::string>& known, const ListKeys& lists = {}) const;

 private:
  Document(std::shared_ptr<const YamlData> tree, std::string source)
      : tree_(std::move(tree)), source_(std::move(source)) {}
  static Document parse_checked(const std::string& text, const std::string& source);
  // `all`: the known paths with those of their sections.
  void flatten(const YamlNode& node, const std::string& prefix, const std::vector<std::string>& known,
               const std::vector<std::string>& all, const ListKeys& lists, std::vector<Setting>& out) const;
  void flatten_list(const YamlNode& node, const std::string& path, const std::vector<std::string>& item_paths,
                    const ListKeys& lists, std::vector<Setting>& out) const;

  std::shared_ptr<const YamlData> tree_;
  std::string source_;
};

}  // namespace attnvp::config
