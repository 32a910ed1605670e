#include "cli/shared/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "platform/base/text.h"

namespace attnvp::cli {

namespace {

volatile std::sig_atomic_t interrupted = 0;

// A terminal that can clear a line.
bool can_rewrite() {
  const char* const kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && (kind == nullptr || std::strcmp(kind, "dumb") != 0);
}

void rewrite(std::string line) {
  // A longer line would wrap and not be cleared.
  if (const std::size_t width = text::message_width(); line.size() >= width) line.resize(width - 1);
  std::fputs(("\r\x1b[K" + line).c_str(), stderr);
}

}  // namespace

ProgressBar::ProgressBar() : terminal_(reports_ >= 0 || can_rewrite()), start_(std::chrono::steady_clock::now()) {}

ProgressBar::~ProgressBar() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

void ProgressBar::update(std::uint64_t done, std::uint64_t total, const std::string& note, std::uint64_t skipped) {
  const std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now();
  if (!terminal_ || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  if (reports_ >= 0) {
    const std::string line = fmt::format("progress {} {}\n", done, total);
    if (::write(reports_, line.data(), line.size()) < 0) reports_ = -1;
    return;
  }
  shown_ = true;
  constexpr std::uint64_t kCells = 24;
  const std::uint64_t cells = total > 0 ? std::min(kCells, done * kCells / total) : 0;
  const double rate =
      static_cast<double>(done - skipped) / std::max(std::chrono::duration<double>(now - start_).count(), 1e-3);
  std::string left;
  if (total > done && rate > 0) {
    const auto seconds = static_cast<std::uint64_t>(static_cast<double>(total - done) / rate);
    left = seconds >= 3600 ? fmt::format("  {}:{:02}:{:02} left", seconds / 3600, seconds / 60 % 60, seconds % 60)
                           : fmt::format("  {}:{:02} left", seconds / 60, seconds % 60);
  }
  std::string line = fmt::format("[{}{}] {}/{}  {:.0f}/s{}  {}", std::string(cells, '#'),
                                 std::string(kCells - cells, '.'), done, total, rate, left, note);
  rewrite(std::move(line));
}

Waiting::Waiting(std::string note) : note_(std::move(note)) {
  if (can_rewrite()) thread_ = std::thread([this] { show(); });
}

Waiting::~Waiting() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    done_ = true;
  }
  over_.notify_one();
  thread_.join();
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

void Waiting::say(std::string note) {
  const std::lock_guard<std::mutex> lock(mutex_);
  note_ = std::move(note);
}

void Waiting::show() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (int seconds = 1; !over_.wait_for(lock, std::chrono::seconds(1), [this] { return done_; }); ++seconds) {
    shown_ = true;
    rewrite(fmt::format("{}  {}:{:02}", note_, seconds / 60, seconds % 60));
  }
}

Interruption::Interruption() {
  interrupted = 0;
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second signal ends the program
  ::sigaction(SIGINT, &action, &before_[0]);
  ::sigaction(SIGTERM, &action, &before_[1]);
}

Interruption::~Interruption() {
  ::sigaction(SIGINT, &before_[0], nullptr);
  ::sigaction(SIGTERM, &before_[1], nullptr);
}

bool Interruption::happened() { return interrupted != 0; }

}  // namespace attnvp::cli
