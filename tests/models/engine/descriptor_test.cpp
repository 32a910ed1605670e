// The contract between firmware and engines, byte by byte, and the sentences with which an engine refuses.
#include "firmware/hal/descriptor.h"

#include "models/engine/descriptor_check.h"
#include "tests/models/bench.h"

namespace attnvp::bench {
namespace {

using hal::ElementType;

TEST(Descriptor, FieldsAreWhereTheContractSays) {
  hal::Descriptor d = matmul(0x11121314, 0x21222324, 0x31323334, {0x4142, 0x5152, 0x6162}, 0x0102030405060708, 0, 0);
  d.flags = 0x7172;
  d.head = 0x8182;
  d.row_block = 0x91929394;
  d.wait[3] = hal::event_ref(0xABC, 0xDE, 0xF01);
  d.signal[0] = hal::event_ref(1, 2, 3);
  d.remote = 0xA1A2A3A4;
  d.type[3] = ElementType::kFp32;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&d);
  const auto little = [&](std::size_t offset, int size) {
    std::uint64_t value = 0;
    for (int i = size; i-- > 0;) value = value << 8 | bytes[offset + static_cast<std::size_t>(i)];
    return value;
  };
  EXPECT_EQ(little(0x00, 1), 2U);  // version
  EXPECT_EQ(little(0x01, 1), 1U);  // matmul
  EXPECT_EQ(little(0x02, 2), 128U);
  EXPECT_EQ(little(0x04, 2), 0x7172U);
  EXPECT_EQ(little(0x06, 2), 0x8182U);
  EXPECT_EQ(little(0x08, 4), 0x91929394U);
  EXPECT_EQ(little(0x0C, 4), 0x07010101U);
  EXPECT_EQ(little(0x1C, 4), 0xF01DEABCU);
  EXPECT_EQ(little(0x20, 4), 0x00302001U);
  EXPECT_EQ(little(0x30, 4), 0xA1A2A3A4U);
  EXPECT_EQ(little(0x34, 4), 0x11121314U);             // rows
  EXPECT_EQ(little(0x38, 8), 0x0102030405060708U);     // A
  EXPECT_EQ(little(0x40, 4), 2 * 0x31323334U);         // its stride,
  EXPECT_EQ(little(0x44, 4), 0x31323334U);             // its columns
  EXPECT_EQ(little(0x64, 4), 0x21222324U);             // columns of C
  EXPECT_EQ(little(0x78, 8), 0x0000'6162'5152'4142U);  // sub-tile
  for (std::size_t i = 0x80; i < sizeof d; ++i) EXPECT_EQ(bytes[i], 0) << i;

  hal::Descriptor planes = copy(8, 2, 0x01020304, {kDram, 8, 0x11121314}, {kL1, 8, 0x21222324});
  std::memcpy(&d, &planes, sizeof d);
  EXPECT_EQ(little(0x02, 2), 136U);
  EXPECT_EQ(little(0x78, 8), 0x1112131401020304U);
  EXPECT_EQ(little(0x80, 4), 0x21222324U);
}

TEST(Descriptor, SizesComeFromTypes) {
  EXPECT_EQ(hal::element_bytes(ElementType::kNone), 0U);
  for (const auto type : {ElementType::kFp8E4M3, ElementType::kFp8E5M2, ElementType::kInt8}) {
    EXPECT_EQ(hal::element_bytes(type), 1U);
  }
  for (const auto type : {ElementType::kFp16, ElementType::kBf16}) EXPECT_EQ(hal::element_bytes(type), 2U);
  for (const auto type : {ElementType::kFp32, ElementType::kInt32}) EXPECT_EQ(hal::element_bytes(type), 4U);
  for (const auto type : {ElementType::kInt4, ElementType::kFp4E2M1}) {
    EXPECT_EQ(hal::element_bits(type), 4U);
    EXPECT_EQ(hal::bytes_of(type, 5), 3U);
  }
  EXPECT_EQ(hal::element_bits(static_cast<ElementType>(77)), 0U);
  hal::Descriptor d = softmax(1, 0xFFFF'FFFF, kL1, kL1);
  d.type[1] = ElementType::kFp32;
  EXPECT_EQ(d.row_bytes(0), 0x1'FFFF'FFFEU);
  EXPECT_EQ(d.row_bytes(1), 0x3'FFFF'FFFCU);
}

TEST(Descriptor, RefusalsAreOneClause) {
  hal::Descriptor d = softmax(4, 8, kL1, kL1);
  EXPECT_FALSE(check_header(d).any());
  EXPECT_FALSE(check_operand(d, 1, 8, {ElementType::kFp16}).any());
  EXPECT_EQ(check_operand(d, 1, 9, {ElementType::kFp16}).detail,
            "operand 1 of softmax has rows of 8 elements instead of 9");
  EXPECT_EQ(check_length(d, 132).detail, "a descriptor of 128 bytes; this softmax needs 136");
  d.flags = hal::kForwarded;
  EXPECT_FALSE(check_header(d).any());
  d.opcode = hal::Opcode::kDivide;
  EXPECT_EQ(check_header(d).detail, "a divide has no result that may pass L1 by");
  d.opcode = hal::Opcode::kMatmul;
  d.flags |= hal::kKept;
  EXPECT_EQ(check_header(d).detail, "partials that wait in L0 do not pass L1 by");
  d = softmax(4, 8, kL1, kL1);
  d.type[1] = ElementType::kFp8E5M2;
  EXPECT_EQ(check_operand(d, 1, 8, {ElementType::kFp16, ElementType::kFp32}).detail,
            "operand 1 of softmax is fp8_e5m2; this engine takes fp16 or fp32");
  d.type[1] = static_cast<ElementType>(77);
  EXPECT_EQ(check_operand(d, 1, 8, {ElementType::kFp16}).detail,
            "operand 1 of softmax is type 77; this engine takes fp16");
  d.length = 264;
  EXPECT_EQ(check_header(d).detail, "a descriptor of 264 bytes; it may have 128 to 256, in steps of 8");
  d.version = 7;
  EXPECT_EQ(check_header(d).detail, "a descriptor of version 7; this engine knows version 2");
}

TEST(Descriptor, TheLongestIsTakenWhole) {
  Bench bench;
  const std::uint64_t cycles = bench.run([](Bench& b) {
    hal::Descriptor d = then(nop(), 0);
    d.length = 256;
    EXPECT_TRUE(b.push(kMac, d));
    EXPECT_TRUE(b.take(0));
  });
  EXPECT_EQ(cycles, 32U + 1 + 1);  // 8 bytes a cycle, the doorbell, the event
}

}  // namespace
}  // namespace attnvp::bench
