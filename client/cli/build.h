#ifndef MSD_CLI_BUILD_H
#define MSD_CLI_BUILD_H
/*
 * A blob as C source, as an object, or linked with host code: what the C compiler and
 * its assembler do.
 */
#include "artifact/elf/era.h"
#include "client/cli/compiler.h"

struct msd_build {
	const char
		*cc; /* command with its options, "aarch64-linux-gnu-gcc -O2"; or NULL
		      */
	enum msd_era era;       /* names the blob's symbol */
	const char *prefix;     /* in front of it; "" */
	bool is_system_library; /* register the blob when the program starts */
	struct msd_span blob;   /* empty: host code alone */
	char **objects;         /* objects, archives, C sources */
	size_t n_objects;
	const char *const *libraries; /* "m" for -lm */
	size_t n_libraries;
	/* Where a manifest lies that names some of them: then a stranger's code is
	 * compiled. NULL: all are the user's own. */
	const char *folder;
	size_t large_bytes; /* above, the blob is in a large section; 0: 1 GiB */
};

/** Append the C source that holds the blob as an array. Errors: MSD_BAD_REQUEST: the
 * prefix is no identifier; MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_build_source(const struct msd_build *b, struct msd_buf *out,
					struct msd_diag *d);
/** Write the blob and a source that includes it for @c, and add that to its command.
 * Errors: MSD_IO, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_build_add_blob(const struct msd_build *b,
					  struct msd_compiler *c, struct msd_diag *d);
/**
 * Compile into the shared library, or the relocatable object, @out. Errors:
 * MSD_BAD_REQUEST: the prefix; those of msd_compiler_run(); MSD_IO: files.
 */
MSD_MUST_CHECK msd_err msd_build_library(const struct msd_build *b, const char *out,
					 struct msd_diag *d);
MSD_MUST_CHECK msd_err msd_build_object(const struct msd_build *b, const char *out,
					struct msd_diag *d);

#endif
