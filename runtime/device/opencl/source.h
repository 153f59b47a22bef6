#ifndef MSD_RUNTIME_DEVICE_OPENCL_SOURCE_H
#define MSD_RUNTIME_DEVICE_OPENCL_SOURCE_H
/*
 * TVM's OpenCL C. TVM writes one source for all kernels. Each kernel's section begins
 * with a line "// Function: NAME" and is a separate program, because several sections
 * may have helpers of the same name. A source without such lines (TVM up to 0.7) is
 * one program.
 */
#include "proto/base/bytes.h"

/** True if the source has one section per kernel, as TVM writes it. */
bool msd_opencl_has_sections(struct msd_span code);
/** The section of kernel @name in @code: from its marker to the next. */
bool msd_opencl_section_find(struct msd_span code, struct msd_span name,
			     struct msd_span *ret);
/**
 * The language has no kernel parameters of type bool, but TVM writes them. Replace
 * each by char, in place: it has the same size and, as TVM passes it, the same value.
 */
void msd_opencl_bools_replace(char *code, size_t n);

#endif
