#include "daemon/child/start.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One block: the addresses, then the words. NULL: no memory. */
static char **copy_words(char *const *words)
{
	size_t n = 0, bytes = 0;

	for (; words[n] != NULL; n++)
		bytes += strlen(words[n]) + 1;
	char **ret = malloc((n + 1) * sizeof(*ret) + bytes);
	if (ret == NULL)
		return NULL;
	char *at = (char *)(ret + n + 1);
	for (size_t i = 0; i < n; i++) {
		ret[i] = at;
		at = stpcpy(at, words[i]) + 1;
	}
	ret[n] = NULL;
	return ret;
}

static void close_copies(struct msd_spawn_thread_how *how)
{
	for (unsigned i = 0; i < how->n_fds; i++) {
		if (how->fds[i] >= 0)
			(void)close(how->fds[i]);
	}
	how->n_fds = 0;
}

void msd_start_free(struct msd_start *start)
{
	close_copies(&start->birth.how);
	free(start->birth.how.argv);
	free(start->birth.how.environment);
	free(start);
}

int msd_start_copy(struct msd_start *start, const struct msd_spawn_thread_how *how)
{
	struct msd_spawn_thread_how *to = &start->birth.how;

	to->argv = copy_words(how->argv);
	to->environment = copy_words(how->environment);
	if (to->argv == NULL || to->environment == NULL)
		return ENOMEM;
	if (how->user != NULL) {
		start->child_user = *how->user;
		to->user = &start->child_user;
	}
	for (unsigned i = 0; i < how->n_fds; i++) {
		to->fds[i] =
			how->fds[i] >= 0 ? fcntl(how->fds[i], F_DUPFD_CLOEXEC, 3) : -1;
		if (how->fds[i] >= 0 && to->fds[i] < 0)
			return errno;
		to->n_fds = i + 1;
	}
	return 0;
}

pid_t msd_start_born(const struct msd_start *start)
{
	return __atomic_load_n(&start->birth.born, __ATOMIC_RELAXED);
}
