// Attention for a batch of requests; a CSV file gives their lengths and pages.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "firmware/hal/job.h"
#include "platform/base/text.h"
#include "platform/machine/document.h"
#include "platform/machine/words.h"
#include "platform/workload/keys.h"

namespace attnvp::workload {

using namespace config;

namespace {

struct Batch {
  std::string path;
  std::vector<CsvLine> lines;  // the first holds the names
  std::size_t table = 0;       // index of column block_table; the number of columns: absent
  std::vector<Request> requests;
  bool has_tables() const { return table < lines.front().cells.size(); }
};

std::uint32_t whole(const CsvLine& line, std::string_view cell, std::uint32_t least, double most) {
  std::uint32_t value = 0;
  const auto [rest, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc{} || rest != cell.data() + cell.size() || value < least || value > most) {
    fail(line.origin, fmt::format("found {}; allowed is a whole number of {} to {:.0f}", in_quotes(cell), least, most));
  }
  return value;
}

Batch read_batch(const std::string& path) {
  Batch b{path, read_csv_table(path), 0, {}};
  const std::vector<std::string>& names = b.lines.front().cells;
  const auto column = [&](const char* name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  const std::size_t of_new = column("new_tokens"), of_cached = column("cached_tokens");
  b.table = column("block_table");
  if (of_new == names.size() || of_cached == names.size()) {
    fail(b.lines.front().origin,
         fmt::format("found columns {}; needed are new_tokens,cached_tokens and, for a cache of pages, block_table",
                     in_quotes(fmt::format("{}", fmt::join(names, ",")))));
  }
  for (std::size_t i = 1; i < b.lines.size(); ++i) {
    const CsvLine& line = b.lines[i];
    Request r;
    r.new_tokens = whole(line, line.cells[of_new], 1, kLongestSequence);
    r.cached_tokens = whole(line, line.cells[of_cached], 0, kLongestSequence - r.new_tokens);
    b.requests.push_back(std::move(r));
  }
  if (b.requests.size() > kMostContexts) {
    fail(b.lines.back().origin,
         fmt::format("found {} requests; allowed are at most {}", b.requests.size(), kMostContexts));
  }
  return b;
}

Lengths all_lengths(const Batch& batch) {
  Lengths all{static_cast<std::uint32_t>(batch.requests.size()), 0, 0};
  for (const Request& r : batch.requests) {
    all.seq_q = std::max(all.seq_q, r.new_tokens);
    all.seq_kv = std::max(all.seq_kv, r.tokens());
  }
  return all;
}

// First use of a page.
struct PageUse {
  std::size_t request = 0, place = 0;
};

// Requests with a common prefix may share its pages: full pages of cached tokens at the same index of each table. No
// request writes shared pages.
void check_shared(const Attention& n, const CsvLine& line, std::uint32_t page, const PageUse& first,
                  const PageUse& again) {
  const auto refuse = [&](const std::string& why) {
    fail(line.origin, fmt::format("block_table: page {} is there twice, {}", page, why));
  };
  if (first.request == again.request) refuse("in the table of one request; allowed is once");
  if (first.place != again.place) {
    refuse(fmt::format("at place {} of request {} and at place {} of request {}; allowed is the same place of both",
                       first.place + 1, first.request + 1, again.place + 1, again.request + 1));
  }
  for (const PageUse& use : {first, again}) {
    const std::uint32_t cached = n.requests[use.request].cached_tokens;
    if ((use.place + 1) * std::uint64_t{n.page} <= cached) continue;
    refuse(
        fmt::format("and request {} has {} cached tokens, which do not fill place {} of its table; allowed is to "
                    "share pages of cached tokens",
                    use.request + 1, cached, use.place + 1));
  }
  if (n.type == hal::ElementType::kInt8 && (n.scale_block == 0 || n.page % n.scale_block != 0)) {
    refuse(
        "and every request scales INT8 by its own numbers; allowed is to share pages with another type, or with a "
        "scale_block that divides page");
  }
}

void read_tables(Attention& n, const Batch& batch) {
  std::vector<std::optional<PageUse>> uses(n.pages());
  for (std::size_t i = 0; i < n.requests.size(); ++i) {
    const CsvLine& line = batch.lines[i + 1];
    if (n.page == 0) fail(line.origin, "a block_table needs a cache of pages: a key such as page=16 of the layer");
    Request& r = n.requests[i];
    const std::string_view cell = line.cells[batch.table];
    for (std::size_t at = 0; at < cell.size();) {
      const std::size_t end = std::min(cell.find(' ', at), cell.size());
      if (end > at) {
        const std::uint32_t page = whole(line, cell.substr(at, end - at), 0, 4294967295.0);
        if (page >= uses.size()) {
          fail(line.origin, fmt::format("block_table: page {} is out of range; the cache has {} pages, from 0 on", page,
                                        uses.size()));
        }
        const PageUse use{i, r.pages.size()};
        if (uses[page]) check_shared(n, line, page, *uses[page], use);
        if (!uses[page]) uses[page] = use;
        r.pages.push_back(page);
      }
      at = end + 1;
    }
    const std::uint32_t needed = (r.tokens() + n.page - 1) / n.page;
    if (r.pages.size() < needed) {
      fail(line.origin, fmt::format("block_table: found {} pages; {} tokens need {} of {}", r.pages.size(), r.tokens(),
                                    needed, n.page));
    }
  }
}

Workload with_batch(const Workload& workload, const Batch& batch) {
  const std::string shown = shown_path(batch.path);
  if (!workload.is_attention()) throw ConfigError(fmt::format("{}: requests are for attention, not a step", shown));
  Workload with = workload;
  Attention& n = with.attention();
  if (n.mask.by_key()) {
    throw ConfigError(
        fmt::format("{}: requests have lengths of their own; allowed is a layer without block_mask and valid", shown));
  }
  if (n.bias == Bias::kTensor) {
    throw ConfigError(
        fmt::format("{}: requests have lengths of their own; a layer with them takes no bias from a file", shown));
  }
  const Lengths lengths = all_lengths(batch);
  n.append = n.softmax && n.appends_requests;
  n.requests = batch.requests;
  n.contexts.clear();
  for (const Request& r : n.requests) n.contexts.push_back(r.tokens());
  n.batch = lengths.batch;
  n.seq_q = lengths.seq_q;
  n.seq_kv = lengths.seq_kv;
  n.mask.queries = n.seq_q;
  n.mask.history = 0;
  if (n.page > 0 && n.pages() > hal::kMostPages) {
    fail(batch.lines.back().origin,
         fmt::format("the requests need {} pages; allowed are {}", n.pages(), hal::kMostPages));
  }
  if (batch.has_tables()) read_tables(n, batch);
  n.name += ",requests=" + text::printable(std::filesystem::path(batch.path).filename().string());
  return with;
}

}  // namespace

Workload with_requests(const Workload& workload, const std::string& path) {
  return with_batch(workload, read_batch(path));
}

Workload load(const std::string& text, const std::string& requests) {
  const Batch batch = read_batch(requests);
  return with_batch(load(text, all_lengths(batch)), batch);
}

}  // namespace attnvp::workload
