// DRAM's bus as several clusters share it, and the order in which things happen to them (replay.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

namespace attnvp::mapping {

enum class Happens : std::uint8_t { kLine, kSignal, kIssue, kBegin, kMark, kCpu, kCrossed, kPaced, kDrain };
// Who and what are one word, written and read as such: parts of it that were just written would have to wait for one
// another.
struct Happening {
  double time = 0;
  std::uint64_t word = 0;
  void set(double t, Happens what, std::uint32_t cluster, std::uint32_t id) {
    time = t;
    word = std::uint64_t{id} << 32 | std::uint64_t{cluster} << 8 | static_cast<std::uint64_t>(what);
  }
  std::uint32_t id() const { return static_cast<std::uint32_t>(word >> 32); }
  std::uint32_t cluster() const { return word >> 8 & 0xFF'FFFF; }  // of the few that are replayed beside each other
  Happens what() const { return static_cast<Happens>(word & 0xFF); }
};

// What is going to happen, to whichever cluster; of equal times what was planned first comes first. Few things are
// planned at a time, and most of them are soon: they are kept in order, the next one last.
class Agenda {
 public:
  void plan(double time, Happens what, std::uint32_t cluster, std::uint32_t id) {
    if (time == now_) return at_once_.emplace_back().set(time, what, cluster, id);
    later_.emplace_back();
    auto at = later_.end() - 1;
    for (; at != later_.begin() && at[-1].time <= time; --at) *at = at[-1];
    at->set(time, what, cluster, id);  // in place: a copy of what was just written has to wait
  }
  bool empty() const { return later_.empty() && first_ == at_once_.size(); }
  Happening next() {
    const bool waiting = first_ < at_once_.size();
    if (waiting && (later_.empty() || later_.back().time > now_)) return at_once_[first_++];
    if (!waiting) at_once_.clear(), first_ = 0;
    const Happening h = later_.back();
    later_.pop_back();
    now_ = h.time;
    return h;
  }
  double now() const { return now_; }
  // Whatever happens until then, it ends no earlier.
  void ends_after(double time) { least_end_ = std::max(least_end_, time); }
  double least_end() const { return least_end_; }

 private:
  std::vector<Happening> later_, at_once_;  // at this very time, in turn: most of it
  std::size_t first_ = 0;
  double now_ = 0, least_end_ = 0;
};

// One of DRAM's users: its transfer is over, or it has been served so much of it that the next one may be issued.
struct Mark {
  std::uint32_t user;
  bool over;
};

// DRAM's bus: bursts of all users one after the other as they come. A user has a window of them under way, so that is
// what it is served at a time; with more it gets in line again, unless there is nobody else.
class SharedBus {
 public:
  // `window`: cycles of the whole bus.
  SharedBus(Agenda& agenda, double window) : agenda_(agenda), window_(window) {}

  // All that a user is going to transfer, said once.
  void expect(double cycles) { agenda_.ends_after(ahead_ += cycles); }
  // Each user has one transfer at a time, of so many cycles. `told` before it is over, when that many are served.
  void begin(std::uint32_t user, double cycles, double told = kNotTold) {
    if (user >= users_.size()) users_.resize(user + 1);
    users_[user] = {cycles, 0, told};
    agenda_.ends_after(agenda_.now() + ahead_);
    ahead_ -= cycles;
    line_.push_back(user);
    if (line_.size() == 1) return next();
    if (line_.size() > 2) return;
    settle();  // the first one had it for itself
    turn_ = std::min(turn_, window_);
    plan();
  }
  void tell(std::uint32_t user, double told) {
    const bool served_now = !line_.empty() && line_.front() == user;
    if (served_now) settle();
    users_[user].told = told;
    if (served_now) plan();
  }
  double served(std::uint32_t user) {
    if (!line_.empty() && line_.front() == user) settle();
    return users_[user].served;
  }
  // Whether an event of that number is the latest; then what has come about. `over` is said last.
  bool reached(std::uint32_t number, Mark& mark) {
    if (number != number_) return false;
    const std::uint32_t user = line_.front();
    User& u = users_[user];
    const double told = std::max(u.told - u.served, 0.0);
    advance(std::min(told, turn_));  // as was planned: late in a long run time is too coarse to tell
    const bool all = u.left <= kSlack;
    if (u.told <= u.served + kSlack || (all && u.told < kNotTold)) {
      u.told = kNotTold;
      mark = {user, false};
      plan();
      return true;
    }
    line_.pop_front();
    if (!all) line_.push_back(user);
    if (!line_.empty()) next();
    mark = {user, true};
    return all;
  }

  static constexpr double kNotTold = 1e300;

 private:
  static constexpr double kSlack = 1e-6;  // of a cycle, what rounding loses
  struct User {
    double left = 0, served = 0, told = kNotTold;
  };
  // The first in line, from now on.
  void next() {
    since_ = agenda_.now();
    const double left = users_[line_.front()].left;
    turn_ = line_.size() == 1 ? left : std::min(window_, left);
    plan();
  }
  void settle() { advance(std::min(agenda_.now() - since_, turn_)); }
  void advance(double served) {
    User& u = users_[line_.front()];
    u.served += served;
    u.left -= served;
    turn_ -= served;
    since_ = agenda_.now();
  }
  void plan() {
    const User& u = users_[line_.front()];
    const double until = std::max(std::min(turn_, u.told - u.served), 0.0);
    agenda_.plan(agenda_.now() + until, Happens::kMark, 0, ++number_);
  }
  Agenda& agenda_;
  double window_;
  std::vector<User> users_;
  std::deque<std::uint32_t> line_;
  double ahead_ = 0;             // of what was expected, all that has not begun
  double turn_ = 0, since_ = 0;  // what is left of it, as of then
  std::uint32_t number_ = 0;
};

}  // namespace attnvp::mapping
