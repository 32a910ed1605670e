#include "platform/machine/energy/sram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "platform/machine/error.h"

namespace attnvp::energy {
namespace {

struct Measured {
  SramShape shape;
  double read_nj, write_nj, leakage_mw, area_mm2;
};

// Of CACTI 7.0 with the table's settings: capacities that no knot of the table has, some on a number of banks that it
// lacks.
const Measured kLeftOut[] = {
    {{22, "itrs-hp", 11264, 1, 256}, 0.00290686, 0.0074735, 1.83287, 0.00942},
    {{22, "itrs-hp", 1536000, 1, 256}, 0.0693577, 0.0717139, 204.666, 1.26563},
    {{22, "itrs-hp", 1536000, 64, 512}, 0.146698, 0.156106, 9.97925, 1.81963},
    {{22, "itrs-lop", 2406400, 1, 256}, 0.0582583, 0.0519175, 425.511, 1.94074},
    {{22, "itrs-lop", 2406400, 1, 512}, 0.10962, 0.108718, 427.774, 2.40775},
    {{22, "itrs-lop", 2406400, 64, 512}, 0.112787, 0.120497, 14.4284, 2.45997},
    {{22, "itrs-lop", 27648, 1, 512}, 0.00597791, 0.0117782, 5.65628, 0.02429},
    {{22, "itrs-lop", 27648, 4, 256}, 0.00584965, 0.00716195, 1.81732, 0.04302},
    {{22, "itrs-lstp", 3145728, 1, 256}, 0.108625, 0.0941827, 1.4041, 2.56417},
    {{22, "itrs-lstp", 3145728, 16, 512}, 0.200673, 0.231036, 0.107947, 2.59395},
    {{22, "itrs-lstp", 44032, 1, 256}, 0.0116254, 0.0126419, 0.021165, 0.03421},
    {{22, "itrs-lstp", 44032, 1, 512}, 0.0114385, 0.0295254, 0.0230817, 0.03481},
    {{32, "itrs-hp", 5427200, 1, 256}, 0.244513, 0.235311, 1421.45, 9.11195},
    {{32, "itrs-hp", 5427200, 4, 256}, 0.244149, 0.234947, 359.753, 9.80511},
    {{32, "itrs-hp", 92160, 1, 512}, 0.0378028, 0.0667125, 25.4922, 0.14713},
    {{32, "itrs-hp", 92160, 16, 256}, 0.0352179, 0.0397244, 2.86421, 0.29234},
    {{32, "itrs-hp", 92160, 4, 256}, 0.0282893, 0.0354207, 7.59576, 0.21364},
    {{32, "itrs-lop", 11264000, 16, 512}, 0.337524, 0.334663, 70.5997, 21.03138},
    {{32, "itrs-lop", 11264000, 4, 256}, 0.175054, 0.163898, 262.173, 19.40462},
    {{32, "itrs-lop", 11264000, 64, 256}, 0.161965, 0.160535, 20.0415, 16.68076},
    {{32, "itrs-lop", 158720, 16, 256}, 0.0209594, 0.0238764, 1.5541, 0.41155},
    {{32, "itrs-lop", 158720, 4, 256}, 0.0184525, 0.0224055, 4.47934, 0.32053},
    {{45, "itrs-hp", 25165824, 16, 512}, 1.78343, 1.84635, 1427.76, 88.64638},
    {{45, "itrs-hp", 25165824, 4, 256}, 0.927569, 0.902073, 5435.64, 75.64367},
    {{45, "itrs-hp", 352256, 1, 256}, 0.113351, 0.101566, 304.075, 1.10928},
    {{45, "itrs-hp", 352256, 1, 512}, 0.166711, 0.194383, 305.311, 1.309},
    {{45, "itrs-lop", 39936000, 8, 256}, 0.644466, 0.615343, 57.5323, 123.42341},
    {{45, "itrs-lop", 39936000, 8, 512}, 1.25795, 1.1997, 56.6802, 136.82736},
    {{45, "itrs-lop", 921600, 8, 512}, 0.200212, 0.201811, 1.48671, 4.03088},
};

TEST(Sram, CapacitiesOutOfTheTableAreWithinTenPercentOfCacti) {
  std::vector<double> errors;
  const auto hold = [&](double predicted, double measured, double most) {
    errors.push_back(std::abs(predicted / measured - 1));
    EXPECT_LT(errors.back(), most);
  };
  for (const Measured& m : kLeftOut) {
    SCOPED_TRACE(std::to_string(m.shape.bytes));
    const SramFigures figures = SramTable::cacti().at(m.shape);
    hold(figures.read_pj, m.read_nj * 1000, 0.25);
    hold(figures.write_pj, m.write_nj * 1000, 0.25);
    hold(figures.leakage_mw_per_bank, m.leakage_mw, 0.25);
    hold(figures.area_mm2, m.area_mm2, 0.35);
  }
  const auto close = std::count_if(errors.begin(), errors.end(), [](double e) { return e < 0.10; });
  EXPECT_GE(static_cast<double>(close), 0.9 * static_cast<double>(errors.size()));
}

TEST(Sram, BeyondTheTableItsSlopesGoOn) {
  const SramTable& table = SramTable::cacti();
  const SramFigures at_end = table.at({22, "itrs-hp", 64 << 20, 16, 256});
  const SramFigures beyond = table.at({22, "itrs-hp", 256 << 20, 16, 256});
  EXPECT_GT(beyond.area_mm2, 3.5 * at_end.area_mm2);
  EXPECT_LT(beyond.area_mm2, 4.6 * at_end.area_mm2);
  EXPECT_GT(beyond.read_pj, at_end.read_pj);
  EXPECT_EQ(table.at({22, "itrs-hp", 1 << 20, 1024, 256}).read_pj, table.at({22, "itrs-hp", 1 << 20, 64, 256}).read_pj);
}

TEST(Sram, NodesLieBetweenTheTables) {
  const auto area = [](double node) { return SramTable::cacti().at({node, "itrs-lop", 1 << 20, 16, 256}).area_mm2; };
  EXPECT_LT(area(22), area(28));
  EXPECT_LT(area(28), area(32));
}

TEST(Sram, WhatTheTableLacksIsSaid) {
  const auto refuse = [](double node, const char* cell) {
    try {
      SramTable::cacti().at({node, cell, 1 << 20, 16, 256});
      return std::string();
    } catch (const config::ConfigError& e) {
      return std::string(e.what());
    }
  };
  EXPECT_NE(refuse(22, "itrs-hpp").find("did you mean 'itrs-hp'"), std::string::npos) << refuse(22, "itrs-hpp");
  EXPECT_NE(refuse(16, "itrs-hp").find("found 16 nm"), std::string::npos);
}

}  // namespace
}  // namespace attnvp::energy
