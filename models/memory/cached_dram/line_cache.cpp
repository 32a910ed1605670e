#include "models/memory/cached_dram/line_cache.h"

namespace attnvp {

LineCache::Touch LineCache::touch(std::uint64_t line) {
  std::list<std::uint64_t>& set = sets_[line % sets_.size()];
  const auto [at, fresh] = lines_.try_emplace(line);
  Touch touch{&at->second, !fresh};
  if (!fresh) {
    set.splice(set.begin(), set, at->second.place);
    return touch;
  }
  set.push_front(line);
  at->second.place = set.begin();
  if (set.size() > ways_) {
    const auto last = lines_.find(set.back());
    touch.evicted = true;
    touch.wrote_back = last->second.dirty;
    lines_.erase(last);
    set.pop_back();
  }
  return touch;
}

void LineCache::clear() {
  lines_.clear();
  for (auto& set : sets_) set.clear();
}

}  // namespace attnvp
