#ifndef MSD_ARTIFACT_INSPECT_PROGRAM_H
#define MSD_ARTIFACT_INSPECT_PROGRAM_H
/*
 * A virtual machine's program in a file of its own, as saved by TVM executables (tvmc
 * calls Relay's mod.ro). A library of the same compilation may contain the same bytes
 * as the root of its tree, without the length in front.
 */
#include "artifact/elf/era.h"
#include "artifact/kind/model.h"

struct msd_program {
	struct msd_span kind; /* module kind of the program in a tree; static */
	const char *title;    /* "Relay VM program"; static */
	enum msd_era era;     /* era of the successful reader */
	/* In the form of a tree of that era; borrows from the file or from `bytes`. */
	struct msd_span payload;
	struct msd_buf bytes;
	struct msd_model model; /* details of the program */
};

/**
 * Read @file, a program (msd_companion_of()), next to a library of @era;
 * MSD_ERA_NONE: any era. The caller owns *@ret (finish it), which borrows @file.
 * Errors: MSD_BAD_ARTIFACT; MSD_UNSUPPORTED: an unknown release, or another era than
 * @era; MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_program_read(struct msd_span file, enum msd_era era,
					struct msd_program *ret, struct msd_diag *d);
void msd_program_finish(struct msd_program *p); /* zeroed is allowed */

#endif
