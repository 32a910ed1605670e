# Reset code of a hart. The ELF loader has placed the data and zeroed the rest of memory.
  .section .text.start, "ax"
  .globl _start
_start:
  .option push
  .option norelax
  la gp, __global_pointer$
  .option pop
  la sp, __stack_top
  la t0, trap_entry
  csrw mtvec, t0
  la t0, trap_stack
  csrw mscratch, t0
  call main
  la t0, __finish
  sw a0, 0(t0)
1:
  wfi
  j 1b

# Trap entry: saves the caller-saved registers on its own stack, because the main stack may be invalid. Calls
# trap(cause, pc, value), which returns the address at which to resume.
  .balign 4
  .globl trap_entry
trap_entry:
  csrrw sp, mscratch, sp
  addi sp, sp, -64
  sw ra, 0(sp)
  sw t0, 4(sp)
  sw t1, 8(sp)
  sw t2, 12(sp)
  sw t3, 16(sp)
  sw t4, 20(sp)
  sw t5, 24(sp)
  sw t6, 28(sp)
  sw a0, 32(sp)
  sw a1, 36(sp)
  sw a2, 40(sp)
  sw a3, 44(sp)
  sw a4, 48(sp)
  sw a5, 52(sp)
  sw a6, 56(sp)
  sw a7, 60(sp)
  csrr a0, mcause
  csrr a1, mepc
  csrr a2, mtval
  call trap
  csrw mepc, a0
  lw ra, 0(sp)
  lw t0, 4(sp)
  lw t1, 8(sp)
  lw t2, 12(sp)
  lw t3, 16(sp)
  lw t4, 20(sp)
  lw t5, 24(sp)
  lw t6, 28(sp)
  lw a0, 32(sp)
  lw a1, 36(sp)
  lw a2, 40(sp)
  lw a3, 44(sp)
  lw a4, 48(sp)
  lw a5, 52(sp)
  lw a6, 56(sp)
  lw a7, 60(sp)
  addi sp, sp, 64
  csrrw sp, mscratch, sp
  mret

  .bss
  .balign 16
  .space 512
trap_stack:
