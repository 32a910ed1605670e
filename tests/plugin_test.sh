#!/bin/bash
# Modules of shared libraries in slots of the platform: plugin_test.sh ATTNVP SOURCE_DIR LIBRARIES
#   LIBRARIES: the folder of the built plug-ins (plugin/CMakeLists.txt)
built=$(realpath -- "$3")
# shellcheck source=harness.sh
. "$(dirname -- "$0")/harness.sh"

wrong "key 'dram.library': found 'nowhere.so': " run --set dram.policy=plugin:nowhere.so
printf 'int nothing;\n' | g++ -shared -fPIC -x c++ - -o "$in/nothing.so" || exit 1
wrong "allowed is a library with ATTNVP_MEMORY_PLUGIN" run --set "dram.policy=plugin:$in/nothing.so"
wrong "key 'events.library': found 'nowhere.so': " run --set events.kind=plugin:nowhere.so

# The example memory, with b_transport and with four phases.
for library in libtwo_banks libphases libclock; do
  done_well run "${small[@]}" --set "dram.policy=plugin:$built/$library.so" --json plugin.json
  holds '.golden.passed and .dram.read_bytes == 9216 and .dram.write_bytes == 3072' plugin.json
  # 64 bytes take 10 or 20 ns: 192 pieces take at least 1,920 ns, 7,200 cycles.
  holds '.cycles > 7200 and .cycles < 40000' plugin.json
  done_well run "${small[@]}" --set "dram.policy=plugin:$built/$library.so" --data timing --json timing.json
  jq .cycles plugin.json >"$in/full"
  jq .cycles timing.json >"$in/timing"
  same "$in/full" "$in/timing"
  [[ $library != libphases ]] || cp -- "$in/full" "$in/phases"
  rm -- plugin.json timing.json
done
same "$in/full" "$in/phases" # a target without idle time takes the same time

# Allowed and forbidden behaviour of plug-ins (plugin/modes.cpp).
modes=(--net H=1,N=32,E=32 --set "dram.policy=plugin:$built/modes.so")
cycles_of() { # MODE: into $in/MODE
  PLUGIN_MODE=$1 done_well run "${modes[@]}" --json mode.json
  holds '.golden.passed' mode.json
  jq .cycles mode.json >"$in/$1"
  rm -f mode.json
}
# Equal answers over different paths give equal cycles.
for mode in b_wait b_annotate b_both updated completed within later annotated end_req ignorable end_resp_completed; do
  cycles_of "$mode"
  same "$in/b_wait" "$in/$mode"
done
# 64 bytes in 10 ns: 128 pieces take 1,280 ns, 4,800 cycles.
[[ $(<"$in/b_wait") -gt 4800 && $(<"$in/b_wait") -lt 5500 ]] || failed "$(<"$in/b_wait") cycles, not 4,800 and a little"
for mode in pipe pipe_later; do
  cycles_of "$mode"
  same "$in/pipe" "$in/$mode"
done
# A request each 2 ns: 960 cycles.
[[ $(<"$in/pipe") -gt 960 && $(<"$in/pipe") -lt 2000 ]] || failed "$(<"$in/pipe") cycles, not 960 and a little"
cycles_of bytes_1
cycles_of bytes_1048576
# A second for each of 128 pieces, at 3.75 GHz.
PLUGIN_MODE=b_second done_well run "${modes[@]}" --max-cycles 1000000000000 --json mode.json
holds '.golden.passed and .cycles > 127.9 * 3.75e9 and .cycles < 128.1 * 3.75e9' mode.json
rm mode.json

dram='attnvp\.dram: its plug-in'
at='\(address 0x[0-9a-f]+, cycle [0-9]+\)$'
broken() { # MODE PATTERN
  export PLUGIN_MODE=$1
  machine "$2" run "${modes[@]}"
  unset PLUGIN_MODE
}
piece='a (read|write) of 64 bytes'
broken b_error "$dram answered TLM_ADDRESS_ERROR_RESPONSE to $piece $at"
broken b_incomplete "$dram answered TLM_INCOMPLETE_RESPONSE to $piece $at"
broken error "$dram answered TLM_BURST_ERROR_RESPONSE to $piece $at"
broken b_throw "$dram threw an exception \"thrown in b_transport\\\\nsecond line\" \($piece\) $at"
broken b_throw_int "$dram threw an exception that is not a std::exception \($piece\) $at"
broken fw_throw "$dram threw an exception \"thrown in nb_transport_fw.* $at"
broken fw_throw_int "$dram threw an exception that is not a std::exception .*$at"
broken event_throw "$dram threw an exception \"thrown in an event.* $at"
broken event_throw_int "$dram threw an exception .*$at"
broken elaboration_throw "$dram threw an exception \"thrown in end_of_elaboration.* $at"
broken b_report "$dram threw an exception \"memory: is broken\" \($piece\) $at"
broken b_fatal "$dram threw an exception \"memory: is lost\" \($piece\) $at"
broken b_stop "$dram called sc_stop\(\), .*$at"
broken b_exit "$dram called exit\(\), .*cycle [0-9]+\)$"
broken b_max "$dram annotated a delay of .*; simulated time ends .*$at"
for mode in never no_response b_never; do
  broken $mode "deadlock at cycle .*$dram has not answered $piece at 0x[0-9a-f]+ since cycle [0-9]+"
done
broken unchanged "$dram sent BEGIN_REQ after BEGIN_REQ; allowed is END_REQ or BEGIN_RESP \($piece\) $at"
broken end_resp "$dram sent END_RESP after END_REQ; allowed is BEGIN_RESP .*$at"
broken end_req_twice "$dram sent END_REQ after END_REQ; allowed is BEGIN_RESP .*$at"
broken end_req_late "$dram sent END_REQ after its answer; allowed is nothing .*$at"
broken twice "$dram sent BEGIN_RESP after its answer; allowed is nothing .*$at"
broken completed_twice "$dram sent BEGIN_RESP after its answer; allowed is nothing .*$at"
broken end_resp_updated "$dram returned TLM_UPDATED to END_RESP; allowed is .*$at"
broken foreign "$dram sent a payload that it was not given $at"
unusable() { # MODE PATTERN
  export PLUGIN_MODE=$1
  wrong "key 'dram\.library': found '.*modes\.so', $2" run "${modes[@]}"
  unset PLUGIN_MODE
}
for where in load version; do
  unusable ${where}_throw 'which threw an exception "thrown in .*" when it was loaded'
  unusable ${where}_throw_int 'which threw an exception that is not a std::exception when it was loaded'
done
for where in constructor bytes; do
  unusable ${where}_throw 'which threw an exception "thrown in .*" when its plug-in was made'
  unusable ${where}_throw_int 'which threw an exception that is not a std::exception when its plug-in was made'
done
unusable null 'which made no plug-in'
for bytes in 0 48 2097152; do
  unusable bytes_$bytes "whose most_bytes\(\) is $bytes; allowed is a power of two up to 1048576"
done

# The other slots, with the examples.
# placed FROM TO ARG...: golden values; equal cycles with and without data, with and without run-ahead; between FROM and
# TO cycles.
placed() {
  local from=$1 to=$2
  shift 2
  done_well run "$@" --json plugin.json
  holds ".golden.passed and .cycles >= $from and .cycles <= $to" plugin.json
  jq .cycles plugin.json >"$in/full"
  for more in "--data timing" "--set simulation.run_ahead=off --set simulation.protocol_check=on"; do
    # shellcheck disable=SC2086
    done_well run "$@" $more --json other.json
    jq .cycles other.json >"$in/other"
    same "$in/full" "$in/other"
  done
  rm -f plugin.json other.json
}
done_well run "${small[@]}" --json base.json
base=$(jq .cycles base.json)
rm base.json
placed "$base" $((2 * base)) "${small[@]}" --set "l1.kind=plugin:$built/lt_memory.so"
placed "$base" $((4 * base)) "${small[@]}" --set "interconnect.kind=plugin:$built/lt_interconnect.so"
placed "$base" $((2 * base)) "${small[@]}" --set "events.kind=plugin:$built/lt_event_unit.so"
placed "$base" $((20 * base)) "${small[@]}" --set "dma.kind=plugin:$built/clocked_dma.so"
placed $((base / 2)) $((4 * base)) "${small[@]}" --set "mac.kind=plugin:$built/lt_mac.so"
placed $((base / 2)) $((20 * base)) "${small[@]}" --set "control.cpu=plugin:$built/lt_processor.so"
# All at once, with one head: a clocked plug-in takes many events.
placed $((base / 2)) $((40 * base)) --net H=1,N=48,E=16 --set "l1.kind=plugin:$built/lt_memory.so" \
  --set "interconnect.kind=plugin:$built/lt_interconnect.so" --set "events.kind=plugin:$built/lt_event_unit.so" \
  --set "dma.kind=plugin:$built/clocked_dma.so" \
  --set "mac.kind=plugin:$built/lt_mac.so" --set "dram.policy=plugin:$built/libclock.so"
done_well describe edge --set "l1.kind=plugin:$built/lt_memory.so"
grep -q 'library: .*lt_memory.so".*# set on the command line' "$log/stdout" || failed 'the library of l1 is no setting'
machine 'attnvp\.cluster0\.cpu: firmware has not ended after 100 cycles; --max-cycles allows more' \
  run "${small[@]}" --set "control.cpu=plugin:$built/lt_processor.so" --max-cycles 100
staged=(--hw cluster3 --net H=3,N=96,E=32 --dataflow mas --tiling nq=16,nkv=32,kv=stream --set l2.size=1MiB --set l2.staging=true)
placed 1000 1000000 "${staged[@]}" --set "l2.kind=plugin:$built/at_memory.so"

# The same mistakes in other slots.
for place in l1 l2; do
  name='attnvp\.cluster0\.l1'
  modes=("${small[@]}" --set "l1.kind=plugin:$built/modes.so")
  if [[ $place == l2 ]]; then
    name='attnvp\.l2'
    modes=("${staged[@]}" --set "l2.kind=plugin:$built/modes.so")
  fi
  broken b_error "$name: its plug-in answered TLM_ADDRESS_ERROR_RESPONSE to $piece $at"
  broken b_throw "$name: its plug-in threw an exception \"thrown in b_transport\\\\nsecond line\" \($piece\) $at"
  broken twice "$name: its plug-in sent BEGIN_RESP after its answer; allowed is nothing .*$at"
  broken never "deadlock at cycle .*$name: its plug-in has not answered $piece at 0x[0-9a-f]+ since cycle [0-9]+"
  broken b_exit "$name: its plug-in called exit\(\), .*cycle [0-9]+\)$"
done

# Allowed behaviour of interconnects (plugin/network_modes.cpp): equal times over different paths give equal cycles.
# At 1 GHz its 2 ns are whole cycles.
at_1_ghz=("${small[@]}" --set clock=1GHz --tiling bb=1,hh=1,nq=16,nkv=16,m0=16,n0=16,k0=16,kv=2,rb=4)
modes=("${at_1_ghz[@]}" --set "interconnect.kind=plugin:$built/network.so")
done_well run "${at_1_ghz[@]}" --json base.json
base=$(jq .cycles base.json)
rm base.json
for mode in wait annotate both at_annotate; do
  cycles_of "$mode"
  same "$in/wait" "$in/$mode"
done
for mode in pass at_pass; do
  cycles_of "$mode"
  [[ $(<"$in/$mode") -eq $base ]] || failed "$(<"$in/$mode") cycles without time of its own, $base on the ideal one"
done
# Forbidden behaviour of interconnects.
bus='attnvp\.bus: its plug-in'
access='a (read|write) of [0-9]+ bytes'
broken wrong_output "$bus sent to output [0-9]+; allowed is output [0-9]+: $access $at"
broken twice "$bus passed on twice $access $at"
broken swallow "$bus answered without passing on $access $at"
broken at_early "$bus answered without passing on $access $at"
broken error "$bus answered TLM_BURST_ERROR_RESPONSE to $access $at"
broken foreign "$bus sent a payload that it was not given to output [0-9]+ $at"
broken throw "$bus threw an exception \"thrown in b_transport\" \($access\) $at"
broken stop "$bus called sc_stop\(\), .*$at"
broken exit "$bus called exit\(\), .*cycle [0-9]+\)$"
broken max "$bus annotated a delay of .*; simulated time ends .*$at"
broken at_twice "$bus sent BEGIN_RESP after its answer; allowed is nothing .*$at"
for mode in never at_never; do
  broken $mode "deadlock at cycle .*$bus has not passed on $access at 0x[0-9a-f]+ since cycle [0-9]+"
done

# Event units (plugin/event_modes.cpp).
modes=("${small[@]}" --set "events.kind=plugin:$built/event_modes.so")
for mode in plain at_plain; do
  cycles_of "$mode"
done
same "$in/plain" "$in/at_plain"
events='attnvp\.cluster0\.events: its plug-in'
access='a (read|write) of 4 bytes'
broken throw "$events threw an exception \"thrown in b_transport\" \($access\) $at"
broken at_throw "$events threw an exception \"thrown in nb_transport_fw\" \($access\) $at"
broken error "$events answered TLM_BURST_ERROR_RESPONSE to $access $at"
broken early "$events answered a take of [0-9]+ tokens? of event [0-9]+, which has [0-9]+; allowed is .* $at"
broken at_early "$events answered a take of [0-9]+ tokens? of event [0-9]+, which has [0-9]+; allowed is .* $at"
broken at_twice "$events sent BEGIN_RESP after its answer; allowed is nothing .*$at"
broken stop "$events called sc_stop\(\), .*$at"
broken exit "$events called exit\(\), .*cycle [0-9]+\)$"
broken max "$events annotated a delay of .*; simulated time ends .*$at"
for mode in never at_never; do
  broken $mode "deadlock at cycle .*$events has not answered a (take|signal) of [0-9]+ tokens? of event [0-9]+ since cycle"
done
broken reset_throw "key 'events\.library': found '.*event_modes\.so', which threw an exception \"thrown in reset\".*"

finish
