#ifndef MSD_RUNTIME_LIBRARY_PROBE_H
#define MSD_RUNTIME_LIBRARY_PROBE_H
/*
 * Ask compiled functions for their signatures. Their own argument checks answer: a call
 * with -1 arguments makes tvm-ffi code (0.24+) print the whole signature; older code
 * asserts one thing at a time. No body runs, and only functions whose assertion texts
 * stand in the file are asked at all. What a function does not say stays unknown; that
 * is no error.
 */
#include "runtime/library/library.h"

/* Where assertion texts may stand: the file without its blob, which may hold megabytes
 * of weights and no texts. */
struct msd_probe_texts {
	struct msd_span part[2];
};

/** Where NAME followed by @tail stands, not as the end of a longer name: the bytes
 * after it; nothing (p NULL) when nowhere. */
struct msd_span msd_probe_find_text(const struct msd_probe_texts *texts,
				    const char *name, const char *tail);
/** Fill in the signatures of lib->funcs. @gate (NULL: all may) sees the function at
 * index i as place @first + i, and once more the entry function as @first + n_funcs.
 * Errors: MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_probe_library(struct msd_lib *lib,
					 const struct msd_probe_gate *gate,
					 size_t first, struct msd_diag *d);
/** Ask one function of the assert style (up to 0.23). */
MSD_MUST_CHECK msd_err msd_probe_asserts(struct msd_lib_func *f,
					 const struct msd_probe_texts *texts,
					 struct msd_diag *d);

#endif
