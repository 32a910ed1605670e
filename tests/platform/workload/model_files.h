// Models' config.json files: small ones made for these tests, with the keys of published models. Right values are those
// of Hugging Face Transformers, whose rules tests name.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "platform/workload/layers.h"
#include "platform/workload/workload.h"
#include "tests/platform/test_files.h"

namespace attnvp::workload {

inline Workload load_file(const std::string& json, const std::string& words = "") {
  const attnvp::testing::TemporaryFolder folder;
  return load("hf:" + folder.write("config.json", json) + words);
}

// Behind "config.json: ".
inline std::string refusal(const std::string& json, const std::string& words = "") {
  const std::string message = attnvp::testing::message_of([&] { load_file(json, words); });
  EXPECT_EQ(message.substr(0, 13), "config.json: ");
  return message.substr(std::min<std::size_t>(13, message.size()));
}

// Blocks of layers, as "3 dense, 58 experts".
inline std::string blocks_of(const std::string& json, const std::string& words = ",N=8,scope=model") {
  std::string text;
  for (const Block& b : load_file(json, words).model.all_blocks()) {
    text += (text.empty() ? "" : ", ") + std::to_string(b.count) + " " + b.name;
  }
  return text;
}

}  // namespace attnvp::workload
