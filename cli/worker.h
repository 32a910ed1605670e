// `attnvp worker`: command lines that come over a socket, each in a process of its own that is forked warm.
#pragma once

#include "cli/line.h"

namespace attnvp::cli {

// Serves stdin, a Unix socket of kind SOCK_SEQPACKET, until its other end is closed; then what still runs is ended.
//
// A request is one packet. Its bytes are fields that each end with a zero byte: the working folder, the environment
// (NAME=value), an empty field, and the arguments behind the program's name. Its files are what the process finds as 0,
// 1, 2, 3, ..., and, last, a pipe for the answer in lines: "pid N" (of the process and its group), "progress DONE
// TOTAL" now and then, and at the end "exit STATUS" or "signal NUMBER".
int worker(const std::vector<AddCommands>& commands);

}  // namespace attnvp::cli
