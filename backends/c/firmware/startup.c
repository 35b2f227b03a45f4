/* Reset, vectors and the tick counter of a Cortex-M. No vendor file is needed. */
#include <stdint.h>

#include "platform.h"
#include "startup.h"

extern uint32_t link_stack_bottom[], link_stack_top[];
extern uint32_t link_data_load[], link_data_begin[], link_data_end[];
extern uint32_t link_bss_begin[], link_bss_end[];

int main(void);
void reset(void);
void fault(void);
void tick(void);

#define SYSTICK_CONTROL (*(volatile uint32_t *)0xE000E010u)
#define SYSTICK_RELOAD (*(volatile uint32_t *)0xE000E014u)
#define SYSTICK_CURRENT (*(volatile uint32_t *)0xE000E018u)
#define CPACR (*(volatile uint32_t *)0xE000ED88u)
#define SYSTICK_SPAN 0x1000000u

static volatile uint32_t wraps;

void startup_ticks_start(void) {
  wraps = 0;
  SYSTICK_CONTROL = 0u;
  SYSTICK_RELOAD = SYSTICK_SPAN - 1u;
  SYSTICK_CURRENT = 0u;
  SYSTICK_CONTROL = 7u; /* core clock, interrupt, on */
}

uint64_t startup_ticks(void) {
  uint32_t before;
  uint32_t current;
  do {
    before = wraps;
    current = SYSTICK_CURRENT;
  } while (before != wraps);
  return (uint64_t)before * SYSTICK_SPAN + (SYSTICK_SPAN - 1u - current);
}

uint32_t *startup_stack_bottom(void) { return link_stack_bottom; }

void tick(void) { ++wraps; }

/* A stack overflow ends here too: below the stack there is no memory. */
void fault(void) {
  platform_print("fault: the stack may have overflowed\n");
  startup_exit(3);
}

void reset(void) {
  uint32_t *to = link_data_begin;
  const uint32_t *from = link_data_load;
#if defined(__ARM_FP)
  CPACR |= 0xFu << 20;
  __asm__ volatile("dsb\n isb" ::: "memory");
#endif
  while (to < link_data_end) {
    *to++ = *from++;
  }
  for (to = link_bss_begin; to < link_bss_end; ++to) {
    *to = 0u;
  }
  startup_exit(main());
}

typedef void (*vector)(void);

typedef struct {
  uint32_t *stack;
  vector handlers[15];
} vector_table;

__attribute__((section(".vectors"), used)) static const vector_table vectors = {
    link_stack_top,
    {reset, fault, fault, fault, fault, fault, fault, 0, 0, 0, fault, fault, 0, fault, tick}};
