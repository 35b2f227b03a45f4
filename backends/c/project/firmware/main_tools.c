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
 * and with -DMEMOPT_PROFILE too its instructions are printed. */
void memopt_trace(uint32_t tensor, const char *name, const void *data, uint32_t bytes) {
  const uint32_t head[2] = {tensor, bytes};
#ifdef MEMOPT_PROFILE
  static uint64_t before;
  const uint64_t now = platform_instructions();
  print_number(name, now >= before ? now - before : now);
#else
  (void)name;
#endif
  if (trace_file >= 0) {
    (void)platform_write(trace_file, head, sizeof head);
    (void)platform_write(trace_file, data, bytes);
  }
#ifdef MEMOPT_PROFILE
  before = platform_instructions();
#endif
}
#endif

