#!/bin/bash
# Someone else's DRAM behind the platform's: plugin_test.sh ATTNVP SOURCE_DIR
# shellcheck source=harness.sh
. "$(dirname -- "$0")/harness.sh"
source=$(dirname -- "$configs")

wrong "key 'dram.library': found 'nowhere.so': " run --set dram.policy=plugin:nowhere.so
printf 'int nothing;\n' | g++ -shared -fPIC -x c++ - -o "$in/nothing.so" || exit 1
wrong "allowed is a library with ATTNVP_DRAM_PLUGIN" run --set "dram.policy=plugin:$in/nothing.so"

# The example, by b_transport and in four phases.
build() { # LIBRARY OPTION...
  local library=$1
  shift
  # shellcheck disable=SC2046
  g++ -std=c++17 -shared -fPIC "$@" -I "$source" "$source/examples/dram_plugin/two_banks.cpp" -o "$library" \
    $(pkg-config --cflags --libs systemc) || exit 1
}
build "$in/libtwo_banks.so"
build "$in/libphases.so" -DTWO_BANKS_PHASES
build "$in/libclock.so" -DTWO_BANKS_PHASES -DTWO_BANKS_CLOCK
for library in libtwo_banks libphases libclock; do
  done_well run "${small[@]}" --set "dram.policy=plugin:$in/$library.so" --json plugin.json
  holds '.golden.passed and .dram.read_bytes == 9216 and .dram.write_bytes == 3072' plugin.json
  # 64 bytes in 10 ns or 20: 192 pieces take 1,920 ns and more, 7,200 cycles.
  holds '.cycles > 7200 and .cycles < 40000' plugin.json
  done_well run "${small[@]}" --set "dram.policy=plugin:$in/$library.so" --data timing --json timing.json
  jq .cycles plugin.json >"$in/full"
  jq .cycles timing.json >"$in/timing"
  same "$in/full" "$in/timing"
  [[ $library != libphases ]] || cp -- "$in/full" "$in/phases"
  rm -- plugin.json timing.json
done
same "$in/full" "$in/phases" # a target that never rests takes no more time

finish
