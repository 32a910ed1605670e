#!/usr/bin/env bash
# The public riscv-tests, built from a checkout that ATTNVP_RISCV_TESTS names, and mistakes of `attnvp riscv`.
. "$(dirname -- "$0")/harness.sh" "$1" "$2"

wrong 'no such file' riscv nothing.elf
printf 'text' >"$in/text.elf"
wrong 'not an ELF file' riscv "$in/text.elf"
printf '\x7fELF' >"$in/short.elf"
wrong 'not an ELF file' riscv "$in/short.elf"
head -c 40 "$attnvp" >"$in/cut.elf"
wrong 'truncated' riscv "$in/cut.elf"
wrong 'not RISC-V' riscv "$attnvp"
wrong 'allowed is 1 to' riscv "$in/text.elf" --max-cycles 0

gcc=riscv64-unknown-elf-gcc
if command -v $gcc >/dev/null; then
  build() { # NAME [OPTION...]: of $in/NAME.S
    local name=$1
    shift
    $gcc -march=rv32imc -misa-spec=2.2 -mabi=ilp32 -nostdlib -nostartfiles -Wl,-N -Wl,-Ttext=0x80000000 "$@" \
      "$in/$name.S" -o "$in/$name.elf" 2>"$log/gcc" || failed "$(<"$log/gcc")"
  }
  program() { # NAME: its body is on stdin
    { echo '.globl _start, tohost, fromhost'; echo '.text'; echo '_start:'; cat
      printf '.data\n.balign 8\ntohost: .dword 0\nfromhost: .dword 0\n'; } >"$in/$1.S"
  }
  printf 'li a0, 1\n la a1, tohost\n sw a0, 0(a1)\n sw zero, 4(a1)\n1: j 1b\n' | program pass
  build pass
  done_well riscv "$in/pass.elf"
  printf 'li a0, 15\n la a1, tohost\n sw a0, 0(a1)\n sw zero, 4(a1)\n1: j 1b\n' | program fail
  build fail
  machine 'ended with 7' riscv "$in/fail.elf"
  printf 'work: j work\n' | program loop
  build loop
  machine 'hart 0 at pc 0x80000000.*not ended after 5000 cycles' riscv "$in/loop.elf" --max-cycles 5000
  printf 'li a0, 0x1000\n jr a0\n' | program wild
  build wild
  machine 'nothing can be fetched' riscv "$in/wild.elf"
  printf 'wfi\n' | program asleep
  build asleep
  machine 'interrupt that cannot come' riscv "$in/asleep.elf"
  printf 'la a1, tohost\n li a0, 0x48\n sw a0, 0(a1)\n li a2, 0x01010000\n sw a2, 4(a1)\n1: lw a0, 0(a1)\n bnez a0, 1b\n li a0, 1\n sw zero, 4(a1)\n sw a0, 0(a1)\n2: j 2b\n' | program hello
  build hello
  done_well riscv "$in/hello.elf"
  grep -q '^H' "$log/stdout" || failed 'nothing on the console'
  # wfi for 1 us of the timer
  printf 'la t0, handler\n csrw mtvec, t0\n li t1, 0x2004000\n li t2, 100000\n sw t2, 0(t1)\n sw zero, 4(t1)\n li t3, 0x80\n csrw mie, t3\n csrsi mstatus, 8\n1: wfi\n j 1b\n.balign 4\nhandler: li a0, 1\n la a1, tohost\n sw zero, 4(a1)\n sw a0, 0(a1)\n2: j 2b\n' | program timer
  build timer
  done_well riscv "$in/timer.elf"
  printf '.globl _start\n_start: j _start\n' >"$in/bare.S"
  build bare
  wrong 'no symbol tohost' riscv "$in/bare.elf"
  build pass -Wl,-Ttext=0x1000
  wrong 'outside of RAM' riscv "$in/pass.elf"
fi

tests=${ATTNVP_RISCV_TESTS:-}
if [[ -d $tests/isa ]] && command -v $gcc >/dev/null; then
  cp -r -- "$tests" "$in/riscv-tests"
  for suite in rv32ui rv32um rv32uc rv32mi; do
    for source in "$in/riscv-tests/isa/$suite"/*.S; do
      name=$suite-p-$(basename "$source" .S)
      $gcc -march=rv32g -mabi=ilp32 -static -mcmodel=medany -fvisibility=hidden -nostdlib -nostartfiles \
        -I"$in/riscv-tests/env/p" -I"$in/riscv-tests/isa/macros/scalar" -T"$in/riscv-tests/env/p/link.ld" "$source" \
        -o "$in/$name" 2>"$log/gcc" || failed "$(<"$log/gcc")"
      done_well riscv "$in/$name" --max-cycles 1000000
    done
  done
fi
finish
