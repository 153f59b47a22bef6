/*
 * Happy path: creates a folder below $TMPDIR and writes the inputs there. The command
 * consists of the words of $CC or --cc and the program's own. It runs
 * (compiler_process.h) with its output in a file of the folder. On success the
 * product is read or moved away.
 *
 * Failures: the error quotes the line of the output that gives the cause. A signal
 * that would end this program ends the compiler first.
 */
#include "client/build/compiler.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/build/compiler_process.h"
#include "client/build/confine.h"
#include "client/cli/values/print.h"
#include "client/cli/verbs/report.h"

#define MAX_CC_WORDS 64u
#define MAX_CAUSE 400 /* bytes of the quoted line */
#define WALK_FDS 16

extern char **environ;

/* The signals that are delayed, and SIGCHLD, which the run waits for. Signals that
 * the parent process set to ignored stay ignored. */
static void list_signals(sigset_t *set)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM};

	(void)sigemptyset(set);
	(void)sigaddset(set, SIGCHLD);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct sigaction now;

		if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			(void)sigaddset(set, ends[i]);
	}
}

msd_err msd_compiler_open(struct msd_compiler *c, struct msd_diag *d)
{
	const char *tmp = getenv("TMPDIR");
	char path[sizeof(c->dir)];
	sigset_t set;

	c->dir[0] = '\0';
	c->words = (struct msd_buf){0};
	c->n_words = 0;
	c->is_open = false;
	char *base = realpath(tmp != NULL && tmp[0] != '\0' ? tmp : "/tmp", NULL);
	if (base == NULL)
		return msd_diag_set(d, MSD_IO, "TMPDIR: %s", strerror(errno));
	bool fits = (size_t)snprintf(path, sizeof(path), "%s/modser.XXXXXX", base) <
		    sizeof(path);
	free(base);
	/* the path is quoted in the assembler source */
	if (!fits || strpbrk(path, "\"\\\n") != NULL) {
		return msd_diag_set(d, MSD_IO,
				    "TMPDIR: too long, or with quotes in its name");
	}
	list_signals(&set);
	(void)signal(SIGCHLD,
		     SIG_DFL); /* with SIG_IGN a parent cannot wait for children */
	(void)sigprocmask(SIG_BLOCK, &set, &c->before);
	c->is_open = true;
	if (mkdtemp(path) == NULL)
		return msd_diag_set(d, MSD_IO, "%s: %s", path, strerror(errno));
	(void)memcpy(c->dir, path, sizeof(path));
	return MSD_OK;
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	(void)remove(path);
	return 0;
}

void msd_compiler_close(struct msd_compiler *c)
{
	if (c->dir[0] != '\0')
		(void)nftw(c->dir, remove_one, WALK_FDS, FTW_DEPTH | FTW_PHYS);
	msd_buf_finish(&c->words);
	if (c->is_open)
		(void)sigprocmask(SIG_SETMASK, &c->before, NULL);
	*c = (struct msd_compiler){0};
}

void msd_compiler_add(struct msd_compiler *c, const char *word)
{
	msd_buf_put(&c->words, word, strlen(word) + 1);
	c->n_words++;
}

void msd_compiler_add_file(struct msd_compiler *c, const char *before, const char *name)
{
	char path[MSD_COMPILER_PATH_BYTES];

	msd_compiler_path(c, name, path);
	msd_buf_put(&c->words, before, strlen(before));
	msd_compiler_add(c, path);
}

void msd_compiler_add_library(struct msd_compiler *c, const char *name)
{
	msd_buf_put(&c->words, "-l", 2);
	msd_compiler_add(c, name);
}

/* Build the command: the words of @cc, split in place, and the program's own. NULL:
 * out of memory. */
static char **make_command(const struct msd_compiler *c, char *cc)
{
	char **words = calloc(MAX_CC_WORDS + c->n_words + 1, sizeof(*words));
	char *save = NULL;
	size_t n = 0;

	if (words == NULL || c->words.bad) {
		free(words);
		return NULL;
	}
	for (char *w = strtok_r(cc, " \t", &save); w != NULL && n < MAX_CC_WORDS;
	     w = strtok_r(NULL, " \t", &save))
		words[n++] = w;
	for (char *at = (char *)c->words.p; at < (char *)c->words.p + c->words.n;
	     at += strlen(at) + 1)
		words[n++] = at;
	return words;
}

/* Set TMPDIR to the folder for the compiler's temporary files, and the language that
 * compiler_cause.c parses. NULL: out of memory. */
static char **make_environment(char *tmpdir)
{
	static char english[] = "LC_ALL=C.UTF-8";
	size_t n = 0;
	size_t kept = 0;

	while (environ[n] != NULL)
		n++;
	char **all = calloc(n + 3, sizeof(*all));
	if (all == NULL)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if (strncmp(environ[i], "TMPDIR=", 7) != 0 &&
		    strncmp(environ[i], "LC_ALL=", 7) != 0)
			all[kept++] = environ[i];
	}
	all[kept++] = tmpdir;
	all[kept] = english;
	return all;
}

#define MIB (UINT64_C(1) << 20)

/* Report the bound that stopped the compiler; MSD_OK: none did. */
static msd_err tell_overrun(const struct msd_compiler *c, const char *cc, int status,
			    struct msd_span said, struct msd_diag *d)
{
	struct msd_compiler_bounds b;
	char what[96] = "";

	if (!c->is_confined)
		return MSD_OK;
	msd_compiler_bounds_get(&b);
	switch (msd_compiler_overrun(WIFSIGNALED(status) ? WTERMSIG(status) : 0,
				     said)) {
	case MSD_COMPILER_CPU:
		(void)snprintf(what, sizeof(what), "%" PRIu64 " s of processor time",
			       b.cpu_s);
		break;
	case MSD_COMPILER_MEMORY:
		(void)snprintf(what, sizeof(what), "%" PRIu64 " MiB of memory",
			       b.memory_bytes / MIB);
		break;
	case MSD_COMPILER_FILE:
		(void)snprintf(what, sizeof(what), "%" PRIu64 " MiB for one file",
			       b.file_bytes / MIB);
		break;
	case MSD_COMPILER_WITHIN:
	default:
		return MSD_OK;
	}
	return msd_diag_set(
		d, MSD_BAD_ARTIFACT,
		"the compiler %s needed more than %s, the limit for foreign sources; "
		"if you trust the author, compile with MODSER_TRUST_SOURCES=1",
		cc, what);
}

/* Print the compiler's complete output, and report why it failed. */
static msd_err tell(const struct msd_compiler *c, const char *cc, int status,
		    struct msd_diag *d)
{
	bool is_ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	struct msd_buf said = {0};
	struct msd_buf out = {0};
	msd_err err = MSD_OK;

	if (msd_compiler_read(c, "said", &said, NULL) != MSD_OK)
		said.n = 0;
	if (said.n > 0 && !msd_report_is_json()) {
		msd_print_text(&out, (const char *)said.p, said.n);
		msd_print_flush_to(&out, stderr);
	}
	if (!is_ok)
		err = tell_overrun(c, cc, status, (struct msd_span){said.p, said.n}, d);
	if (!is_ok && err == MSD_OK) {
		struct msd_span why =
			msd_compiler_cause((struct msd_span){said.p, said.n});
		const msd_err of =
			WIFEXITED(status) ? MSD_BAD_ARTIFACT : MSD_CALL_FAILED;

		err = msd_diag_set(
			d, of, "%s failed (%s %d)%s%.*s%s", cc,
			WIFEXITED(status) ? "status" : "signal",
			WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status),
			why.n > 0 ? ": " : "",
			(int)(why.n < MAX_CAUSE ? why.n : MAX_CAUSE),
			why.n > 0 ? (const char *)why.p : "", msd_compiler_advice(why));
	}
	msd_buf_finish(&said);
	msd_buf_finish(&out);
	return err;
}

static msd_err refuse_unconfined(const char *cc, int error, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_UNSUPPORTED,
			    "its code can include any of your files, and this kernel "
			    "cannot stop %s (Landlock: %s); compile it elsewhere, or, "
			    "if you trust the author, with MODSER_TRUST_SOURCES=1",
			    cc, strerror(error));
}

static msd_err run_command(const struct msd_compiler *c, char **words,
			   char **environment, struct msd_diag *d)
{
	const struct msd_confine confine = {.dir = c->dir,
					    .tool = words[0],
					    .folder = c->folder,
					    .files = c->files,
					    .n_files = c->n_files};
	char said[MSD_COMPILER_PATH_BYTES];
	const struct msd_compiler_job job = {.words = words,
					     .environment = environment,
					     .said = said,
					     .mask = &c->before,
					     .confine =
						     c->is_confined ? &confine : NULL};
	const char *cc = words[0];
	struct msd_compiler_end end;
	sigset_t ends;

	msd_compiler_path(c, "said", said);
	list_signals(&ends);
	int error = msd_compiler_process_run(&job, &ends, &end);
	if (error == 0 && end.error != 0 && !end.is_confined)
		return refuse_unconfined(cc, end.error, d);
	if (error == 0)
		error = end.error;
	if (error == ENOENT || error == EACCES ||
	    (error == 0 && WIFEXITED(end.status) && WEXITSTATUS(end.status) == 127)) {
		return msd_diag_set(d, MSD_UNSUPPORTED, "no C compiler %s here; %s", cc,
				    c->advice != NULL ? c->advice
						      : "name another with --cc");
	}
	if (error != 0)
		return msd_diag_set(d, MSD_IO, "%s: %s", cc, strerror(error));
	if (end.interrupt == 0)
		return tell(c, cc, end.status, d);
	(void)raise(end.interrupt); /* delayed until the folder is removed */
	return msd_diag_set(d, MSD_IO, "%s was interrupted", cc);
}

static msd_err run(const struct msd_compiler *c, char **words, struct msd_diag *d)
{
	char tmpdir[sizeof("TMPDIR=") + sizeof(c->dir)];

	if (words[0] == NULL)
		return msd_diag_set(d, MSD_BAD_REQUEST, "no C compiler was named");
	(void)snprintf(tmpdir, sizeof(tmpdir), "TMPDIR=%s", c->dir);
	char **environment = make_environment(tmpdir);
	const msd_err err = environment != NULL ? run_command(c, words, environment, d)
						: msd_diag_no_memory(d);

	free(environment);
	return err;
}

msd_err msd_compiler_run(struct msd_compiler *c, const char *cc, struct msd_diag *d)
{
	if (cc == NULL)
		cc = getenv("CC");
	if (cc == NULL || cc[strspn(cc, " \t")] == '\0')
		cc = "cc";
	char *copy = strdup(cc);
	char **words = copy != NULL ? make_command(c, copy) : NULL;
	msd_err err = words != NULL ? run(c, words, d) : msd_diag_no_memory(d);

	free(words);
	free(copy);
	return err;
}
