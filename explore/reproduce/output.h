// What the command writes. None of it depends on the host or on the data mode, but for JSON's "golden".
#pragma once

#include <string>
#include <vector>

#include "explore/reproduce/davinci_study.h"
#include "explore/reproduce/memory_study.h"
#include "explore/reproduce/tables.h"

namespace attnvp::reproduce {

std::string to_text(const Study& study, const std::vector<Section>& sections);
std::string to_markdown(const Study& study, const std::vector<Section>& sections);
std::string to_json(const Study& study, const std::vector<Limit>& limits, const DavinciStudy& davinci,
                    const MemoryStudy& memory);
std::string to_csv(const Study& study, const std::vector<Limit>& limits);

}  // namespace attnvp::reproduce
