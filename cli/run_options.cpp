#include <memory>

#include "cli/commands.h"
#include "cli/line.h"
#include "cli/machine_options.h"
#include "cli/validators.h"

namespace attnvp::cli {

void add_run(CLI::App& app, int& status) {
  const auto a = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand("run", "run one layer with one dataflow on one machine");
  add_machine_options(*command, *a);
  const auto dataflow = std::make_shared<std::string>();
  command
      ->add_option("--dataflow", *dataflow,
                   "dataflow[:option=value,...], see `attnvp list dataflows`; auto picks the fastest")
      ->default_str("mas")
      ->check(not_empty());
  command->add_option("--q", a->q, "Q from a .npy file, [B,H,N,E] or [H,N,E], float16 or float32")->check(not_empty());
  command->add_option("--k", a->k, "K likewise")->check(not_empty());
  command->add_option("--v", a->v, "V likewise")->check(not_empty());
  command->add_option("--out", a->out, "write O to a .npy file (float16)")->check(not_empty());
  command
      ->add_option("--vcd", a->vcd,
                   "write a waveform, FST where the name ends in .fst, and GTKWave's view of it beside")
      ->check(not_empty());
  command->add_option("--timeline", a->timeline, "write a timeline for Perfetto (Chrome trace events)")
      ->check(not_empty());
  command
      ->add_option("--trace-scope", a->trace_scopes,
                   "trace only these modules, e.g. core1, cluster0.core*.mac, dram; repeat for more")
      ->check(not_empty())
      ->allow_extra_args(false);
  command->add_option("--trace-from", a->trace_from, "trace from this cycle, or time, on")->check(not_empty());
  command
      ->add_option(
          "--profile", a->profile,
          "write where RISC-V firmware's cycles go: call stacks in the folded form, or a flame graph where the "
          "name ends in .html")
      ->check(not_empty());
  command
      ->add_option("--instruction-trace", a->instruction_trace,
                   "write RISC-V firmware's instructions as Spike logs them, from --trace-from to --trace-to")
      ->check(not_empty());
  command->add_flag("--no-advice", a->no_advice,
                    "do not look for what would make the job faster: no further runs that try it");
  command->add_flag("--check", a->check,
                    "examine the commands: whether they do the same whatever takes how long, see `attnvp check`");
  command
      ->add_option(
          "--jitter", a->jitter,
          "random extra delays of that seed wherever hardware may take longer; they must not change the output")
      ->check(whole_number());
  command->add_option("--gdb", a->gdb_port, "let gdb debug RISC-V firmware at this port of localhost; 0: a free one")
      ->check(within(0, 65535));
  command->add_flag("--gdb-wait", a->gdb_wait, "with --gdb: no firmware starts before gdb is there");
  command->add_option("--trace-to", a->trace_to, "trace up to this cycle, or time")->check(not_empty());
  command->add_option("--action-counts", a->action_counts, "write action counts in Accelergy's form (YAML)")
      ->check(not_empty());
  command->add_option("--clusters", a->clusters, "clusters that the job has, such as 0-1; all, if none are named")
      ->check(not_empty());
  command
      ->add_option("--beside", a->beside,
                   "another job at the same time, on clusters of its own: "
                   "'net=vit-b-16 dataflow=flat clusters=2 [tiling=...] [seed=...]'; repeat for more")
      ->check(not_empty())
      ->allow_extra_args(false);
  add_energy_range(*command, *a);
  add_memory_limit(*command);
  add_cycle_limit(*command, a->max_cycles, "twenty billion, and a thousand times what the layer takes at best");
  command->callback([a, dataflow, &status] {
    a->dataflows = {*dataflow};
    status = run(*a);
  });
}

}  // namespace attnvp::cli
