#ifndef MSD_CLI_COMPILER_H
#define MSD_CLI_COMPILER_H
/*
 * Runs the system's C compiler, without a shell and in its own process group, with a
 * folder below $TMPDIR for its files. From open to close, signals that end this
 * program are blocked. A signal during a run ends the compiler first, and close
 * removes the folder before the signal is delivered. Only the client runs compilers.
 */
#include <signal.h>

#include "proto/base/bytes.h"
#include "proto/base/diag.h"

struct msd_compiler {
	char dir[256]; /* absolute; empty: nothing to remove */
	struct msd_buf
		words; /* command words after the compiler's own, each with NUL */
	size_t n_words;
	const char *advice; /* hint if there is no compiler; NULL: --cc */
	sigset_t before;    /* signals that were blocked before */
	bool is_open;
	/* The compiler runs untrusted code in a sandbox (confine.h), and may also
	 * read these: a folder, NULL for none, and files. Borrowed. */
	bool is_confined;
	const char *folder;
	char *const *files;
	size_t n_files;
};

/**
 * Create the folder; set the readable paths and the advice before. End with
 * msd_compiler_close() in any case. Errors: MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_compiler_open(struct msd_compiler *c, struct msd_diag *d);
#define MSD_COMPILER_PATH_BYTES 512
/** Path of the folder's file @name. */
void msd_compiler_path(const struct msd_compiler *c, const char *name,
		       char path[static MSD_COMPILER_PATH_BYTES]);
/** Write @data as the file @name of the folder. Errors: MSD_IO. */
MSD_MUST_CHECK msd_err msd_compiler_write(const struct msd_compiler *c,
					  const char *name, struct msd_span data,
					  struct msd_diag *d);
/** Append a word to the command; the run reports a lack of memory. */
void msd_compiler_add(struct msd_compiler *c, const char *word);
/** Append @before directly followed by the path of the folder's file @name. */
void msd_compiler_add_file(struct msd_compiler *c, const char *before,
			   const char *name);
/**
 * Run @cc, a command with options; NULL: $CC, else cc. Its output goes to standard
 * error. Errors: MSD_UNSUPPORTED: no such compiler; MSD_BAD_ARTIFACT: it rejects its
 * input, with the line that gives the cause; MSD_CALL_FAILED: it was killed;
 * MSD_BAD_REQUEST, MSD_IO, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_compiler_run(struct msd_compiler *c, const char *cc,
					struct msd_diag *d);
/** Move the folder's file @name to @path; append its bytes to @ret. Errors: MSD_IO,
 * MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_compiler_move(const struct msd_compiler *c, const char *name,
					 const char *path, struct msd_diag *d);
MSD_MUST_CHECK msd_err msd_compiler_read(const struct msd_compiler *c, const char *name,
					 struct msd_buf *ret, struct msd_diag *d);
void msd_compiler_close(struct msd_compiler *c); /* zeroed is fine */

/**
 * The line of @said that gives the cause: the first line with an error, else the
 * last.
 */
struct msd_span msd_compiler_cause(struct msd_span said);
/** Add library @name, "m" for -lm, to the command; after the files that need it. */
void msd_compiler_add_library(struct msd_compiler *c, const char *name);
enum msd_compiler_bound {
	MSD_COMPILER_WITHIN, /* no bound */
	MSD_COMPILER_CPU,
	MSD_COMPILER_MEMORY,
	MSD_COMPILER_FILE
};
/**
 * The bound (compiler_process.h) that stopped a compiler that ended with @signal, 0
 * for none; @said is the output of the compiler and its children.
 */
enum msd_compiler_bound msd_compiler_overrun(int signal, struct msd_span said);
/** Advice for @cause, to append to it; "": none. Static storage. */
const char *msd_compiler_advice(struct msd_span cause);

#endif
