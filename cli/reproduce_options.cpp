#include "cli/reproduce_options.h"

#include <CLI/CLI.hpp>

#include "cli/validators.h"

namespace attnvp::cli {

void ReproduceCommands::add_to(CLI::App& app, int& status) {
  CLI::App* reproduce_command = app.add_subcommand("reproduce", "a paper's tables beside this platform's");
  reproduce_command->require_subcommand(1);
  CLI::App* reproduce_mas_command = reproduce_command->add_subcommand(
      "mas", "MAS-Attention: tables 2 and 3, DRAM accesses, breakdown, and where they disagree");
  reproduce_mas_command->add_option("--hw", mas_.hardware, "machine")->capture_default_str();
  reproduce_mas_command->add_option("--data", mas_.data, "full golden-checks every run; timing gives the same numbers")
      ->check(one_of({"full", "timing"}))
      ->capture_default_str();
  reproduce_mas_command->add_flag("--limits", mas_.limits, "search the longest sequences too (some 20 s)");
  reproduce_mas_command->add_option("--json", mas_.json, "write JSON to a file, or alone to stdout with '-'")
      ->check(not_empty());
  reproduce_mas_command->add_option("--csv", mas_.csv, "write CSV")->check(not_empty());
  reproduce_mas_command->add_option("--markdown", mas_.markdown, "write the page (with limits)")->check(not_empty());
  reproduce_mas_command->callback([this, &status] { status = reproduce_mas(mas_); });

  CLI::App* reproduce_fusemax_command = reproduce_command->add_subcommand(
      "fusemax", "FuseMax: cycles, speed-up, utilisation, DRAM traffic and energy, 1K to 1M tokens");
  reproduce_fusemax_command->add_option("--tokens", fusemax_.tokens, "the longest sequence")
      ->check(CLI::Range(1024U, 1U << 20))
      ->capture_default_str();
  reproduce_fusemax_command->add_option("--json", fusemax_.json, "write JSON to a file, or alone to stdout with '-'")
      ->check(not_empty());
  reproduce_fusemax_command->add_option("--csv", fusemax_.csv, "write CSV")->check(not_empty());
  reproduce_fusemax_command->add_option("--markdown", fusemax_.markdown, "write the page")->check(not_empty());
  reproduce_fusemax_command->callback([this, &status] { status = reproduce_fusemax(fusemax_); });

  CLI::App* reproduce_lean_command = reproduce_command->add_subcommand(
      "lean", "LeanAttention: decoding under stream-K, FlashDecoding and FlashAttention-2");
  reproduce_lean_command->add_option("--hw", lean_.hardware, "machine")->capture_default_str();
  reproduce_lean_command->add_option("--json", lean_.json, "write JSON to a file, or alone to stdout with '-'")
      ->check(not_empty());
  reproduce_lean_command->add_option("--csv", lean_.csv, "write CSV")->check(not_empty());
  reproduce_lean_command->add_option("--markdown", lean_.markdown, "write the page")->check(not_empty());
  reproduce_lean_command->callback([this, &status] { status = reproduce_lean(lean_); });

  CLI::App* reproduce_streaming_command = reproduce_command->add_subcommand(
      "streaming", "Streaming SDPA: memory and throughput over N, depths of the long FIFO");
  reproduce_streaming_command->add_option("--longest", streaming_.longest, "longest sequence")
      ->check(within(64, 32768))
      ->capture_default_str();
  reproduce_streaming_command
      ->add_option("--json", streaming_.json, "write JSON to a file, or alone to stdout with '-'")
      ->check(not_empty());
  reproduce_streaming_command->add_option("--markdown", streaming_.markdown, "write the page, and its plots beside it")
      ->check(not_empty());
  reproduce_streaming_command->callback([this, &status] { status = reproduce_streaming(streaming_); });
}

}  // namespace attnvp::cli
