// A treemap: rectangles whose areas are shares, nested, each as square as can be (Bruls, Huizing and van Wijk's
// squarified treemaps).
#pragma once

#include <string>
#include <vector>

namespace attnvp::plot {

struct TreeNode {
  std::string name;
  double size = 0;              // of one without parts; with parts, theirs together
  std::size_t color = 0;        // of one without parts
  std::vector<TreeNode> parts;  // shown inside
  double total() const;
};

// SVG elements; a title on each rectangle has its name and size in `unit`.
std::string treemap(const TreeNode& root, double width, double height, const std::string& unit);

}  // namespace attnvp::plot
