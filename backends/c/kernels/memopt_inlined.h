/* Kernels as steps of memopt_inlined.c, memopt_inlined_row.c and memopt_epilogue_row.c. */
#ifndef MEMOPT_INLINED_H
#define MEMOPT_INLINED_H

#include "memopt_common.h"

#define MEMOPT_INLINED_OPERANDS 2

/* A kernel that is called row by row. */
typedef struct {
  memopt_kernel *kernel;
  const void *params;
  const int32_t *from; /* of each operand: where in scratch its row is; of one in `in` -1 - bytes to the next,
                        * 0 if one row serves all */
  int32_t operands;
  int32_t in_at;   /* where in `in` its operands begin */
  int32_t per_row; /* rows of the kernel that are one row here */
  int32_t in_stride, out_stride;
  int32_t to;      /* where in scratch it writes row `first` of the window, */
  int32_t advance; /* and how many bytes further the next */
} memopt_inlined_step;

/* A kernel as a step of memopt_inlined_row.c. */
typedef struct {
  memopt_kernel *kernel;
  const void *params;
  const int32_t *from; /* of each operand: where in scratch its rows lie, or -1 - its number */
  int32_t operands;
  int32_t rows; /* of the kernel that are one row here */
  int32_t in_stride, out_stride;
  int32_t to;      /* where in scratch it writes the first row, */
  int32_t advance; /* and how many bytes further the next */
} memopt_inlined_row_step;

/* Some columns of a row as a step of memopt_epilogue_row.c. */
typedef struct {
  const void *maker, *reader;    /* their parameters */
  int32_t rows;                  /* of the reader's kernel that are one row of so many columns */
  int32_t in_stride, out_stride; /* of these */
  int32_t read_at, out_at;       /* where they begin in rows of the other tensor and the result */
} memopt_epilogue_part;

#endif
