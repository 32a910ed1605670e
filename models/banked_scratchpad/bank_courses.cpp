#include "models/banked_scratchpad/bank_courses.h"

#include <boost/container_hash/hash.hpp>
#include <utility>

namespace attnvp {

std::size_t BankCourses::Hash::operator()(const std::vector<std::uint64_t>& key) const {
  return boost::hash_range(key.begin(), key.end());
}

BankCourses::Node& BankCourses::of(const BankState& state) {
  state.key(key_);
  return nodes_[key_];
}

BankCourses::Course& BankCourses::course(Node& from, const BankState& state, std::uint64_t cycles) {
  for (const auto& known : from.courses) {
    if (known->cycles == cycles) return *known;
  }
  auto course = std::make_unique<Course>();
  course->cycles = cycles;
  course->after = state;
  course->after.run(cycles, course->events);
  from.courses.push_back(std::move(course));
  return *from.courses.back();
}

bool BankCourses::follow(const Course& course, BankState& state) {
  constexpr std::uint64_t kHop = BankState::kHop;
  bool known = true;
  next_ = course.after;
  auto to = next_.flows().begin();
  for (std::size_t i = 0; i < state.flows().size(); ++i) {
    const BankState::Flow& was = state.flows()[i];
    const auto [beats, end] = course.events.flows[i];
    if (end != 0) continue;
    BankState::Flow& is = *to++;
    is.stream = was.stream;
    if (was.part_left > kHop || was.last_part()) is.part = was.part;
    const auto count = [&known, beats](std::uint64_t had, std::uint64_t& left) {
      if (had <= kHop) return;
      known &= left > kHop && had - beats > kHop;
      left = had - beats;
    };
    count(was.part_left, is.part_left);
    if (beats < was.part_left) count(was.leg_left, is.leg_left);
    if (was.late()) {
      known &= is.late();
      is.release = was.release + static_cast<std::int64_t>(beats) * is.gap -
                   static_cast<std::int64_t>(course.cycles) * BankState::kPaceSteps;
      known &= is.late();
    }
  }
  std::swap(state, next_);
  return known;
}

}  // namespace attnvp
