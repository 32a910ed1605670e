#include <clocale>
#include <limits>
#include <random>

#include "platform/machine/words.h"
#include "tests/platform/test_files.h"

namespace attnvp::config {
namespace {

using attnvp::testing::message_of;

constexpr const char* kByteUnits = "B, KiB, MiB, GiB, TiB, KB, MB, GB, TB";

std::string refusal(KeyUnit unit, const std::string& text) {
  return message_of([&] {
    is_integer(unit) ? static_cast<void>(parse_integer(unit, text)) : static_cast<void>(parse_real(unit, text));
  });
}

TEST(Units, ReadsEachUnit) {
  EXPECT_EQ(parse_integer(KeyUnit::kBytes, "7 B"), 7u);
  EXPECT_EQ(parse_integer(KeyUnit::kBytes, "32 KiB"), 32768u);
  EXPECT_EQ(parse_integer(KeyUnit::kBytes, "5 MiB"), 5242880u);
  EXPECT_EQ(parse_integer(KeyUnit::kBytes, "5 MB"), 5000000u);
  EXPECT_EQ(parse_integer(KeyUnit::kBytes, "6 GiB"), 6442450944u);
  EXPECT_EQ(parse_integer(KeyUnit::kBytes, "1.15 MB"), 1150000u);
  EXPECT_EQ(parse_integer(KeyUnit::kBytes, "1.5 KiB"), 1536u);
  EXPECT_EQ(parse_integer(KeyUnit::kBytes, "3 kB"), 3000u);
  EXPECT_EQ(parse_integer(KeyUnit::kBytes, "4 TiB"), 4398046511104u);
  EXPECT_EQ(parse_integer(KeyUnit::kBytesPerCycle, "64 B/cycle"), 64u);
  EXPECT_EQ(parse_integer(KeyUnit::kCount, "0"), 0u);
  EXPECT_EQ(parse_integer(KeyUnit::kCycles, "18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_real(KeyUnit::kFrequency, "3.75 GHz"), 3.75e9);
  EXPECT_EQ(parse_real(KeyUnit::kFrequency, "940 MHz"), 940e6);
  EXPECT_EQ(parse_real(KeyUnit::kBandwidth, "30 GB/s"), 30e9);
  EXPECT_EQ(parse_real(KeyUnit::kBandwidth, "400 GiB/s"), 400.0 * (1 << 30));
  EXPECT_EQ(parse_real(KeyUnit::kTime, "20 ns"), 20e-9);
  EXPECT_EQ(parse_real(KeyUnit::kTime, "1.5 us"), 1.5e-6);
  EXPECT_EQ(parse_real(KeyUnit::kTime, "0 s"), 0.0);
  EXPECT_EQ(parse_real(KeyUnit::kEnergy, "200 pJ"), 200.0);
}

TEST(Units, ForgivesBlanksAndReadsExponents) {
  EXPECT_EQ(parse_integer(KeyUnit::kBytes, "5MiB"), 5242880u);
  EXPECT_EQ(parse_integer(KeyUnit::kBytes, "  5   MiB "), 5242880u);
  EXPECT_EQ(parse_integer(KeyUnit::kBytes, "1e3 KB"), 1000000u);
  EXPECT_EQ(parse_real(KeyUnit::kTime, "2.0e+1 ns"), 20e-9);
  EXPECT_EQ(parse_real(KeyUnit::kTime, "2e-2us"), 20e-9);
}

TEST(Units, RefusesAMissingUnitWithTheListOfUnits) {
  EXPECT_EQ(refusal(KeyUnit::kBytes, "5"), std::string("found '5', which has no unit; allowed units: ") + kByteUnits);
  EXPECT_EQ(refusal(KeyUnit::kFrequency, "3.75"), "found '3.75', which has no unit; allowed units: Hz, kHz, MHz, GHz");
  EXPECT_EQ(refusal(KeyUnit::kTime, "20"), "found '20', which has no unit; allowed units: ps, ns, us, ms, s");
  EXPECT_EQ(refusal(KeyUnit::kBytesPerCycle, "64"), "found '64', which has no unit; allowed units: B/cycle");
  EXPECT_EQ(refusal(KeyUnit::kEnergy, "1"), "found '1', which has no unit; allowed units: pJ");
}

TEST(Units, RefusesAnUnknownUnitWithTheListOfUnits) {
  EXPECT_EQ(refusal(KeyUnit::kBytes, "5 mb"),
            std::string("found '5 mb', which has the unknown unit 'mb'; allowed units: ") + kByteUnits);
  EXPECT_EQ(refusal(KeyUnit::kBytes, "5 EiB"),
            std::string("found '5 EiB', which has the unknown unit 'EiB'; allowed units: ") + kByteUnits);
  EXPECT_EQ(refusal(KeyUnit::kBandwidth, "30 GB"),
            "found '30 GB', which has the unknown unit 'GB'; allowed units: B/s, KiB/s, MiB/s, GiB/s, TiB/s, KB/s, "
            "MB/s, GB/s, TB/s");
  EXPECT_EQ(refusal(KeyUnit::kFrequency, "0x10 Hz"),
            "found '0x10 Hz', which has the unknown unit 'x10 Hz'; allowed units: Hz, kHz, MHz, GHz");
  EXPECT_EQ(refusal(KeyUnit::kTime, "1,5 us"),
            "found '1,5 us', which has the unknown unit ',5 us'; allowed units: ps, ns, us, ms, s");
}

TEST(Units, RefusesWhatIsNoNumber) {
  const std::string expected = "; allowed is a number with one of the units ps, ns, us, ms, s";
  for (const std::string text : {"nan", "inf ns", "-inf ns", "ns", "", ".5 ns", "+5 ns", "fast", "- 5 ns"}) {
    EXPECT_EQ(refusal(KeyUnit::kTime, text), "found '" + text + "', which is not a number" + expected);
  }
}

TEST(Units, RefusesNegativeNumbers) {
  EXPECT_EQ(refusal(KeyUnit::kTime, "-20 ns"),
            "found '-20 ns', which is negative; allowed is a number with one of the units ps, ns, us, ms, s");
  EXPECT_EQ(refusal(KeyUnit::kCount, "-1"), "found '-1', which is negative; allowed is a plain whole number");
}

TEST(Units, RefusesOverflow) {
  const std::string bytes = std::string("; allowed is a number with one of the units ") + kByteUnits;
  for (const std::string text : {"1e400 B", "1e399 GB", "99999999 TiB", "1e-400 B", "1e99999999999 B"}) {
    EXPECT_EQ(refusal(KeyUnit::kBytes, text), "found '" + text + "', which is out of range" + bytes);
  }
  EXPECT_EQ(refusal(KeyUnit::kCount, "18446744073709551616"),
            "found '18446744073709551616', which is out of range; allowed is a plain whole number");
  EXPECT_EQ(refusal(KeyUnit::kBandwidth, "1e308 TiB/s").substr(0, 47),
            "found '1e308 TiB/s', which is out of range; all");
}

TEST(Units, RefusesFractionsOfWholeThings) {
  EXPECT_EQ(refusal(KeyUnit::kBytes, "0.3 KiB"), "found '0.3 KiB', which is not a whole number of bytes");
  EXPECT_EQ(refusal(KeyUnit::kCount, "1.5"),
            "found '1.5', which is not a plain whole number; allowed is a plain whole number");
  EXPECT_EQ(refusal(KeyUnit::kCount, "1e3"),
            "found '1e3', which is not a plain whole number; allowed is a plain whole number");
  EXPECT_EQ(refusal(KeyUnit::kCount, "16 lanes"),
            "found '16 lanes', which has a unit; allowed is a plain whole number");
  EXPECT_EQ(refusal(KeyUnit::kCount, "0x10"), "found '0x10', which has a unit; allowed is a plain whole number");
}

TEST(Units, PlainNumbersHaveNoUnit) {
  EXPECT_EQ(parse_plain_real("0.05025"), 0.05025);
  EXPECT_EQ(parse_plain_real("2e2"), 200.0);
  EXPECT_EQ(message_of([] { parse_plain_real("200 pJ"); }),
            "found '200 pJ', which is not a plain number; allowed is a plain number, 0 or more");
  EXPECT_EQ(message_of([] { parse_plain_real(".nan"); }),
            "found '.nan', which is not a number; allowed is a plain number, 0 or more");
  EXPECT_EQ(message_of([] { parse_plain_real("1e999"); }),
            "found '1e999', which is out of range; allowed is a plain number, 0 or more");
}

TEST(Units, FormatsInTheShortestExactUnit) {
  EXPECT_EQ(format_integer(KeyUnit::kBytes, 5242880), "5 MiB");
  EXPECT_EQ(format_integer(KeyUnit::kBytes, 5000000), "5 MB");
  EXPECT_EQ(format_integer(KeyUnit::kBytes, 512), "512 B");
  EXPECT_EQ(format_integer(KeyUnit::kBytes, 1024), "1 KiB");
  EXPECT_EQ(format_integer(KeyUnit::kBytes, 1001), "1001 B");
  EXPECT_EQ(format_integer(KeyUnit::kBytes, 0), "0 B");
  EXPECT_EQ(format_integer(KeyUnit::kBytes, 6442450944), "6 GiB");
  EXPECT_EQ(format_integer(KeyUnit::kBytes, std::numeric_limits<std::uint64_t>::max()), "18446744073709551615 B");
  EXPECT_EQ(format_integer(KeyUnit::kCount, 4194304), "4194304");
  EXPECT_EQ(format_integer(KeyUnit::kBytesPerCycle, 64), "64 B/cycle");
  EXPECT_EQ(format_real(KeyUnit::kFrequency, 3.75e9), "3.75 GHz");
  EXPECT_EQ(format_real(KeyUnit::kFrequency, 940e6), "940 MHz");
  EXPECT_EQ(format_real(KeyUnit::kBandwidth, 30e9), "30 GB/s");
  EXPECT_EQ(format_real(KeyUnit::kBandwidth, 400.0 * (1 << 30)), "400 GiB/s");
  EXPECT_EQ(format_real(KeyUnit::kTime, 20e-9), "20 ns");
  EXPECT_EQ(format_real(KeyUnit::kTime, 100e-9), "100 ns");
  EXPECT_EQ(format_real(KeyUnit::kTime, 1.5e-6), "1.5 us");
  EXPECT_EQ(format_real(KeyUnit::kEnergy, 0.975), "0.975 pJ");
}

TEST(Units, FormattedTextReadsBackToTheSameNumber) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t bytes = (random() >> 11) >> (random() % 53);
    EXPECT_EQ(parse_integer(KeyUnit::kBytes, format_integer(KeyUnit::kBytes, bytes)), bytes);
    const double real = static_cast<double>(random() >> 11) * 1e-12;
    for (const KeyUnit unit : {KeyUnit::kFrequency, KeyUnit::kBandwidth, KeyUnit::kTime, KeyUnit::kEnergy}) {
      EXPECT_EQ(parse_real(unit, format_real(unit, real)), real);
    }
  }
}

TEST(Units, DoNotDependOnTheLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"}) std::setlocale(LC_ALL, name);
  EXPECT_EQ(parse_real(KeyUnit::kFrequency, "3.75 GHz"), 3.75e9);
  EXPECT_EQ(format_real(KeyUnit::kFrequency, 3.75e9), "3.75 GHz");
  std::setlocale(LC_ALL, before.c_str());
}

}  // namespace
}  // namespace attnvp::config
