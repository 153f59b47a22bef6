#ifndef MSD_CLI_BUILD_H
#define MSD_CLI_BUILD_H
/* Compiles a blob to C source or an object, or links it with host code, with the C
 * compiler and its assembler. */
#include "artifact/elf/era.h"
#include "client/build/compiler.h"

struct msd_build {
	const char *cc; /* command with options, "aarch64-linux-gnu-gcc -O2"; or NULL */
	enum msd_era era;       /* determines the blob's symbol */
	const char *prefix;     /* of the symbol; "" */
	bool is_system_library; /* register the blob when the program starts */
	struct msd_span blob;   /* empty: host code only */
	char **objects;         /* objects, archives, C sources */
	size_t n_objects;
	const char *const *libraries; /* "m" for -lm */
	size_t n_libraries;
	/* Folder of the manifest that names some of the files; the code is then
	 * untrusted. NULL: all files are the user's own. */
	const char *folder;
	size_t large_bytes; /* a larger blob uses a large section; 0: 1 GiB */
};

/**
 * Append the C source with the blob as an array. Errors: MSD_BAD_REQUEST: the prefix
 * is not an identifier; MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_build_source(const struct msd_build *b, struct msd_buf *out,
					struct msd_diag *d);
/**
 * Write the blob and a source that includes it to the folder of @c, and add it to the
 * command. Errors: MSD_IO, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_build_add_blob(const struct msd_build *b,
					  struct msd_compiler *c, struct msd_diag *d);
/**
 * Compile to @out, a shared library or a relocatable object. Errors: MSD_BAD_REQUEST:
 * the prefix; those of msd_compiler_run(); MSD_IO: files.
 */
MSD_MUST_CHECK msd_err msd_build_library(const struct msd_build *b, const char *out,
					 struct msd_diag *d);
MSD_MUST_CHECK msd_err msd_build_object(const struct msd_build *b, const char *out,
					struct msd_diag *d);

#endif
