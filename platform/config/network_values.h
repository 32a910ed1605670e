// Values of a layer's keys that are texts, and what follows from them. Each is refused with the name that its key has.
#pragma once

#include <string>

#include "platform/config/network.h"

namespace attnvp::config {

void parse_contexts(Network& network, const NetworkKeys& keys, const Origin& origin, const std::string& name);
void parse_scale(Network& network, const NetworkKeys& keys, const Origin& origin, const std::string& name);
void complete_types(Network& n, const NetworkKeys& keys);
void parse_soft_cap(Network& n, const NetworkKeys& keys, const Origin& origin, const std::string& name);
void parse_valid(Network& n, const NetworkKeys& keys, const Origin& origin, const std::string& name);

}  // namespace attnvp::config
