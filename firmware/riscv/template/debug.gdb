# gdb-multiarch -x debug.gdb @NAME@.elf, beside
#   attnvp run --hw @HW@ --firmware @NAME@.elf --gdb 3333 --gdb-wait
set architecture riscv:rv32
target remote localhost:3333
break attnvp::firmware::Runtime::finish
continue
