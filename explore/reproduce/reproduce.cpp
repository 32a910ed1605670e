#include <fmt/format.h>

#include <cstdio>

#include "explore/reproduce/commands.h"
#include "explore/reproduce/control_study.h"
#include "explore/reproduce/davinci_study.h"
#include "explore/reproduce/memory_study.h"
#include "explore/reproduce/output.h"
#include "explore/reproduce/outputs.h"
#include "platform/config/hardware.h"
#include "platform/text/complaint.h"

namespace attnvp::cli {

int reproduce_mas(const ReproduceArguments& a) {
  namespace rp = reproduce;
  rp::Outputs outputs(a.json, a.csv, a.markdown);
  const MachineConfig machine = config::load_hardware(a.hardware);
  config::note_machine(machine, {});
  rp::Study study;
  std::vector<rp::Limit> limits;
  rp::ControlStudy control;
  rp::DavinciStudy davinci;
  rp::MemoryStudy memory;
  {
    rp::Progress progress;
    const auto show = [&](const std::string& network, const std::string& dataflow) {
      progress.show(network + " with " + dataflow);
    };
    study = rp::run_study(machine, config::hardware_provenance(a.hardware), a.data == "full", show);
    rp::find_best(study, show);
    davinci = rp::run_davinci_study(study.paper, [&](const std::string& what) { progress.show(what); });
    memory =
        rp::run_memory_study(study.paper, "edge", "edge-lpddr4", [&](const std::string& what) { progress.show(what); });
    if (a.limits || outputs.page()) {
      limits = rp::find_limits(machine, study.paper.dataflows, [&](const std::string& dataflow, std::uint32_t cores) {
        progress.show(fmt::format("longest sequence of {} on {} cores per cluster", dataflow, cores));
      });
      control = rp::run_control_study(machine, study.paper.networks, study.paper.dataflows,
                                      [&](const std::string& what) { progress.show(what); });
    }
  }

  std::vector<rp::Section> sections = rp::sections(study, limits);
  for (rp::Section& section : rp::davinci_sections(davinci)) sections.push_back(std::move(section));
  sections.push_back(rp::memory_section(memory));
  if (!control.rows.empty()) sections.push_back(rp::control_section(control));
  std::size_t passed = 0;
  int status = 0;
  for (const auto& [place, result] : study.results) {
    if (!result.golden_checked) continue;
    passed += result.golden.passed ? 1 : 0;
    if (result.golden.passed) continue;
    text::complain(
        fmt::format("{} with {}: golden check failed: {}", place.first, place.second, result.golden.to_string()));
    status = 1;
  }
  std::string text = rp::to_text(study, sections);
  if (study.full_data) text += fmt::format("\ngolden: {} of {} runs passed\n", passed, study.results.size());
  outputs.write(rp::to_json(study, limits, davinci, memory), rp::to_csv(study, limits),
                rp::to_markdown(study, sections), text);
  return status;
}

}  // namespace attnvp::cli
