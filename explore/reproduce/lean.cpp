// `attnvp reproduce lean`.
#include "explore/reproduce/commands.h"
#include "explore/reproduce/lean_memory.h"
#include "explore/reproduce/lean_study.h"
#include "explore/reproduce/outputs.h"
#include "platform/config/hardware.h"

namespace attnvp::cli {

int reproduce_lean(const ReproduceLeanArguments& a) {
  namespace rp = reproduce;
  rp::Outputs outputs(a.json, a.csv, a.markdown);
  const MachineConfig machine = config::load_hardware(a.hardware);
  config::note_machine(machine, {});
  rp::LeanStudy study;
  rp::LeanMemory memory;
  {
    rp::Progress progress;
    study = rp::run_lean_study(machine, [&progress](const std::string& what) { progress.show(what); });
    memory = rp::run_lean_memory([&progress](const std::string& what) { progress.show(what); });
  }
  std::vector<rp::Section> sections = rp::lean_sections(study);
  sections.push_back(rp::lean_memory_section(memory));
  sections.push_back(rp::lean_reasons_section(memory));
  std::string text;
  for (const rp::Section& section : sections) text += (text.empty() ? "" : "\n") + rp::to_text(section);
  outputs.write(rp::lean_json(study), rp::lean_csv(study), rp::lean_markdown(sections), text);
  return 0;
}

}  // namespace attnvp::cli
