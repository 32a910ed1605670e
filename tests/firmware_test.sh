#!/usr/bin/env bash
# Firmware out of tree: created, built, described, run, profiled and debugged; and its mistakes.
#   firmware_test.sh ATTNVP SOURCE_DIR [HALTS]    HALTS: how often the debugger halts a run at random, 60 by default
. "$(dirname -- "$0")/harness.sh" "$1" "$2"
halts=${3:-60}
export ATTNVP_CONFIGS=$configs

wrong "found 'UPPER'" new firmware UPPER
mkdir "$in/full" && touch "$in/full/file"
wrong 'not an empty folder' new firmware "$in/full"
wrong 'is not in' new firmware "$in/none" --hw nothing
wrong 'no such file' run --firmware nothing.elf
wrong 'control.cpu is native' run --net H=1,N=32,E=16 --data timing --profile p.folded
wrong '--gdb-wait needs --gdb' run --cpu native --gdb-wait --net H=1,N=32,E=16
wrong 'the port cannot be opened|control.cpu is native|allowed is 0 to 65535' run --gdb 65536

gcc=riscv64-unknown-elf-gcc
if ! command -v $gcc >/dev/null; then
  finish
  exit 77
fi

# With a compiler cache, projects share the objects of the runtime.
cache=()
command -v ccache >/dev/null && cache=("CC=ccache $gcc")
build() { # FOLDER
  CCACHE_NOHASHDIR=1 make -s -C "$1" "${cache[@]}" >"$log/make" 2>&1 || failed "$(<"$log/make")"
}

"$attnvp" new firmware "$in/mine" >"$log/new" 2>&1 || failed "$(<"$log/new")"
build "$in/mine"
elf=$in/mine/mine.elf
done_well describe "$elf"
grep -q 'prefetch=on|off' "$log/stdout" || failed 'describe does not know its options'
grep -q 'N_KV' "$log/stdout" || failed 'describe does not know its parameters'

net=H=2,N=96,E=32
done_well run --firmware "$elf" --net $net --json -
mv "$log/stdout" "$in/plain.json"
holds '.dataflow == "mine" and .golden.passed and .cycles > 0' "$in/plain.json"
done_well run --firmware "$elf" --net $net --dataflow mine:prefetch=off --tiling nq=32,nkv=32
grep -q 'nq=32 nkv=32' "$log/stdout" || failed 'the tiling is not as given'
wrong "option 'nothing' is unknown" run --firmware "$elf" --net $net --dataflow mine:nothing=1
wrong "dataflow 'flat' is unknown" run --firmware "$elf" --net $net --dataflow flat
done_well schedule --firmware "$elf" --net $net
grep -q 'cluster 0\|mac' "$log/stdout" || failed 'no commands'

# `compare` also runs the shipped firmware's dataflows on the same processors. Of equal names, the file's is used.
done_well compare --firmware "$elf" --net $net --dataflow mas,mine --json -
mv "$log/stdout" "$in/compared.json"
holds '[.[].dataflow] | sort == ["mas", "mine"]' "$in/compared.json"
holds 'all(.golden.passed)' "$in/compared.json"
for name in mas mine; do
  [[ $name == mas ]] && from=(--cpu riscv) || from=(--firmware "$elf")
  [[ $("$attnvp" run "${from[@]}" --net $net --dataflow $name --json - | jq .cycles) == \
    $(jq ".[] | select(.dataflow == \"$name\") | .cycles" "$in/compared.json") ]] || failed "$name: not the run's cycles"
done
done_well compare --firmware "$elf" --net $net --json -
holds '[.[].dataflow] == ["mine"]' "$log/stdout"
wrong "dataflow 'mass' is unknown; did you mean 'mas'" compare --firmware "$elf" --net $net --dataflow mine,mass
wrong "option 'nothing' is unknown" compare --firmware "$elf" --net $net --dataflow mine,mas:nothing=1
"$attnvp" new firmware "$in/mas" >"$log/new" 2>&1 || failed "$(<"$log/new")"
build "$in/mas"
run compare --firmware "$in/mas/mas.elf" --net $net --dataflow mas,flat --json -
[[ $status -eq 0 && $(wc -l <"$log/stderr") -eq 1 ]] || failed "exit status $status: $(<"$log/stderr")"
grep -q '^attnvp: --dataflow mas runs from .*mas.elf; the shipped' "$log/stderr" || failed "$(<"$log/stderr")"
jq '.[] | select(.dataflow == "mas") | .cycles' "$log/stdout" >"$in/cycles"
[[ $("$attnvp" run --firmware "$in/mas/mas.elf" --net $net --dataflow mas --json - | jq .cycles) == "$(<"$in/cycles")" ]] ||
  failed 'mas is not that of the file'

# Observation of firmware does not change results and is deterministic.
for n in 1 2; do
  "$attnvp" run --firmware "$elf" --net $net --json "$in/watched.json" --profile "$in/p$n.folded" \
    --instruction-trace "$in/i$n.log" --trace-to 5000 >/dev/null 2>"$log/stderr" || failed "$(<"$log/stderr")"
done
same "$in/p1.folded" "$in/p2.folded"
same "$in/i1.log" "$in/i2.log"
[[ $(jq .cycles "$in/watched.json") == $(jq .cycles "$in/plain.json") ]] || failed 'looking changes cycles'
grep -qE '^hart 0;.*;main;.*boot.*;.*run.* [0-9]+$' "$in/p1.folded" || failed 'no call stacks'
head -1 "$in/i1.log" | grep -qE '^core   0: 3 0x60000000 \(0x[0-9a-f]{8}\) x' || failed "$(head -1 "$in/i1.log")"
hart_cycles=$(jq '.counters["attnvp.cluster0.cpu"].hart_cycles' "$in/plain.json")
[[ $(awk '{n += $NF} END {print n}' "$in/p1.folded") == "$hart_cycles" ]] || failed 'the profile has not all cycles'
done_well run --firmware "$elf" --net $net --profile "$in/page.html"
grep -q '<script' "$in/page.html" || failed 'no page'

# Mistakes of firmware: one sentence with hart, pc, function and line.
broken() { # PATTERN STATEMENT
  cp -r "$in/mine" "$in/broken"
  sed -i "s|  attention.finish();.*|  $2|" "$in/broken/dataflow.cpp"
  build "$in/broken"
  run run --firmware "$in/broken/mine.elf" --net H=1,N=32,E=16 --tiling nq=32,nkv=32,kv=1,rb=1,bb=1,hh=1,m0=16,n0=16,k0=16
  [[ $status -eq 1 ]] || failed "exit status $status: $(<"$log/stderr")"
  grep -E '^attnvp: ' "$log/stderr" | grep -qE -- "$1" || failed "no '$1' in: $(<"$log/stderr")"
  rm -r "$in/broken"
}
broken 'store access fault at address 0x40, pc 0x6000.*run.*dataflow.cpp:[0-9]+' '*reinterpret_cast<volatile int*>(0x40) = 1;'
broken 'instruction access fault at address 0x1234' 'reinterpret_cast<void (*)()>(0x1234)();'
broken 'illegal instruction.*dataflow.cpp' 'asm volatile(".word 0");'
broken 'gave up with code 5' '*reinterpret_cast<volatile int*>(0x70000004) = 5;'
broken 'stack overflow' 'asm volatile("1: addi sp, sp, -1024; sw zero, 0(sp); j 1b");'

# A failed access of the push unit is named, not the later access that reports it.
device() { echo "*reinterpret_cast<volatile unsigned*>(0x700000$1) = $2;"; }
broken 'its push unit could not put the descriptor at 0x1234 into the queue at 0x10010000, as it is not in data memory' \
  "$(device 14 0x10010000) $(device 18 0x1234) rt.vec(0, fence());"
broken 'its push unit could not fetch 64 bytes at 0x70000000 into data memory at 0x64000000, as the hart sees nothing' \
  "$(device 1c 0x64000000) $(device 20 64) $(device 24 0x70000000)"
broken 'its push unit could not fetch 64 bytes at 0x20000000 into data memory at 0x64000000, which was answered by' \
  "$(device 1c 0x64000000) $(device 20 64) $(device 24 0x20000000) rt.vec(0, fence());"
broken 'its push unit could not play the command list of 64 bytes at 0x8000000, as ' \
  "$(device 28 0x8000000) $(device 2c 0) $(device 30 64)"

# Programs without an end.
cp -r "$in/mine" "$in/endless"
sed -i 's|  attention.finish();.*|  while (true) rt.vec(0, fence());|' "$in/endless/dataflow.cpp"
build "$in/endless"
for command in run check 'run --data timing --check'; do
  machine 'hart 0 has not ended after 2000000 cycles, pc 0x.*; --max-cycles allows more' $command --max-cycles 2000000 \
    --firmware "$in/endless/mine.elf" --net H=1,N=32,E=16
done

# Control characters in its output do not reach the terminal.
cp -r "$in/mine" "$in/printing"
sed -i "s|  attention.finish();.*|  attention.finish(); $(device 00 0x1b) $(device 00 0x41) $(device 00 10)|" \
  "$in/printing/dataflow.cpp"
build "$in/printing"
run run --firmware "$in/printing/mine.elf" --net H=1,N=32,E=16
[[ $status -eq 0 ]] || failed "exit status $status: $(<"$log/stderr")"
grep -qE '^\[cycle [0-9]+\] attnvp\.cluster0\.cpu: \\x1bA$' "$log/stderr" || failed "not escaped: $(<"$log/stderr")"

# The checker names source lines.
cp -r "$in/mine" "$in/careless"
sed -i "s|  attention.finish();.*||" "$in/careless/dataflow.cpp"
build "$in/careless"
line=$(grep -n 'produce_o' "$in/careless/dataflow.cpp" | cut -d: -f1)
for command in check 'run --check --data timing'; do
  run $command --firmware "$in/careless/mine.elf" --net H=1,N=32,E=16 --json -
  [[ $status -eq 1 ]] || failed "$command: exit status $status: $(<"$log/stderr")"
  holds "[(.check // .).findings[] | select(.kind == \"unfinished\") | .commands[0].source] == [\"dataflow.cpp:$line\"]" \
    "$log/stdout"
done

# wfi ends by the interrupt of an event and by the timer interrupt.
cp -r "$in/mine" "$in/asleep"
sed -i 's|  attention.finish();.*|  attention.finish();\n'\
'  const Events done = rt.events(1);\n'\
'  *reinterpret_cast<volatile unsigned*>(0x70000010) = 1 + done.first;\n'\
'  rt.vec(0, fence().then(done));\n'\
'  asm volatile("csrw mie, %0; wfi" ::"r"(1u << 11));\n'\
'  rt.wait(done);\n'\
'  *reinterpret_cast<volatile unsigned*>(0x02004000) = *reinterpret_cast<volatile unsigned*>(0x0200bff8) + 50000;\n'\
'  *reinterpret_cast<volatile unsigned*>(0x02004004) = 0;\n'\
'  asm volatile("csrw mie, %0; wfi" ::"r"(1u << 7));|' "$in/asleep/dataflow.cpp"
build "$in/asleep"
tiling=$(jq -r '.tiling | to_entries | map("\(.key)=\(.value)") | join(",")' "$in/plain.json")
done_well run --firmware "$in/asleep/mine.elf" --net $net --tiling "$tiling" --json -
mv "$log/stdout" "$in/asleep.json"
slept=$(($(jq .cycles "$in/asleep.json") - $(jq .cycles "$in/plain.json")))
[[ $slept -gt 187500 && $slept -lt 200000 ]] || failed "slept $slept cycles, not a little more than 187,500 (50,000 at 1 GHz)"

# Debugger stub with single packets: invalid packets change nothing, and the run equals one without debugger.
timeout 200 "$attnvp" run --firmware "$elf" --net $net --json "$in/packets.json" --gdb 0 --gdb-wait >"$log/run" 2>"$log/stderr" &
process=$!
for _ in {1..600}; do
  grep -q 'on port' "$log/stderr" 2>/dev/null && break
  sleep 0.1
done
port=$(sed -n 's/.*on port \([0-9]*\)$/\1/p' "$log/stderr")
checks=$((checks + 1))
command='gdb_packets.py'
timeout 120 python3 "${configs%/configs}/tests/gdb_packets.py" "$port" >"$log/packets" 2>&1 || failed "$(<"$log/packets")"
wait $process || failed "the run: $(<"$log/stderr")"
[[ $(jq .cycles "$in/packets.json") == $(jq .cycles "$in/plain.json") ]] || failed 'packets change cycles'

# The debugger.
if command -v gdb-multiarch >/dev/null; then
  session() { # ELF [OPTION...]; stdin: lines for gdb; its output goes to $log/gdb, the run's JSON to $in/debugged.json
    rm -f "$log/stderr" "$in/debugged.json"
    timeout 500 "$attnvp" run --firmware "$@" --net $net --json "$in/debugged.json" --gdb 0 --gdb-wait >"$log/run" 2>"$log/stderr" &
    local process=$!
    for _ in {1..600}; do
      grep -q 'on port' "$log/stderr" 2>/dev/null && break
      sleep 0.1
    done
    local port
    port=$(sed -n 's/.*on port \([0-9]*\)$/\1/p' "$log/stderr")
    { printf 'set pagination off\nset architecture riscv:rv32\ntarget remote 127.0.0.1:%s\n' "$port"; cat; } >"$in/script.gdb"
    timeout 490 gdb-multiarch -batch -x "$in/script.gdb" "$1" >"$log/gdb" 2>&1
    wait $process
    echo $? >"$log/status"
    checks=$((checks + 1))
    command="gdb: $(tail -n +4 "$in/script.gdb" | tr '\n' ';')"
  }
  debugged() { # a session that does not change the run
    session "$elf"
    [[ $(jq .cycles "$in/debugged.json" 2>/dev/null) == $(jq .cycles "$in/plain.json") ]] || failed "other cycles: $(tail -3 "$log/gdb")"
  }
  says() { grep -qE -- "$1" "$log/gdb" || failed "no '$1' in: $(<"$log/gdb")"; }

  printf '%s\n' 'break dataflow.cpp:21' continue bt 'print tiling' 'info threads' next step finish 'delete' continue |
    debugged
  says 'Breakpoint 1, .*run'
  says 'nq = [0-9]+, nkv = [0-9]+'
  says 'attnvp.cluster0.cpu'
  says 'exited normally'
  printf '%s\n' 'watch *(int*)0xC0000000' continue 'monitor cycle' 'info registers mcycle mstatus' 'monitor events' \
    'monitor engines' 'monitor queues' 'monitor nothing' 'x/2xw 0xC0000000' 'x/xw 0x08000000' \
    delete 'monitor trace on' 'stepi 3' 'monitor trace off' 'x/xw 0x70000000' | debugged
  says 'Old value = 0'
  says 'cycle [0-9]+ of its clock'
  says 'mcycle  '
  says 'cluster 0 event [0-9]+: [0-9]+ tokens'
  says 'queue_level='
  says 'Cannot access memory at address 0x70000000'
  printf '%s\n' 'hbreak main' continue 'stepi 1000' 'print $pc' 'set $t3 = 5' 'print $t3' 'tbreak Runtime::finish' \
    continue detach | debugged
  says '= 5$'
  # Halts at random times do not change the run.
  { RANDOM=1 # here: a subshell seeds its own
    for ((n = 0; n < halts; ++n)); do
      case $((RANDOM % 6)) in
        0 | 1) echo "stepi $((RANDOM % 211 + 1))" ;;
        2) echo "nexti $((RANDOM % 20 + 1))" ;;
        3) echo step ;;
        4) printf '%s\n' 'x/4xw $pc' 'monitor events' 'stepi 7' ;;
        5) printf '%s\n' 'tbreak *$pc + 4' 'stepi 3' ;;
      esac
    done
    printf '%s\n' delete continue; } | debugged
  says 'exited normally'

  # Deadlock: gdb gets control and shows where the hart waits, and for which event.
  cp -r "$in/mine" "$in/stuck"
  sed -i 's|  attention.finish();.*|  rt.wait(rt.events(1));|' "$in/stuck/dataflow.cpp"
  build "$in/stuck"
  printf '%s\n' continue bt 'monitor events' 'monitor engines' continue | session "$in/stuck/mine.elf" --tiling "$tiling"
  says 'run .*dataflow.cpp:[0-9]+'
  says 'attnvp.cluster0.cpu: firmware waits for event [0-9]+, pc'
  [[ $(<"$log/status") == 1 ]] && grep -q 'deadlock at cycle' "$log/stderr" || failed "status $(<"$log/status"): $(<"$log/stderr")"
fi
finish
