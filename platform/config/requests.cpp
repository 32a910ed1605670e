#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "firmware/hal/job.h"
#include "platform/config/csv.h"
#include "platform/config/network.h"
#include "platform/config/words.h"
#include "platform/text/printable.h"

namespace attnvp::config {

Network with_requests(const Network& network, const std::string& path) {
  const std::vector<CsvLine> lines = read_csv_table(path);
  const std::vector<std::string>& names = lines.front().cells;
  const auto column = [&](const char* name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  const std::size_t of_new = column("new_tokens"), of_cached = column("cached_tokens"),
                    of_table = column("block_table");
  if (of_new == names.size() || of_cached == names.size()) {
    fail(lines.front().origin, fmt::format("found columns {}; needed are new_tokens,cached_tokens and, for a cache of "
                                           "pages, block_table",
                                           in_quotes(fmt::format("{}", fmt::join(names, ",")))));
  }
  Network n = network;
  if (n.mask.block != 0 || n.mask.padded != 0) {
    throw ConfigError(
        fmt::format("{}: requests have lengths of their own; a layer with them takes no block_mask and no "
                    "valid",
                    shown_path(path)));
  }
  if (n.bias == Bias::kTensor) {
    throw ConfigError(fmt::format("{}: requests have lengths of their own; a layer with them takes no bias from a file",
                                  shown_path(path)));
  }
  n.append = n.softmax && n.appends_requests;
  n.contexts.clear();
  std::vector<bool> taken;
  const auto whole = [](const CsvLine& line, std::string_view cell, std::uint32_t least, double most) {
    std::uint32_t value = 0;
    const auto [rest, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc{} || rest != cell.data() + cell.size() || value < least || value > most) {
      fail(line.origin,
           fmt::format("found {}; allowed is a whole number of {} to {:.0f}", in_quotes(cell), least, most));
    }
    return value;
  };
  std::vector<const CsvLine*> of_request;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    Request r;
    r.new_tokens = whole(lines[i], lines[i].cells[of_new], 1, kLongestSequence);
    r.cached_tokens = whole(lines[i], lines[i].cells[of_cached], 0, kLongestSequence - r.new_tokens);
    n.requests.push_back(r);
    n.contexts.push_back(r.tokens());
  }
  if (n.requests.size() > kMostContexts) {
    fail(lines.back().origin,
         fmt::format("found {} requests; allowed are at most {}", n.requests.size(), kMostContexts));
  }
  n.batch = static_cast<std::uint32_t>(n.requests.size());
  n.seq_kv = *std::max_element(n.contexts.begin(), n.contexts.end());
  n.seq_q = 0;
  for (const Request& r : n.requests) n.seq_q = std::max(n.seq_q, r.new_tokens);
  n.mask.queries = n.seq_q;
  n.mask.history = 0;
  if (n.page > 0 && n.pages() > hal::kMostPages) {
    fail(lines.back().origin, fmt::format("the requests need {} pages; allowed are {}", n.pages(), hal::kMostPages));
  }
  taken.assign(n.pages(), false);
  for (std::size_t i = 0; i < n.requests.size() && of_table < names.size(); ++i) {
    const CsvLine& line = lines[i + 1];
    if (n.page == 0) fail(line.origin, "a block_table needs a cache of pages: a key such as page=16 of the layer");
    Request& r = n.requests[i];
    const std::string_view cell = line.cells[of_table];
    for (std::size_t at = 0; at < cell.size();) {
      const std::size_t end = std::min(cell.find(' ', at), cell.size());
      if (end > at) {
        const std::uint32_t page = whole(line, cell.substr(at, end - at), 0, 4294967295.0);
        if (page >= taken.size()) {
          fail(line.origin, fmt::format("block_table: page {} is out of range; the cache has {} pages, from 0 on", page,
                                        taken.size()));
        }
        if (taken[page]) fail(line.origin, fmt::format("block_table: page {} is there twice", page));
        taken[page] = true;
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
  n.name += ",requests=" + text::printable(std::filesystem::path(path).filename().string());
  return n;
}

}  // namespace attnvp::config
