#ifndef MSD_RUNTIME_LIBRARY_PROBE_H
#define MSD_RUNTIME_LIBRARY_PROBE_H
/*
 * Probe compiled functions for their signatures. Their own argument checks answer: a
 * call with -1 arguments makes tvm-ffi code (0.24+) print the whole signature. Older
 * code asserts one thing at a time. No body runs, and only functions with assertion
 * texts in the file are probed. Missing information stays unknown; that is not an
 * error.
 */
#include "runtime/library/library.h"

/* Ranges of the file that may contain assertion texts: all but its blob, which may
 * hold megabytes of weights and no texts. */
struct msd_probe_texts {
	struct msd_span part[2];
};

/**
 * Find NAME followed by @tail, not as the end of a longer name. Returns the bytes
 * after it, or p NULL if it is not found.
 */
struct msd_span msd_probe_find_text(const struct msd_probe_texts *texts,
				    const char *name, const char *tail);
/**
 * Fill in the signatures of lib->funcs. @gate (NULL: all are allowed) gets the
 * function at index i as place @first + i, and the entry function again as @first +
 * n_funcs. Errors: MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_probe_library(struct msd_lib *lib,
					 const struct msd_probe_gate *gate,
					 size_t first, struct msd_diag *d);
/** Probe one function of the assert style (up to 0.23). */
MSD_MUST_CHECK msd_err msd_probe_asserts(struct msd_lib_func *f,
					 const struct msd_probe_texts *texts,
					 struct msd_diag *d);

#endif
