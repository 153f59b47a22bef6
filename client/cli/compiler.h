#ifndef MSD_CLI_COMPILER_H
#define MSD_CLI_COMPILER_H
/*
 * The system's C compiler, started without a shell in a process group of its own, and
 * a folder below $TMPDIR for what it reads and writes. From open to close signals that
 * end this program wait: one that comes while the compiler runs ends the compiler
 * first, and close removes the folder before the signal has its way. Only the client
 * runs compilers.
 */
#include <signal.h>

#include "proto/bytes.h"
#include "proto/diag.h"

struct msd_compiler {
	char dir[256];        /* absolute; empty: nothing to remove */
	struct msd_buf words; /* of the command, behind the compiler's, each with NUL */
	size_t n_words;
	const char *advice; /* what to do where there is no compiler; NULL: --cc */
	sigset_t before;    /* the signals that were blocked before */
	bool is_open;
	/* It compiles what a stranger wrote (confine.h), and may read these besides: a
	 * folder, NULL for none, and files. Borrowed. */
	bool is_confined;
	const char *folder;
	char *const *files;
	size_t n_files;
};

/** Make the folder; what may be read, and the advice, are set before. End with
 * msd_compiler_close() in any case. Errors: MSD_IO. */
MSD_MUST_CHECK msd_err msd_compiler_open(struct msd_compiler *c, struct msd_diag *d);
#define MSD_COMPILER_PATH_BYTES 512
/** The folder's file @name. */
void msd_compiler_path(const struct msd_compiler *c, const char *name,
		       char path[static MSD_COMPILER_PATH_BYTES]);
/** Write @data as the file @name of the folder. Errors: MSD_IO. */
MSD_MUST_CHECK msd_err msd_compiler_write(const struct msd_compiler *c,
					  const char *name, struct msd_span data,
					  struct msd_diag *d);
/** Append a word to the command; memory that is short shows in the run. */
void msd_compiler_add(struct msd_compiler *c, const char *word);
/** The same for @before directly followed by the path of the folder's file @name. */
void msd_compiler_add_file(struct msd_compiler *c, const char *before,
			   const char *name);
/**
 * Run @cc, a command with its options; NULL: $CC, else cc. What it says goes to
 * standard error. Errors: MSD_UNSUPPORTED: no such compiler; MSD_BAD_ARTIFACT: it
 * refuses what it was given, with the line that says why; MSD_CALL_FAILED: it was
 * killed; MSD_BAD_REQUEST, MSD_IO, MSD_NOMEM.
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

/** Within @said, the line that says why: the first that speaks of an error, or the
 * last.
 */
struct msd_span msd_compiler_cause(struct msd_span said);
/** Add library @name, "m" for -lm, to its command; behind what needs it. */
void msd_compiler_add_library(struct msd_compiler *c, const char *name);
enum msd_compiler_bound {
	MSD_COMPILER_WITHIN, /* none of them */
	MSD_COMPILER_CPU,
	MSD_COMPILER_MEMORY,
	MSD_COMPILER_FILE
};
/** Which bound (compiler_process.h) stopped a compiler that @signal has ended, 0 for
 * none, and that said @said of itself and of what it started. */
enum msd_compiler_bound msd_compiler_overrun(int signal, struct msd_span said);
/** What helps against @cause, to be put behind it; "": nothing is known. Static. */
const char *msd_compiler_advice(struct msd_span cause);

#endif
