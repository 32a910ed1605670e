// The table of operations against what firmware sends: commands of every dataflow are of a unit, with flags, types and
// columns that the table has. And the reference page that is made from the tables.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "models/sim/trace/operation.h"
#include "platform/machine/catalog.h"
#include "platform/schedule/printer.h"
#include "tests/platform/test_files.h"
#include "tests/schedule/given.h"

namespace attnvp::schedule {
namespace {

TEST(Reference, CommandsAreWhatTheTablesSay) {
  const std::string path = config::config_root() + "/../docs/reference/commands.md";
  if (::getenv("ATTNVP_UPDATE_REFERENCE") != nullptr) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << commands_markdown();
  }
  EXPECT_EQ(::attnvp::testing::read_file(path), commands_markdown())
      << "run this test with ATTNVP_UPDATE_REFERENCE=1 to rewrite " << path;
}

class Conforming final : public Reader {
 public:
  void command(const Queue& queue, const hal::Descriptor& d) override {
    const hal::OperationInfo* const info = hal::find(d.opcode);
    ASSERT_NE(info, nullptr);
    opcodes.insert(d.opcode);
    EXPECT_TRUE(info->unit == queue.unit || info->unit == hal::Unit::kAny) << info->name;
    EXPECT_EQ(d.flags & ~info->flags, 0) << info->name;
    for (int i = 0; i < hal::kOperands; ++i) {
      const hal::OperandInfo* const operand = hal::operand_info(d, i);
      const bool given = d.type[i] != hal::ElementType::kNone;
      EXPECT_TRUE(!given || operand != nullptr) << info->name << " " << i;
      if (operand == nullptr || !hal::has(d, *operand)) continue;
      EXPECT_TRUE(given && hal::takes(d, operand->elements, d.type[i])) << info->name << " " << operand->name;
      EXPECT_EQ(d.operand[i].columns, hal::value_of(operand->columns, d, i)) << info->name << " " << operand->name;
    }
  }
  std::set<hal::Opcode> opcodes;
};

TEST(Operations, AreWhatFirmwareSends) {
  Conforming reader;
  for (const Given& given : {Given{{}, "H=2,N=128,E=64", "mas", ""},
                             Given{{}, "H=2,N=200,E=64,causal=1,type=int8", "mas", ""},
                             Given{{}, "H=2,N=200,E=64,window=50,scale=1/sqrt(E),softcap=30", "flat", ""},
                             Given{{}, "H=2,N=128,E=64,type=fp8_e4m3", "layerwise", ""},
                             Given{{}, "H=2,N=256,E=64,alibi=1", "fusemax", ""},
                             Given{{"mac.resident_tiles=2"}, "H=2,N=256,E=64,causal=1", "fusemax", ""},
                             Given{{"mac.resident_tiles=2"}, "H=2,N=256,E=64,type=int8,scale_block=64", "fusemax", ""},
                             Given{{"mac.resident_tiles=2"}, "H=2,N=256,E=64", "fusemax:binding=serial", ""},
                             Given{{}, "H=2,N=256,E=64,type=bf16", "flash2", ""},
                             Given{{}, "H=4,NQ=1,NKV=2000,E=64,HKV=2,history=1999", "flash-decoding", ""},
                             Given{{}, "H=2,N=128,E=64,softmax=none", "chain", ""},
                             Given{{}, "gemm:300x200x700", "gemm", ""},
                             Given{{}, "gemm:60x64x64,bias=1", "gemm", ""},
                             Given{{}, "gemm:60x64x256,weights=int4,group=64", "gemm", ""},
                             Given{{}, "softmax:64x300", "softmax-rows", ""},
                             Given{{}, "layernorm:64x300", "rows", ""},
                             Given{{}, "add:64x300", "rows", ""},
                             Given{{}, "swiglu:64x300", "rows", ""},
                             Given{{}, "rope:64x256x64", "rows", ""},
                             Given{{}, "convert:64x300,type=int8", "rows", ""}}) {
    SCOPED_TRACE(fmt::format("{} {}", given.network, given.dataflow));
    read_stream(job::make_job(given.machine(), given.layer(), given.schedule()), 0, reader);
  }
  EXPECT_EQ(reader.opcodes.size(), hal::kOperationCount);
}

TEST(Operations, HaveNamesInTheOrderOfTheTable) {
  EXPECT_STREQ(name_of(Operation::kNone), "idle");
  EXPECT_STREQ(name_of(traced(hal::Opcode::kMatmul, 0)), "matmul_abt");
  EXPECT_STREQ(name_of(kLoadOperation), "load");
  EXPECT_STREQ(name_of(traced(hal::Opcode::kRotate)), "rotate");
  EXPECT_STREQ(name_of(kUnknownOperation), "unknown");
  EXPECT_EQ(kOperationNames[static_cast<std::size_t>(kUnknownOperation) + 1], nullptr);
}

}  // namespace
}  // namespace attnvp::schedule
