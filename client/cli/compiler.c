/*
 * Happy path: a folder below $TMPDIR; what is to be read is written there; the command
 * is $CC's or --cc's words and ours; it is spawned in a group of its own, its output
 * into a file there; when it has ended well, what it made is read or moved away.
 *
 * Failures: of what it said the line that tells the cause is quoted; a signal that
 * would end us ends the compiler first.
 */
#include "client/cli/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/cli/confine.h"
#include "client/cli/print.h"
#include "client/cli/report.h"

#define MAX_CC_WORDS 64u
#define MAX_CAUSE 400 /* bytes of the line that says why */
#define WALK_FDS 16

extern char **environ;

/* The signals that wait; with a child's end, for which the run waits. Those that
 * whoever started us wants ignored stay so. */
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
	/* the assembler is told the path within quotes */
	if (!fits || strpbrk(path, "\"\\\n") != NULL) {
		return msd_diag_set(d, MSD_IO,
				    "TMPDIR: too long, or with quotes in its name");
	}
	list_signals(&set);
	(void)signal(SIGCHLD, SIG_DFL); /* who ignores it has no children to wait for */
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

/* The command: @cc's words, cut in place, and ours. NULL when memory is short. */
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

/* Its own temporary files go to the folder, too. NULL when memory is short. */
static char **make_environment(char *tmpdir)
{
	size_t n = 0;
	size_t kept = 0;

	while (environ[n] != NULL)
		n++;
	char **all = calloc(n + 2, sizeof(*all));
	if (all == NULL)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if (strncmp(environ[i], "TMPDIR=", 7) != 0)
			all[kept++] = environ[i];
	}
	all[kept] = tmpdir;
	return all;
}

/* What it says goes to the file "said"; a terminal's signals reach it through us. */
static int spawn(const struct msd_compiler *c, char **words, char **environment,
		 pid_t *ret)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	char said[MSD_COMPILER_PATH_BYTES];
	sigset_t defaults;

	msd_compiler_path(c, "said", said);
	(void)sigemptyset(&defaults);
	(void)sigaddset(&defaults, SIGPIPE);
	int error = posix_spawn_file_actions_init(&actions);
	if (error != 0)
		return error;
	error = posix_spawnattr_init(&attributes);
	if (error == 0) {
		(void)posix_spawnattr_setflags(
			&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
					     POSIX_SPAWN_SETSIGDEF);
		(void)posix_spawnattr_setpgroup(&attributes, 0);
		(void)posix_spawnattr_setsigmask(&attributes, &c->before);
		(void)posix_spawnattr_setsigdefault(&attributes, &defaults);
		error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null",
							 O_RDONLY, 0);
		if (error == 0) {
			error = posix_spawn_file_actions_addopen(
				&actions, 1, said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		}
		if (error == 0)
			error = posix_spawn_file_actions_adddup2(&actions, 1, 2);
		if (error == 0) {
			error = posix_spawnp(ret, words[0], &actions, &attributes,
					     words, environment);
		}
		(void)posix_spawnattr_destroy(&attributes);
	}
	(void)posix_spawn_file_actions_destroy(&actions);
	return error;
}

struct confined {
	const struct msd_compiler *c;
	char **words, **environment;
	pid_t pid;
	bool is_confined;
	int error;
};

static void *spawn_from_thread(void *arg)
{
	struct confined *job = arg;

	const struct msd_confine confine = {.dir = job->c->dir,
					    .tool = job->words[0],
					    .folder = job->c->folder,
					    .files = job->c->files,
					    .n_files = job->c->n_files};

	job->error = msd_confine_thread(&confine);
	if (job->error != 0)
		return NULL;
	job->is_confined = true;
	job->error = spawn(job->c, job->words, job->environment, &job->pid);
	return NULL;
}

/* From a thread that is confined for good: this one goes on as it was. */
static int spawn_confined(const struct msd_compiler *c, char **words,
			  char **environment, bool *ret_is_confined, pid_t *ret)
{
	struct confined job = {.c = c, .words = words, .environment = environment};
	pthread_t thread;
	int error = pthread_create(&thread, NULL, spawn_from_thread, &job);

	if (error == 0)
		error = pthread_join(thread, NULL);
	*ret_is_confined = error == 0 && job.is_confined;
	*ret = job.pid;
	return error == 0 ? job.error : error;
}

/* Its end, and the signal that asked for it. The first one is passed on politely. */
static int wait_for(pid_t pid, int *ret_status, int *ret_signal)
{
	sigset_t set;

	list_signals(&set);
	for (;;) {
		int signal = sigwaitinfo(&set, NULL);

		if (signal < 0 && errno != EINTR)
			return errno;
		if (signal > 0 && signal != SIGCHLD) {
			(void)kill(-pid, *ret_signal == 0 ? SIGTERM : SIGKILL);
			*ret_signal = signal;
		}
		pid_t ended = waitpid(pid, ret_status, WNOHANG);
		if (ended == pid)
			return 0;
		if (ended < 0 && errno != EINTR)
			return errno;
	}
}

/* Everything that it said, for people, and why it failed. */
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
	if (!is_ok) {
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

static msd_err run(const struct msd_compiler *c, char **words, struct msd_diag *d)
{
	const char *cc = words[0];
	pid_t pid = 0;
	int status = 0;
	int interrupt = 0;
	char tmpdir[sizeof("TMPDIR=") + sizeof(c->dir)];

	if (cc == NULL)
		return msd_diag_set(d, MSD_BAD_REQUEST, "no C compiler was named");
	(void)snprintf(tmpdir, sizeof(tmpdir), "TMPDIR=%s", c->dir);
	char **environment = make_environment(tmpdir);
	bool is_safe = !c->is_confined;
	int error = ENOMEM;
	if (environment != NULL && is_safe) {
		error = spawn(c, words, environment, &pid);
	} else if (environment != NULL) {
		error = spawn_confined(c, words, environment, &is_safe, &pid);
	}
	free(environment);
	if (!is_safe) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "its code can take in any file of yours, and this "
				    "kernel cannot keep %s from that (Landlock: %s); "
				    "compile it elsewhere, or, if you trust who wrote "
				    "it, with MODSER_TRUST_SOURCES=1",
				    cc, strerror(error));
	}

	if (error == 0)
		error = wait_for(pid, &status, &interrupt);
	if (error == ENOENT || error == EACCES ||
	    (error == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127)) {
		return msd_diag_set(d, MSD_UNSUPPORTED, "no C compiler %s here; %s", cc,
				    c->advice != NULL ? c->advice
						      : "name another with --cc");
	}
	if (error != 0)
		return msd_diag_set(d, MSD_IO, "%s: %s", cc, strerror(error));
	if (interrupt == 0)
		return tell(c, cc, status, d);
	(void)raise(interrupt); /* it waits until the folder is gone */
	return msd_diag_set(d, MSD_IO, "%s was interrupted", cc);
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
