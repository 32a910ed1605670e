// What descriptors waited for, in words: by the journal of a run, once it is over.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "models/account/account.h"
#include "models/trace/journal.h"

namespace attnvp::trace {

// Of the journal's entries that got a token from another: what the last of them brought ("K from DRAM").
std::map<std::size_t, std::string> wait_reasons(const Journal& journal, const Givers& givers);

// All that it can be, in a fixed order.
std::vector<std::string> wait_words();

// What the tokens of each event bring, and to whom, by its register's address: "C from MAC to core0 vec". An event that
// several engines wait for names the first and how many more.
std::map<std::uint64_t, std::string> event_words(const Journal& journal, const Givers& givers);

}  // namespace attnvp::trace
