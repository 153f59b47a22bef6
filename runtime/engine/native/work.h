#ifndef MSD_RUNTIME_ENGINE_NATIVE_WORK_H
#define MSD_RUNTIME_ENGINE_NATIVE_WORK_H
/* How the kernels of the native engine get threads and scratch memory. */
#include <stddef.h>

/* Parts @first .. @end - 1; @thread counts from 0, below msd_native_threads(). */
typedef void msd_native_part(const void *ctx, size_t first, size_t end, size_t thread);

/** The most threads that msd_native_each() uses. */
size_t msd_native_threads(void);
/**
 * Call @part for ranges that cover 0 .. @n - 1, on several threads if each gets at
 * least 8 us of work. @ns is an estimate of the time of one part.
 */
void msd_native_each(size_t n, double ns, msd_native_part *part, const void *ctx);

/**
 * At least @n floats, aligned for vectors. NULL: memory is short. The process keeps
 * the largest block for the next caller.
 */
float *msd_native_scratch_take(size_t n);
void msd_native_scratch_give(float *p);

#endif
