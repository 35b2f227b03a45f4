/* Reset, traps and the counter of instructions of a RISC-V of 32 bits. No vendor file is needed. */
#include <stdint.h>

#include "startup.h"

extern uint32_t link_stack_bottom[];

void reset(void);
void start(void);
void fault(void);

#define CSR ".option arch, +zicsr\n" /* registers of control, which -march need not name */
#define THREAD_WORDS 4 /* of what the C library keeps per thread, errno; the linker checks it */
static uint32_t thread[THREAD_WORDS];

static uint64_t counted;

static uint64_t read_counter(void) {
  uint32_t high;
  uint32_t low;
  uint32_t again;
  do {
    __asm__ volatile(CSR "csrr %0, minstreth\n csrr %1, minstret\n csrr %2, minstreth"
                     : "=r"(high), "=r"(low), "=r"(again));
  } while (high != again);
  return (uint64_t)high << 32 | low;
}

void startup_ticks_start(void) { counted = read_counter(); }

uint64_t startup_ticks(void) { return read_counter() - counted; }

uint32_t *startup_stack_bottom(void) { return link_stack_bottom; }

/* Below the stack there is no memory, so that its overflow ends here, with a fresh stack. */
__attribute__((naked, aligned(4))) void fault(void) {
  __asm__ volatile("la sp, link_stack_top\n call startup_fault");
}

__attribute__((naked, section(".vectors"))) void reset(void) {
  __asm__ volatile(
      CSR ".option push\n .option norelax\n la gp, __global_pointer$\n .option pop\n"
      "la sp, link_stack_top\n"
      "la t0, fault\n csrw mtvec, t0\n"
#if defined(__riscv_flen)
      "li t0, 0x2000\n csrs mstatus, t0\n" /* floating point is on */
#endif
      "tail start");
}

__attribute__((used)) void start(void) {
  __asm__ volatile("mv tp, %0" ::"r"(thread));
  startup_run();
}
