// Rows in processes of their own: a process holds one simulated machine at a time, and the host has several processors.
#pragma once

#include <vector>

#include "explore/validate/data_set.h"

namespace attnvp::validate {

// The points of every row, in the order of the rows. Throws what a row threw, of several the first one's.
std::vector<std::vector<Point>> predict_in_processes(DataSet& set, const std::vector<Row>& rows,
                                                     const std::function<void(std::size_t)>& progress);

}  // namespace attnvp::validate
