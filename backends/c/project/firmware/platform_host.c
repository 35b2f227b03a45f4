/* The platform of a computer with an operating system: stdio. */
#include <stdio.h>

#include "platform.h"

enum { FILES = 8 };

static FILE *files[FILES];

int platform_open(const char *path, int mode) {
  int i;
  for (i = 0; i < FILES; ++i) {
    if (files[i] == NULL) {
      files[i] = fopen(path, mode == PLATFORM_READ ? "rb" : "wb");
      return files[i] == NULL ? -1 : i;
    }
  }
  return -1;
}

size_t platform_read(int file, void *data, size_t bytes) {
  return fread(data, 1, bytes, files[file]);
}

size_t platform_write(int file, const void *data, size_t bytes) {
  return fwrite(data, 1, bytes, files[file]);
}

void platform_close(int file) {
  (void)fclose(files[file]);
  files[file] = NULL;
}

void platform_print(const char *text) { (void)fputs(text, stderr); }

void platform_ticks_start(void) {}

uint64_t platform_instructions(void) { return 0; }

void platform_stack_paint(void) {}

uint32_t platform_stack_bytes(void) { return 0; }

int main(int argc, char **argv) {
  if (argc < 3) {
    platform_print("usage: PROGRAM IN OUT [TRACE]\n");
    return 1;
  }
  return model_main(argv[1], argv[2], argc > 3 ? argv[3] : NULL);
}
