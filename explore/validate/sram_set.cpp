#include "explore/validate/sram_set.h"

#include "platform/energy/sram.h"

namespace attnvp::validate {

namespace {

class SramSet : public DataSet {
 public:
  std::string hardware() const override { return "SRAM model (CACTI 7)"; }

  std::vector<Point> predict(const Row& row) override {
    constexpr double kPjPerNj = 1000;
    const energy::SramShape shape{row.positive("node_nm"), row.text("cell"), row.positive("bytes"),
                                  row.positive("banks"), row.positive("width_bits")};
    energy::SramFigures figures;
    try {
      figures = energy::SramTable::cacti().at(shape);
    } catch (const config::ConfigError& problem) {
      config::fail(row.origin(), problem.what());
    }
    std::vector<Point> points = {
        {"read energy", row.positive("read_nj") * kPjPerNj, figures.read_pj, "pJ", ""},
        {"write energy", row.positive("write_nj") * kPjPerNj, figures.write_pj, "pJ", ""},
        {"leakage of a bank", row.positive("leakage_mw_per_bank"), figures.leakage_mw_per_bank, "mW", ""},
        {"area", row.positive("area_mm2"), figures.area_mm2, "mm2", ""}};
    return points;
  }
};

}  // namespace

Kind sram_kind() {
  return {"sram",
          "scratch RAMs by CACTI",
          {"node_nm", "cell", "bytes", "banks", "width_bits", "read_nj", "write_nj", "leakage_mw_per_bank", "area_mm2"},
          [](const Options&) { return std::make_unique<SramSet>(); }};
}

}  // namespace attnvp::validate
