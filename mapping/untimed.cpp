#include "mapping/untimed.h"

#include <utility>

namespace attnvp::mapping {

// Until none has what it waits for.
void Untimed::run() {
  while (std::exchange(stirred_, false)) {
    for (Line& l : lines_) {
      for (; l.next < l.commands.size(); ++l.next) {
        const Recording::Command& c = r_.commands[l.commands[l.next]];
        if (!take(l, c)) break;
        for (const hal::EventRef& s : c.signal) {
          for (std::uint32_t i = 0; s.tokens() > 0 && i < s.span(); ++i) give(s.first() + i, s.tokens());
        }
      }
    }
  }
}

bool Untimed::take(Line& l, const Recording::Command& c) {
  for (; l.wait < hal::kWaits; ++l.wait, l.within = 0) {
    const hal::EventRef& w = c.wait[l.wait];
    for (; w.tokens() > 0 && l.within < w.span(); ++l.within) {
      std::uint32_t& there = tokens_of(w.first() + l.within);
      if (there < w.tokens()) return false;
      there -= w.tokens();
    }
  }
  l.wait = 0;
  return true;
}

}  // namespace attnvp::mapping
