#ifndef MSD_RUNTIME_CONTRIB_RENDER_H
#define MSD_RUNTIME_CONTRIB_RENDER_H
/*
 * Values as readable text for the formats of relax.print and relax.assert_op. Tensors
 * are nested brackets. Numbers use the shortest text that reads back the same. Only
 * the first elements of long dimensions are shown.
 */
#include <stdio.h>

#include "runtime/value/value.h"

/** Write @v to @out. */
void msd_render(FILE *out, const struct msd_any *v);
/**
 * Write @format; {} and {N} are replaced by the @n values and {{ }} by braces. Other
 * text in braces and placeholders without a value stay unchanged.
 */
void msd_render_format(FILE *out, struct msd_span format, const struct msd_any *v,
		       int32_t n);

#endif
