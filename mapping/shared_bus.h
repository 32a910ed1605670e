// DRAM's bus as several clusters share it, and the order in which things happen to them (replay.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

namespace attnvp::mapping {

template <class T>
using FirstOut = std::priority_queue<T, std::vector<T>, std::greater<>>;

enum class Happens : std::uint8_t { kLine, kSignal, kIssue, kBegin, kMark, kCpu, kCrossed, kPaced, kDrain };
struct Happening {
  double time;
  std::uint64_t order;  // of equals, the first one to be planned comes first
  Happens what;
  std::uint32_t cluster, id;
  bool operator>(const Happening& o) const { return std::tie(time, order) > std::tie(o.time, o.order); }
};

// What is going to happen, to whichever cluster.
class Agenda {
 public:
  void plan(double time, Happens what, std::uint32_t cluster, std::uint32_t id) {
    heap_.push({time, order_++, what, cluster, id});
  }
  bool empty() const { return heap_.empty(); }
  Happening next() {
    const Happening h = heap_.top();
    heap_.pop();
    now_ = h.time;
    return h;
  }
  double now() const { return now_; }

 private:
  FirstOut<Happening> heap_;
  std::uint64_t order_ = 0;
  double now_ = 0;
};

// One of DRAM's users has been served so much.
struct Mark {
  double served;
  std::uint32_t cluster;
  bool over;  // its transfer; or it may issue the next one
  bool operator>(const Mark& o) const {
    return std::tie(served, cluster, over) > std::tie(o.served, o.cluster, o.over);
  }
};

// DRAM's bus: those that have a transfer under way share it equally.
class SharedBus {
 public:
  explicit SharedBus(Agenda& agenda) : agenda_(agenda) {}
  // To each that was there all the time, in cycles of the whole bus.
  double served() {
    if (users_ > 0) served_ += (agenda_.now() - since_) / users_;
    since_ = agenda_.now();
    return served_;
  }
  void enter() { served(), ++users_, plan(); }
  void leave() { served(), --users_, plan(); }
  void mark(const Mark& mark) {
    served();
    marks_.push(mark);
    if (marks_.top().served == mark.served) plan();
  }
  // Whether an event of that number is the latest; then which mark was reached.
  bool reached(std::uint32_t number, Mark& mark) {
    if (number != number_) return false;
    served();
    mark = marks_.top();
    served_ = std::max(served_, mark.served);  // what rounding has lost
    marks_.pop();
    plan();
    return true;
  }

 private:
  void plan() {
    ++number_;
    if (marks_.empty()) return;
    const double left = std::max(marks_.top().served - served_, 0.0) * std::max(users_, 1);
    agenda_.plan(agenda_.now() + left, Happens::kMark, 0, number_);
  }
  Agenda& agenda_;
  FirstOut<Mark> marks_;
  int users_ = 0;
  double served_ = 0, since_ = 0;
  std::uint32_t number_ = 0;
};

}  // namespace attnvp::mapping
