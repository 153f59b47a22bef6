#ifndef MSD_RUNTIME_DEVICE_OPENCL_SOURCE_H
#define MSD_RUNTIME_DEVICE_OPENCL_SOURCE_H
/*
 * TVM's OpenCL C. It writes one source for all kernels; each kernel's part begins with
 * a line "// Function: NAME" and is a program of its own, for helpers of the same name
 * may stand in several. A source without such lines (TVM up to 0.7) is one program.
 */
#include "proto/bytes.h"

/** The source is divided by kernels, as TVM writes it. */
bool msd_opencl_has_sections(struct msd_span code);
/** The part of @code that is kernel @name's: behind its marker, up to the next. */
bool msd_opencl_section_find(struct msd_span code, struct msd_span name,
			     struct msd_span *ret);
/**
 * The language has no kernel parameters of type bool, and TVM writes them all the same.
 * Make each a char, in place: it has the same size and, as TVM passes it, the same
 * value.
 */
void msd_opencl_bools_replace(char *code, size_t n);

#endif
