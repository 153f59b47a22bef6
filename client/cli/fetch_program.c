#include "client/cli/fetch_program.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAID_BYTES 4096u

static bool find_fetch(char ret[static PATH_MAX])
{
	static const char *const places[] = {"", "../libexec/modserd/"};
	const char *given = secure_getenv("MODSERD_FETCH");
	char self[PATH_MAX - 64];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (given != NULL) {
		(void)snprintf(ret, PATH_MAX, "%s", given);
		return true;
	}
	if (n <= 0)
		return false;
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	for (unsigned i = 0; i < 2; i++) {
		(void)snprintf(ret, PATH_MAX, "%s/%smodserd-fetch", self, places[i]);
		if (access(ret, X_OK) == 0)
			return true;
	}
	return false;
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

msd_err msd_fetch_program_run(char **words, struct msd_diag *d)
{
	char program[PATH_MAX];
	posix_spawn_file_actions_t actions;
	char said[SAID_BYTES];
	int ends[2], status = 0;
	pid_t pid;

	if (!find_fetch(program)) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "modserd-fetch is neither beside modser nor in "
				    "../libexec/modserd: set MODSERD_FETCH");
	}
	words[0] = program;
	if (pipe(ends) != 0 || posix_spawn_file_actions_init(&actions) != 0)
		return msd_diag_set(d, MSD_IO, "a pipe for modserd-fetch");
	(void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
	(void)posix_spawn_file_actions_addclose(&actions, ends[0]);
	(void)posix_spawn_file_actions_addclose(&actions, ends[1]);
	const int error = posix_spawn(&pid, program, &actions, NULL, words, environ);
	words[0] = NULL;
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)close(ends[1]);
	if (error == 0) {
		hear(ends[0], said);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			continue;
	}
	(void)close(ends[0]);
	if (error != 0)
		return msd_diag_set(d, MSD_IO, "%s: %s", program, strerror(error));
	return status == 0 ? MSD_OK : read_said(said, d);
}
