#include "explore/plot/treemap.h"

#include <fmt/format.h>

#include <algorithm>

#include "explore/plot/svg.h"
#include "platform/text/printable.h"

namespace attnvp::plot {

namespace {

struct Box {
  double x, y, width, height;
};

constexpr double kBorder = 2, kTitle = 14;  // around and above what is inside
constexpr double kLetter = 7, kLine = 14;   // of a label

// The worst ratio of sides in a row of `sizes` along a side of that length.
double worst(const std::vector<double>& sizes, double side) {
  double sum = 0, most = 0, least = sizes.front();
  for (const double size : sizes) sum += size, most = std::max(most, size), least = std::min(least, size);
  return std::max(side * side * most / (sum * sum), sum * sum / (side * side * least));
}

class Drawing {
 public:
  explicit Drawing(std::string unit) : unit_(std::move(unit)) {}

  void draw(const TreeNode& node, const Box& box, const std::string& path) {
    if (box.width < 0.5 || box.height < 0.5) return;
    const std::string name = path.empty() ? node.name : path + "." + node.name;
    const bool leaf = node.parts.empty();
    out_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" stroke=\"#fff\"><title>{}: "
        "{:.3g} {}</title></rect>\n",
        box.x, box.y, box.width, box.height, leaf ? color(node.color) : "#ddd", text::escaped_for_html(name),
        node.total(), unit_);
    const bool named = box.height > kLine && box.width > kLetter * static_cast<double>(node.name.size());
    if (named) out_ += label(box.x + 3, box.y + kLine - 3, "start", text::escaped_for_html(node.name));
    if (leaf) return;
    const double top = named ? kTitle : kBorder;
    inside(node, {box.x + kBorder, box.y + top, box.width - 2 * kBorder, box.height - top - kBorder}, name);
  }
  const std::string& text() const { return out_; }

 private:
  void inside(const TreeNode& node, Box box, const std::string& name) {
    std::vector<const TreeNode*> parts;
    for (const TreeNode& part : node.parts) {
      if (part.total() > 0) parts.push_back(&part);
    }
    std::stable_sort(parts.begin(), parts.end(),
                     [](const TreeNode* a, const TreeNode* b) { return a->total() > b->total(); });
    double left = node.total();
    for (std::size_t first = 0; first < parts.size() && box.width > 0 && box.height > 0;) {
      const double scale = box.width * box.height / left;
      const double side = std::min(box.width, box.height);
      std::vector<double> row = {parts[first]->total() * scale};
      std::size_t end = first + 1;
      for (; end < parts.size(); ++end) {
        std::vector<double> longer = row;
        longer.push_back(parts[end]->total() * scale);
        if (worst(longer, side) > worst(row, side)) break;
        row = longer;
      }
      double sum = 0;
      for (const double size : row) sum += size;
      const double depth = sum / side;
      double along = 0;
      for (std::size_t i = first; i < end; ++i) {
        const double length = row[i - first] / depth;
        draw(*parts[i],
             box.width >= box.height ? Box{box.x, box.y + along, depth, length}
                                     : Box{box.x + along, box.y, length, depth},
             name);
        along += length;
        left -= parts[i]->total();
      }
      if (box.width >= box.height) {
        box.x += depth, box.width -= depth;
      } else {
        box.y += depth, box.height -= depth;
      }
      first = end;
    }
  }

  std::string unit_, out_;
};

}  // namespace

double TreeNode::total() const {
  if (parts.empty()) return size;
  double sum = 0;
  for (const TreeNode& part : parts) sum += part.total();
  return sum;
}

std::string treemap(const TreeNode& root, double width, double height, const std::string& unit) {
  Drawing drawing(unit);
  drawing.draw(root, {0, 0, width, height}, "");
  return drawing.text();
}

}  // namespace attnvp::plot
