#include <CLI/CLI.hpp>

#include "cli/line.h"
#include "cli/worker.h"

namespace attnvp::cli {

namespace {

void add_worker(CLI::App& app, int& status) {
  app.add_subcommand("worker", "commands that come over stdin, a socket, each in a process of its own; for programs")
      ->callback([&status] { status = worker(commands()); });
}

}  // namespace

const std::vector<AddCommands>& commands() {
  static const std::vector<AddCommands> all = {
      add_run,    add_compare,  add_list,   add_describe, add_search,   add_reproduce,
      add_sweeps, add_schedule, add_check,  add_stream,   add_validate, add_calibrate,
      add_new,    add_riscv,    add_report, add_bench,    add_cache,    add_worker,
  };
  return all;
}

}  // namespace attnvp::cli
