// States of the server's page: every form of a state reads back to the same state, and files are out of reach.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "explore/serve/state.h"
#include "platform/machine/error.h"

namespace attnvp::explore {
namespace {

ServerState random_state(std::mt19937& random) {
  const auto text = [&](const std::string& alphabet) {
    std::string out;
    for (std::size_t n = random() % 20; n > 0; --n) out += alphabet[random() % alphabet.size()];
    return out;
  };
  const std::string odd = "ab019 =&%+#?/:,;.'\"\\<>[]{}-_~*!|@^`$";
  ServerState state{text(odd), text(odd), text(odd), text(odd), {}};
  for (std::size_t n = random() % 5; n > 0; --n) state.settings.emplace_back("key" + std::to_string(n), text(odd));
  return state;
}

TEST(ServeState, EveryFormReadsBackToTheSameState) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const ServerState state = random_state(random);
    EXPECT_EQ(state_of_json(to_json(state)), state);
    EXPECT_EQ(state_of_query(to_query(state)), state) << to_query(state);
    EXPECT_EQ(state_of_yaml(to_yaml(state)), state) << to_yaml(state);
  }
}

TEST(ServeState, CommandQuotesForTheShell) {
  ServerState state;
  state.settings = {{"l1.size", "2 MiB"}};
  EXPECT_EQ(to_command(state),
            "attnvp run --hw edge --net bert-base --dataflow mas --set 'l1.size=2 MiB' --data timing");
  EXPECT_EQ(to_command(state, "explain"),
            "attnvp explain --hw edge --net bert-base --dataflow mas --set 'l1.size=2 MiB'");
}

TEST(ServeState, UnknownAndRepeatedMembersAreRefused) {
  using nlohmann::ordered_json;
  EXPECT_THROW(state_of_json({{"machine", "edge"}}), config::ConfigError);
  EXPECT_THROW(state_of_json({{"hardware", 1}}), config::ConfigError);
  EXPECT_THROW(state_of_query("hw=edge&what=1"), config::ConfigError);
  EXPECT_THROW(state_of_query("set=a%3D1&set=a%3D2"), config::ConfigError);
  EXPECT_THROW(state_of_query("hw=%4"), config::ConfigError);
  EXPECT_THROW(state_of_yaml("hardware: edge\nhost: x\n"), config::ConfigError);
}

TEST(ServeAccess, FilesOutsideTheWorkingFolderAreRefused) {
  const auto refused = [](const ServerState& state) { EXPECT_THROW(check_access(state), config::ConfigError); };
  check_access(ServerState());
  refused({"/etc/passwd", "bert-base", "mas", "", {}});
  refused({"../edge.yaml", "bert-base", "mas", "", {}});
  refused({"edge", "hf:/etc", "mas", "", {}});
  refused({"edge", "bert-base,bias=/etc/passwd", "mas", "", {}});
  refused({"edge", "../a=b/net.yaml", "mas", "", {}});
  refused({"edge", "../a,b.yaml", "mas", "", {}});
  refused({"edge", "../net.yaml,batch=2", "mas", "", {}});
  refused({"edge", "H=2,N=64,E=32, bias =/etc/passwd", "mas", "", {}});
  refused({"edge", "bert-base", "mas", "../tiles.yaml", {}});
  refused({"edge", "bert-base", "mas", "../a=b.yaml", {}});
  refused({"edge", "bert-base", "mas", "", {{"l1.kind", " plugin:/tmp/x.so"}}});
  refused({"edge", "bert-base", "mas", "", {{"control.firmware", "/bin/ls"}}});
  refused({"edge", "bert-base", "mas", "", {{"l1.kind", "plugin:/tmp/x.so"}}});
  refused({"edge", "bert-base", "mas", "", {{"energy", "/etc/passwd"}}});
}

TEST(ServeAccess, OutputsHavePlainNames) {
  EXPECT_EQ(output_path("run-1", ".vcd"), "run-1.vcd");
  for (const char* name : {"", "../run", "/tmp/run", ".run", "-run", "a b", "a/b", "a\nb"}) {
    EXPECT_THROW(output_path(name, ".vcd"), config::ConfigError) << name;
  }
}

}  // namespace
}  // namespace attnvp::explore
