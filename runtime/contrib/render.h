#ifndef MSD_RUNTIME_CONTRIB_RENDER_H
#define MSD_RUNTIME_CONTRIB_RENDER_H
/*
 * Values as text for people: what relax.print and relax.assert_op put into their
 * formats. Tensors are nested brackets; numbers are the shortest that read back the
 * same; only the first elements of long dimensions are shown.
 */
#include <stdio.h>

#include "runtime/value/value.h"

/** Write @v to @out. */
void msd_render(FILE *out, const struct msd_any *v);
/**
 * Write @format with its {} and {N} replaced by the @n values and {{ }} by braces; what
 * else stands in braces, and a place without a value, stays as it is.
 */
void msd_render_format(FILE *out, struct msd_span format, const struct msd_any *v,
		       int32_t n);

#endif
