#include "store/program.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/errno_text.h"

#define SAID_BYTES 4096u

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* Read the output until its end. Also read the part that does not fit: a program with
 * a full pipe would block, and this process would wait for it. */
static void hear(int fd, char said[static SAID_BYTES])
{
	char more[SAID_BYTES];
	size_t n = 0;
	ssize_t got;

	do {
		const size_t room = SAID_BYTES - 1 - n;

		got = room > 0 ? read(fd, said + n, room)
			       : read(fd, more, sizeof(more));
		n += got > 0 && room > 0 ? (size_t)got : 0;
	} while (got > 0 || (got < 0 && errno == EINTR));
	said[n] = '\0';
}

/* True if @word is the name of a code; unknown names also map to MSD_INTERNAL. */
static bool is_code(const char *word)
{
	const msd_err err = msd_err_from_name(word);

	return strcmp(word, msd_err_name(err)) == 0;
}

static msd_err read_said(const char *path, char *said, int status, struct msd_diag *d)
{
	char *end = said + strcspn(said, "\n");
	char *space;

	*end = '\0';
	space = strchr(said, ' ');
	if (space != NULL) {
		*space = '\0';
		if (is_code(said)) {
			return msd_diag_set(d, msd_err_from_name(said), "%s",
					    space + 1);
		}
		*space = ' ';
	}
	if (WIFSIGNALED(status)) {
		const char *signal = sigabbrev_np(WTERMSIG(status));

		return msd_diag_set(d, MSD_INTERNAL, "%s died: signal %s: %s",
				    name_of(path), signal != NULL ? signal : "?", said);
	}
	return msd_diag_set(d, MSD_INTERNAL, "%s died: status %d: %s", name_of(path),
			    WEXITSTATUS(status), said);
}

/* Start with standard error to @to. Returns an errno, or 0. */
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

msd_err msd_program_run(char *const *words, struct msd_diag *d)
{
	char said[SAID_BYTES], text[MSD_ERRNO_TEXT_BYTES];
	int ends[2], status = 0;
	pid_t pid = -1;

	if (pipe2(ends, O_CLOEXEC) != 0) {
		return msd_diag_set(d, MSD_IO, "a pipe for %s: %s", name_of(words[0]),
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
	return status == 0 ? MSD_OK : read_said(words[0], said, status, d);
}
