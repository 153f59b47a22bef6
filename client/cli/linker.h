#ifndef MSD_CLI_LINKER_H
#define MSD_CLI_LINKER_H
/*
 * A shared library out of objects, C sources and assembly, made by the system's C
 * compiler ($CC, else cc) in a directory of its own below $TMPDIR. The pieces' names
 * are the linker's own: nothing in an archive chooses a path. Only the client runs
 * compilers.
 */
#include "proto/bytes.h"
#include "proto/diag.h"

struct msd_linker {
	char dir[256];        /* empty: nothing to remove */
	unsigned n;           /* pieces so far */
	struct msd_buf words; /* the pieces' names, each with its NUL */
};

/** Make the directory. End with msd_linker_close() in any case. Errors: MSD_IO. */
MSD_MUST_CHECK msd_err msd_linker_open(struct msd_linker *l, struct msd_diag *d);
/** Add a piece; @suffix is ".o", ".c" or ".S". Errors: MSD_IO, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_linker_add(struct msd_linker *l, const char *suffix,
				      struct msd_span data, struct msd_diag *d);
/** Add @data as the object that @symbol names. Errors: the same. */
MSD_MUST_CHECK msd_err msd_linker_add_data(struct msd_linker *l, const char *symbol,
					   struct msd_span data, struct msd_diag *d);
/**
 * Run the compiler and append the library to @ret. Errors: MSD_UNSUPPORTED (no
 * compiler here), MSD_BAD_ARTIFACT (what the compiler says), MSD_IO, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_linker_link(struct msd_linker *l, struct msd_buf *ret,
				       struct msd_diag *d);
void msd_linker_close(struct msd_linker *l);

#endif
