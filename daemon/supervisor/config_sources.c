#include "daemon/supervisor/config_sources.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/supervisor/preload.h"
#include "proto/errno_text.h"

#define SAID_BYTES 1024u

static enum msd_policy policy_of(const struct msd_options *o,
				 const struct msd_preload *p)
{
	return p->terms.has_policy ? p->terms.policy : o->trust.trust.policy;
}

static bool is_insecure(const struct msd_options *o, const struct msd_preload *p)
{
	return p->terms.has_insecure ? p->terms.insecure : o->terms.insecure;
}

/* "CODE text", as modserd-fetch says it. */
static msd_err read_said(char *said, struct msd_diag *d)
{
	char *space = strchr(said, ' ');

	said[strcspn(said, "\n")] = '\0';
	if (space == NULL)
		return msd_diag_set(d, MSD_INTERNAL, "modserd-fetch died: %s", said);
	*space = '\0';
	return msd_diag_set(d, msd_err_from_name(said), "%s", space + 1);
}

/* What it says on standard error, until its end. */
static void hear(int fd, char said[static SAID_BYTES])
{
	size_t n = 0;
	ssize_t got;

	while (n < SAID_BYTES - 1 &&
	       (got = read(fd, said + n, SAID_BYTES - 1 - n)) != 0) {
		if (got < 0 && errno != EINTR)
			break;
		n += got > 0 ? (size_t)got : 0;
	}
	said[n] = '\0';
}

static int start(char *const *words, int to, pid_t *ret)
{
	posix_spawn_file_actions_t actions;
	int error = posix_spawn_file_actions_init(&actions);

	if (error != 0)
		return error;
	error = posix_spawn_file_actions_adddup2(&actions, to, STDERR_FILENO);
	if (error == 0)
		error = posix_spawn(ret, words[0], &actions, NULL, words, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	return error;
}

static msd_err ask(char *const *words, struct msd_diag *d)
{
	char said[SAID_BYTES], text[MSD_ERRNO_TEXT_BYTES];
	int ends[2], status = 0;
	pid_t pid = -1;

	if (pipe2(ends, O_CLOEXEC) != 0) {
		return msd_diag_set(d, MSD_IO, "a pipe for modserd-fetch: %s",
				    msd_errno_text(errno, text));
	}
	const int error = start(words, ends[1], &pid);
	(void)close(ends[1]);
	if (error == 0) {
		hear(ends[0], said);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			continue;
	}
	(void)close(ends[0]);
	if (error != 0) {
		return msd_diag_set(d, MSD_IO, "%s: %s", words[0],
				    msd_errno_text(error, text));
	}
	return status == 0 ? MSD_OK : read_said(said, d);
}

static msd_err check(const struct msd_options *o, const struct msd_preload *p,
		     const char *fetch_path, struct msd_diag *d)
{
	const char *const words[] = {fetch_path,
				     "--check",
				     p->source,
				     msd_policy_word(policy_of(o, p)),
				     is_insecure(o, p) ? "yes" : "no",
				     NULL};
	const msd_err err = ask((char *const *)(uintptr_t)words, d);

	return err == MSD_OK ? err : msd_diag_wrap(d, err, "%s: source", p->origin);
}

msd_err msd_config_check_sources(const struct msd_options *o, const char *fetch_path,
				 struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (uint32_t i = 0; err == MSD_OK && i < o->n_preloads; i++) {
		const struct msd_preload *p = &o->preloads[i];

		if (p->source == NULL)
			continue;
		if (fetch_path == NULL) {
			return msd_diag_set(d, MSD_UNSUPPORTED,
					    "%s: source: modserd-fetch is neither "
					    "beside modserd nor in "
					    "../libexec/modserd: set MODSERD_FETCH",
					    p->origin);
		}
		err = check(o, p, fetch_path, d);
	}
	return err;
}
