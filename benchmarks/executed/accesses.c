/* A plugin of QEMU that counts bytes which a program loads and stores, per memory and stretch.
 *
 * Arguments: out=FILE, begin=PC and end=PC of the functions around a stretch, memory=START+BYTES as
 * often as there are memories. At each `end` a line per memory: number of the stretch, of the memory,
 * bytes loaded and stored, and different bytes loaded and stored.
 *
 * What is used of qemu-plugin.h is declared here, as many systems have QEMU without its header. */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef struct qemu_info_t qemu_info_t;

__attribute__((visibility("default"))) int qemu_plugin_version = API_VERSION;

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *,
                                            void (*)(unsigned, void *), int, void *);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *,
                                      void (*)(unsigned, uint32_t, uint64_t, void *), int, int,
                                      void *);
void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void *), void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
unsigned qemu_plugin_mem_size_shift(uint32_t);
bool qemu_plugin_mem_is_store(uint32_t);

enum { NO_REGISTERS = 0, READS_AND_WRITES = 3, MOST = 8 };

struct memory {
  uint64_t start, bytes;
  uint64_t moved[2], different[2]; /* loaded, stored */
  uint32_t *last[2];               /* of each byte the last stretch that did so */
};

static struct memory memories[MOST];
static int count;
static uint64_t begin, end;
static uint32_t stretch; /* numbered from 1 */
static bool is_counting;
static FILE *out;

static void begins(unsigned cpu, void *data) {
  ++stretch;
  is_counting = true;
  for (int m = 0; m < count; ++m) {
    memset(memories[m].moved, 0, sizeof memories[m].moved);
    memset(memories[m].different, 0, sizeof memories[m].different);
  }
}

static void ends(unsigned cpu, void *data) {
  is_counting = false;
  for (int m = 0; m < count; ++m) {
    const struct memory *own = &memories[m];
    fprintf(out, "%" PRIu32 " %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", stretch - 1, m,
            own->moved[0], own->moved[1], own->different[0], own->different[1]);
  }
}

static void accesses(unsigned cpu, uint32_t info, uint64_t address, void *data) {
  if (!is_counting) {
    return;
  }
  const int what = qemu_plugin_mem_is_store(info);
  const uint64_t after = address + (1u << qemu_plugin_mem_size_shift(info));
  for (int m = 0; m < count; ++m) {
    struct memory *own = &memories[m];
    const uint64_t behind = own->start + own->bytes;
    uint64_t at = address < own->start ? own->start : address;
    for (; at < after && at < behind; ++at) {
      uint32_t *last = &own->last[what][at - own->start];
      own->moved[what] += 1;
      own->different[what] += *last != stretch;
      *last = stretch;
    }
  }
}

static void translates(plugin_id id, struct qemu_plugin_tb *block) {
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); ++i) {
    struct qemu_plugin_insn *one = qemu_plugin_tb_get_insn(block, i);
    const uint64_t at = qemu_plugin_insn_vaddr(one);
    if (at == begin) {
      qemu_plugin_register_vcpu_insn_exec_cb(one, begins, NO_REGISTERS, NULL);
    } else if (at == end) {
      qemu_plugin_register_vcpu_insn_exec_cb(one, ends, NO_REGISTERS, NULL);
    }
    qemu_plugin_register_vcpu_mem_cb(one, accesses, NO_REGISTERS, READS_AND_WRITES, NULL);
  }
}

static void leaves(plugin_id id, void *data) { fclose(out); }

__attribute__((visibility("default"))) int qemu_plugin_install(plugin_id id,
                                                               const qemu_info_t *info, int argc,
                                                               char **argv) {
  for (int i = 0; i < argc; ++i) {
    char *value = strchr(argv[i], '=');
    if (value == NULL) {
      return 1;
    }
    ++value;
    if (strncmp(argv[i], "out=", 4) == 0) {
      out = fopen(value, "w");
    } else if (strncmp(argv[i], "begin=", 6) == 0) {
      begin = strtoull(value, NULL, 0);
    } else if (strncmp(argv[i], "end=", 4) == 0) {
      end = strtoull(value, NULL, 0);
    } else if (strncmp(argv[i], "memory=", 7) == 0 && count < MOST) {
      struct memory *own = &memories[count++];
      own->start = strtoull(value, &value, 0);
      own->bytes = strtoull(value + 1, NULL, 0);
      for (int what = 0; what < 2; ++what) {
        own->last[what] = calloc(own->bytes, sizeof(uint32_t));
        if (own->last[what] == NULL) {
          return 1;
        }
      }
    } else {
      return 1;
    }
  }
  if (out == NULL) {
    return 1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, translates);
  qemu_plugin_register_atexit_cb(id, leaves, NULL);
  return 0;
}
