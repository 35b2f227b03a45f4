/* The platform of a Cortex-M behind a debugger: Arm semihosting, which QEMU answers too. */
#include <string.h>

#include "platform.h"
#include "startup.h"

enum {
  SYS_OPEN = 0x01,
  SYS_CLOSE = 0x02,
  SYS_WRITE0 = 0x04,
  SYS_WRITE = 0x05,
  SYS_READ = 0x06,
  SYS_GET_CMDLINE = 0x15,
  SYS_EXIT_EXTENDED = 0x20
};

#define STACK_PAINT 0x5AA5C33Cu
#define APPLICATION_EXIT 0x20026u

static uint32_t *painted_top;

static int call(int operation, const void *block) {
  register int r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = block;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

int platform_open(const char *path, int mode) {
  const uint32_t block[3] = {(uint32_t)path, (uint32_t)mode, (uint32_t)strlen(path)};
  return call(SYS_OPEN, block);
}

/* The answer is the number of bytes not transferred. */
size_t platform_read(int file, void *data, size_t bytes) {
  const uint32_t block[3] = {(uint32_t)file, (uint32_t)data, (uint32_t)bytes};
  return bytes - (size_t)call(SYS_READ, block);
}

size_t platform_write(int file, const void *data, size_t bytes) {
  const uint32_t block[3] = {(uint32_t)file, (uint32_t)data, (uint32_t)bytes};
  return bytes - (size_t)call(SYS_WRITE, block);
}

void platform_close(int file) {
  const uint32_t block[1] = {(uint32_t)file};
  (void)call(SYS_CLOSE, block);
}

void platform_print(const char *text) { (void)call(SYS_WRITE0, text); }

void startup_exit(int code) {
  const uint32_t block[2] = {APPLICATION_EXIT, (uint32_t)code};
  (void)call(SYS_EXIT_EXTENDED, block);
  for (;;) {
  }
}

void platform_ticks_start(void) { startup_ticks_start(); }

/* Instructions, not cycles: under QEMU's -icount shift=5 every instruction takes 32 ns. */
uint64_t platform_instructions(void) {
  return startup_ticks() * TICK_NUMERATOR / TICK_DENOMINATOR;
}

__attribute__((noinline)) void platform_stack_paint(void) {
  volatile uint32_t *word;
  painted_top = (uint32_t *)__builtin_frame_address(0) - 16;
  for (word = startup_stack_bottom(); word < painted_top; ++word) {
    *word = STACK_PAINT;
  }
}

uint32_t platform_stack_bytes(void) {
  const volatile uint32_t *word = startup_stack_bottom();
  while (word < painted_top && *word == STACK_PAINT) {
    ++word;
  }
  return (uint32_t)(painted_top - word) * 4u;
}

/* The command line is "program IN OUT [TRACE]", its words one blank apart. */
static char *next_word(char **line) {
  char *word = *line;
  char *end = word;
  while (*end != '\0' && *end != ' ') {
    ++end;
  }
  *line = *end == '\0' ? end : end + 1;
  *end = '\0';
  return word;
}

int main(void) {
  static char line[1024];
  const uint32_t block[2] = {(uint32_t)line, sizeof line};
  char *rest = line;
  const char *in_path;
  const char *out_path;
  if (call(SYS_GET_CMDLINE, block) != 0) {
    platform_print("error: no command line\n");
    return 1;
  }
  (void)next_word(&rest);
  in_path = next_word(&rest);
  out_path = next_word(&rest);
  return model_main(in_path, out_path, *rest != '\0' ? next_word(&rest) : 0);
}
