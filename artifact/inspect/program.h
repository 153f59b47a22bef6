#ifndef MSD_ARTIFACT_INSPECT_PROGRAM_H
#define MSD_ARTIFACT_INSPECT_PROGRAM_H
/*
 * A virtual machine's program in a file of its own, as executables of TVM write
 * themselves (Relay's is called mod.ro by tvmc). It is what a library of the same
 * compilation may hold as the root of its tree, but for its length in front.
 */
#include "artifact/elf/era.h"
#include "artifact/kind/model.h"

struct msd_program {
	struct msd_span kind; /* of the module that it is in a tree; static */
	const char *title;    /* "Relay VM program"; static */
	enum msd_era era;     /* as whose it was read */
	/* As a tree of that era holds it; borrows from the file or from `bytes`. */
	struct msd_span payload;
	struct msd_buf bytes;
	struct msd_model model; /* what can be told of it */
};

/**
 * Read @file, which is one (msd_companion_of()), as what stands beside a library of
 * @era; MSD_ERA_NONE: of any. The caller owns *@ret (finish it), which borrows @file.
 * Errors: MSD_BAD_ARTIFACT; MSD_UNSUPPORTED: of a release that is not known, or of
 * another era than @era; MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_program_read(struct msd_span file, enum msd_era era,
					struct msd_program *ret, struct msd_diag *d);
void msd_program_finish(struct msd_program *p); /* zeroed is fine */

#endif
