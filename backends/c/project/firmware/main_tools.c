#ifdef __GNUC__
__attribute__((noinline)) /* else the image has it several times */
#endif
static void print_number(const char *name, uint64_t value) {
  char digits[24];
  char *at = digits + sizeof digits - 1;
  *at = '\0';
  do {
    uint32_t rest = 0;
    int i;
    for (i = 0; i < 64; ++i) { /* bit by bit: a division of 64 bits is a library */
      rest = rest << 1 | (uint32_t)(value >> 63);
      value <<= 1;
      if (rest > 9u) {
        rest -= 10u;
        value |= 1u;
      }
    }
    *--at = (char)('0' + (int)rest);
  } while (value != 0u);
  platform_print(name);
  platform_print(" ");
  platform_print(at);
  platform_print("\n");
}

static int fail(const char *message, const char *what, int code) {
  platform_print("error: ");
  platform_print(message);
  platform_print(what);
  platform_print("\n");
  return code;
}

#ifdef MEMOPT_TRACE
static int trace_file = -1;

/* Called by a model after every operator, for each of its results: written to the trace file,
 * and with -DMEMOPT_TRACE_NAMES its name and bytes are printed. */
void memopt_trace(uint32_t tensor, const char *name, const void *data, uint32_t bytes) {
  const uint32_t head[2] = {tensor, bytes};
#ifdef MEMOPT_TRACE_NAMES
  print_number(name, bytes);
#else
  (void)name;
#endif
  if (trace_file >= 0) {
    (void)platform_write(trace_file, head, sizeof head);
    (void)platform_write(trace_file, data, bytes);
  }
}
#endif

#ifdef MEMOPT_PROFILE
/* Instructions are counted between these two, and cycles by who follows the program. */
#ifdef __GNUC__
#define APART __attribute__((noinline))
#else
#define APART
#endif
static APART void memopt_profile_begins(void) { platform_ticks_start(); }

static APART uint64_t memopt_profile_ends(void) { return platform_instructions(); }

/* Called by a model before (0) and after (1) an operator runs, or rows of it: prints its number and
 * its instructions. On a board, read a timer in place of that: DWT->CYCCNT of a Cortex-M3 or above. */
void memopt_profile(int event, uint32_t operation) {
  if (event == 0) {
    memopt_profile_begins();
  } else {
    const uint64_t instructions = memopt_profile_ends();
    print_number("profiled", operation);
    print_number("took", instructions);
  }
}
#endif

