#include <memory>

#include "cli/line.h"
#include "cli/machine_options.h"
#include "cli/validators.h"
#include "explore/reproduce/commands.h"

namespace attnvp::cli {

namespace {

struct Arguments {
  ReproduceArguments mas;
  ReproduceFusemaxArguments fusemax;
  ReproduceLeanArguments lean;
  ReproduceStreamingArguments streaming;
};

}  // namespace

void add_reproduce(CLI::App& app, int& status) {
  const auto a = std::make_shared<Arguments>();
  CLI::App* reproduce_command = app.add_subcommand("reproduce", "a paper's tables beside this platform's");
  reproduce_command->require_subcommand(1);
  add_memory_limit(*reproduce_command);
  CLI::App* reproduce_mas_command = reproduce_command->add_subcommand(
      "mas", "MAS-Attention: tables 2 and 3, DRAM accesses, breakdown, and where they disagree");
  reproduce_mas_command->add_option("--hw", a->mas.hardware, "machine")->capture_default_str();
  reproduce_mas_command
      ->add_option("--data", a->mas.data, "full golden-checks every run; timing gives the same numbers")
      ->check(one_of({"full", "timing"}))
      ->capture_default_str();
  reproduce_mas_command->add_flag("--limits", a->mas.limits, "search the longest sequences too (some 20 s)");
  reproduce_mas_command->add_option("--json", a->mas.json, "write JSON to a file, or alone to stdout with '-'")
      ->check(not_empty());
  reproduce_mas_command->add_option("--csv", a->mas.csv, "write CSV")->check(not_empty());
  reproduce_mas_command->add_option("--markdown", a->mas.markdown, "write the page (with limits)")->check(not_empty());
  reproduce_mas_command->callback([a, &status] { status = reproduce_mas(a->mas); });

  CLI::App* reproduce_fusemax_command = reproduce_command->add_subcommand(
      "fusemax", "FuseMax: cycles, speed-up, utilisation, DRAM traffic and energy, 1K to 1M tokens");
  reproduce_fusemax_command->add_option("--tokens", a->fusemax.tokens, "the longest sequence")
      ->check(CLI::Range(1024U, 1U << 20))
      ->capture_default_str();
  reproduce_fusemax_command->add_option("--json", a->fusemax.json, "write JSON to a file, or alone to stdout with '-'")
      ->check(not_empty());
  reproduce_fusemax_command->add_option("--csv", a->fusemax.csv, "write CSV")->check(not_empty());
  reproduce_fusemax_command->add_option("--markdown", a->fusemax.markdown, "write the page")->check(not_empty());
  reproduce_fusemax_command->callback([a, &status] { status = reproduce_fusemax(a->fusemax); });

  CLI::App* reproduce_lean_command = reproduce_command->add_subcommand(
      "lean", "LeanAttention: decoding under stream-K, FlashDecoding and FlashAttention-2");
  reproduce_lean_command->add_option("--hw", a->lean.hardware, "machine")->capture_default_str();
  reproduce_lean_command->add_option("--json", a->lean.json, "write JSON to a file, or alone to stdout with '-'")
      ->check(not_empty());
  reproduce_lean_command->add_option("--csv", a->lean.csv, "write CSV")->check(not_empty());
  reproduce_lean_command->add_option("--markdown", a->lean.markdown, "write the page")->check(not_empty());
  reproduce_lean_command->callback([a, &status] { status = reproduce_lean(a->lean); });

  CLI::App* reproduce_streaming_command = reproduce_command->add_subcommand(
      "streaming", "Streaming SDPA: memory and throughput over N, depths of the long FIFO");
  reproduce_streaming_command->add_option("--longest", a->streaming.longest, "longest sequence")
      ->check(within(64, 32768))
      ->capture_default_str();
  reproduce_streaming_command
      ->add_option("--json", a->streaming.json, "write JSON to a file, or alone to stdout with '-'")
      ->check(not_empty());
  reproduce_streaming_command
      ->add_option("--markdown", a->streaming.markdown, "write the page, and its plots beside it")
      ->check(not_empty());
  reproduce_streaming_command->callback([a, &status] { status = reproduce_streaming(a->streaming); });
}

}  // namespace attnvp::cli
