// `attnvp reproduce`: a paper's tables beside this platform's.
#include <memory>

#include "cli/commands.h"
#include "cli/shared/options.h"
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
  CLI::App& reproduce = *app.add_subcommand("reproduce", "a paper's tables beside this platform's");
  reproduce.require_subcommand(1);
  add_memory_limit(reproduce);
  CLI::App& mas = *reproduce.add_subcommand(
      "mas", "MAS-Attention: tables 2 and 3, DRAM accesses, breakdown, and where they disagree");
  add_hardware(mas, a->mas.hardware);
  mas.add_option("--data", a->mas.data, "full golden-checks every run; timing gives the same numbers")
      ->check(one_of({"full", "timing"}))
      ->capture_default_str();
  mas.add_flag("--limits", a->mas.limits, "search the longest sequences too (some 20 s)");
  add_json(mas, a->mas.json);
  add_output(mas, "--csv", a->mas.csv, "write CSV");
  add_output(mas, "--markdown", a->mas.markdown, "write the page (with limits)");
  mas.callback([a, &status] { status = reproduce_mas(a->mas); });

  CLI::App& fusemax = *reproduce.add_subcommand(
      "fusemax", "FuseMax: cycles, speed-up, utilisation, DRAM traffic and energy, 1K to 1M tokens");
  fusemax.add_option("--tokens", a->fusemax.tokens, "the longest sequence")
      ->check(CLI::Range(1024U, 1U << 20))
      ->capture_default_str();
  add_json(fusemax, a->fusemax.json);
  add_output(fusemax, "--csv", a->fusemax.csv, "write CSV");
  add_output(fusemax, "--markdown", a->fusemax.markdown, "write the page");
  fusemax.callback([a, &status] { status = reproduce_fusemax(a->fusemax); });

  CLI::App& lean =
      *reproduce.add_subcommand("lean", "LeanAttention: decoding under stream-K, FlashDecoding and FlashAttention-2");
  add_hardware(lean, a->lean.hardware);
  add_json(lean, a->lean.json);
  add_output(lean, "--csv", a->lean.csv, "write CSV");
  add_output(lean, "--markdown", a->lean.markdown, "write the page");
  lean.callback([a, &status] { status = reproduce_lean(a->lean); });

  CLI::App& streaming =
      *reproduce.add_subcommand("streaming", "Streaming SDPA: memory and throughput over N, depths of the long FIFO");
  streaming.add_option("--longest", a->streaming.longest, "longest sequence")
      ->check(within(64, 32768))
      ->capture_default_str();
  add_json(streaming, a->streaming.json);
  add_output(streaming, "--markdown", a->streaming.markdown, "write the page, and its plots beside it");
  streaming.callback([a, &status] { status = reproduce_streaming(a->streaming); });
}

}  // namespace attnvp::cli
