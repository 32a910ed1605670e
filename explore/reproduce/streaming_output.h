// What `attnvp reproduce streaming` writes. None of it depends on the host.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "explore/reproduce/section.h"
#include "explore/reproduce/streaming_study.h"

namespace attnvp::reproduce {

std::vector<Section> streaming_sections(const StreamingStudy& study);

// Plots as SVG files, by the ending of their names.
struct StreamingPlot {
  std::string suffix;   // "memory", "throughput", "depth"
  std::string section;  // title of the section that it belongs to
  std::string alt;
  std::string svg;
};
std::vector<StreamingPlot> streaming_plots(const StreamingStudy& study);

std::string streaming_text(const std::vector<Section>& sections);
// `stem`: the plots are in STEM-SUFFIX.svg.
std::string streaming_markdown(const std::vector<Section>& sections, const std::vector<StreamingPlot>& plots,
                               const std::string& stem);
std::string streaming_json(const StreamingStudy& study);

}  // namespace attnvp::reproduce
