// `attnvp reproduce`: the papers' tables beside this platform's.
#pragma once

#include <cstdint>
#include <string>

namespace attnvp::cli {

struct ReproduceArguments {
  std::string hardware = "edge";
  std::string data = "timing";  // or "full": golden-checks every run
  bool limits = false;          // search the longest sequences as well
  std::string json;             // "-" is stdout, alone
  std::string csv;
  std::string markdown;  // implies limits
};
// Exit status: 0, or 1 when a golden check failed. Throws config::ConfigError and job::RunError.
int reproduce_mas(const ReproduceArguments& arguments);

struct ReproduceFusemaxArguments {
  std::uint32_t tokens = 1U << 20;  // the longest sequence
  std::string json;                 // "-" is stdout, alone
  std::string csv;
  std::string markdown;
};
int reproduce_fusemax(const ReproduceFusemaxArguments& arguments);

struct ReproduceLeanArguments {
  std::string hardware = "a100-40gb";
  std::string json;  // "-" is stdout, alone
  std::string csv;
  std::string markdown;
};
int reproduce_lean(const ReproduceLeanArguments& arguments);

struct ReproduceStreamingArguments {
  std::uint32_t longest = 2048;  // sequence
  std::string json;              // "-" is stdout, alone
  std::string markdown;          // the page; its plots are written beside it
};
int reproduce_streaming(const ReproduceStreamingArguments& arguments);

}  // namespace attnvp::cli
