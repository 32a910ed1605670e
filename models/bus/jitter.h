// Random extra delays wherever hardware may take longer than the models do: on every access, after it and, where its
// initiator may wait, before it. They change when things happen and must never change what. Off unless begun; one a
// process, as there is one simulation.
#pragma once

#include <cstdint>
#include <string>
#include <systemc>

namespace attnvp::jitter {

// From now on, in whole periods of the platform's clock. Equal seeds give equal delays.
void begin(std::uint64_t seed, std::uint64_t period_fs);
void end();
inline bool on = false;

// For one access of an initiator's socket; most take nothing, some very long.
sc_core::sc_time delay(const char* initiator);
std::uint64_t cycles(const char* initiator);

}  // namespace attnvp::jitter
