#ifndef MSD_CLI_LINKER_H
#define MSD_CLI_LINKER_H
/*
 * Links a shared library from the files of an archive: objects, C sources and a blob.
 * The linker chooses the file names. The archive only chooses the name of a header,
 * in a folder that is searched after the program's own.
 */
#include "artifact/elf/era.h"
#include "client/build/compiler.h"

struct msd_cli;

struct msd_linker {
	const struct msd_cli *cli; /* or NULL */
	struct msd_compiler compiler;
	unsigned n; /* files so far */
};

/**
 * Create the folder. @cli has the libraries to link with; NULL: none. End with
 * msd_linker_close() in any case. Errors: MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_linker_open(struct msd_linker *l, const struct msd_cli *cli,
				       struct msd_diag *d);
/** Add a file; @suffix is ".o" or ".c". Errors: MSD_IO, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_linker_add(struct msd_linker *l, const char *suffix,
				      struct msd_span data, struct msd_diag *d);
/**
 * Add an object, called @path in error texts. The file is checked, because a linker
 * treats other files as scripts, which may name any file of the system.
 * MSD_BAD_ARTIFACT: not an object.
 */
MSD_MUST_CHECK msd_err msd_linker_add_object(struct msd_linker *l, const char *path,
					     struct msd_span data, struct msd_diag *d);
/**
 * Add a header called @name for the C sources. A name with a folder is ignored.
 * Errors: MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_linker_add_header(const struct msd_linker *l,
					     const char *name, struct msd_span data,
					     struct msd_diag *d);
/** Add @data under the blob symbol of @era. Errors: the same. */
MSD_MUST_CHECK msd_err msd_linker_add_blob(struct msd_linker *l, enum msd_era era,
					   struct msd_span data, struct msd_diag *d);
/** Run the compiler and append the library to @ret. Errors: those of
 * msd_compiler_run(). */
MSD_MUST_CHECK msd_err msd_linker_link(struct msd_linker *l, struct msd_buf *ret,
				       struct msd_diag *d);
void msd_linker_close(struct msd_linker *l);

#endif
