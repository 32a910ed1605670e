#include "platform/report/imbalance.h"

#include <fmt/format.h>

#include "platform/report/table.h"

namespace attnvp::report {

namespace {

bool many_clusters(const job::Imbalance& i) { return i.macs.each.size() > 1; }
bool many_cores(const job::Imbalance& i) { return i.core_macs.each.size() > i.macs.each.size(); }

nlohmann::ordered_json dealt_json(const job::Dealt& d) {
  return {{"most", d.most()}, {"mean", d.mean()}, {"ratio", d.ratio()}, {"each", d.each}};
}

}  // namespace

void add_imbalance(nlohmann::ordered_json& document, const job::Imbalance& i) {
  if (many_clusters(i)) {
    document["imbalance"]["clusters"] = {{"macs", dealt_json(i.macs)},
                                         {"vec_cycles", dealt_json(i.vec_cycles)},
                                         {"dma_bytes", dealt_json(i.dma_bytes)},
                                         {"end_cycle", i.end},
                                         {"first", i.first()},
                                         {"last", i.last()}};
  }
  if (many_cores(i)) {
    document["imbalance"]["cores"] = {{"macs", dealt_json(i.core_macs)}, {"vec_cycles", dealt_json(i.core_vec_cycles)}};
  }
}

std::string imbalance_text(const job::Imbalance& i) {
  Table table;
  table.column("dealt", Table::Align::kLeft);
  for (const char* title : {"most", "mean", "most/mean"}) table.column(title);
  const auto row = [&](const char* what, const job::Dealt& d) {
    if (d.total() == 0) return;
    table.row({what, with_commas(d.most()), with_commas(static_cast<unsigned long long>(d.mean() + 0.5)),
               fmt::format("{:.2f}", d.ratio())});
  };
  if (!many_clusters(i) && !many_cores(i)) return {};
  if (many_clusters(i)) {
    row("MACs of clusters", i.macs);
    row("VEC cycles of clusters", i.vec_cycles);
    row("DMA bytes of clusters", i.dma_bytes);
  }
  if (many_cores(i)) {
    row("MACs of cores", i.core_macs);
    row("VEC cycles of cores", i.core_vec_cycles);
  }
  std::string out = table.text(text::line_width());
  if (many_clusters(i)) {
    out += fmt::format("cluster {} ends first, after {} cycles, cluster {} last, after {}\n", i.first(),
                       with_commas(i.end[i.first()]), i.last(), with_commas(i.end[i.last()]));
  }
  return out + "\n";
}

}  // namespace attnvp::report
