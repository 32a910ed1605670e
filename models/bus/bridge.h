// Between modules of steps and a target that may let its initiator wait: a process makes the access, and tells the
// initiator when it is over. There are as many processes as accesses wait at a time.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <deque>

#include "models/bus/completion.h"
#include "models/bus/stream.h"
#include "models/module.h"

namespace attnvp {

class Bridge : public sc_core::sc_module {
 public:
  Bridge(sc_core::sc_module_name name, Context& context);

  tlm_utils::simple_target_socket<Bridge> in{"in"};
  tlm_utils::simple_initiator_socket<Bridge> out{"out"};

 private:
  // What was asked for; payloads are their initiators' again.
  struct Access {
    std::uint64_t time_fs;
    tlm::tlm_command command;
    std::uint64_t address;
    unsigned char* data;
    unsigned bytes;
    sc_core::sc_time delay;
    StreamExtension* stream;
    OriginExtension* origin;
    bool timing_only;
    Completions* to;
    std::uint64_t ticket;
  };
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void carry();
  unsigned debug(tlm::tlm_generic_payload& payload);
  bool direct(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);

  Context& ctx_;
  std::deque<Access> waiting_;
  std::uint32_t idle_ = 0;  // processes that wait for something to carry
  sc_core::sc_event work_;
};

}  // namespace attnvp
