#include "daemon/mark.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void lower(int what, uint64_t most)
{
	const struct rlimit limit = {most, most};

	(void)setrlimit(what, &limit);
}

void msd_mark_set(void)
{
	const char *text = getenv(MSD_MARK_VARIABLE);
	char *end = NULL;

	if (text == NULL)
		return;
	const uint64_t falls = strtoull(text, &end, 10);
	if (end != text && *end == ',') {
		lower(RLIMIT_RTTIME, falls);
		lower(RLIMIT_LOCKS, strtoull(end + 1, NULL, 10));
	}
	(void)unsetenv(MSD_MARK_VARIABLE);
}

/* The file is at most one page, so one read is enough. */
static bool read_limits(pid_t pid, char *ret, size_t size)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/limits", (int)pid);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	const ssize_t n = read(fd, ret, size - 1);
	(void)close(fd);
	ret[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* For another user's process, only /proc has the limit. */
static bool read_hard(pid_t pid, const char *name, uint64_t *ret)
{
	char text[4096], hard[24];

	if (!read_limits(pid, text, sizeof(text)))
		return false;
	const char *line = strstr(text, name);
	if (line == NULL || sscanf(line + strlen(name), "%*s %23s", hard) != 1)
		return false;
	*ret = strcmp(hard, "unlimited") == 0 ? RLIM_INFINITY
					      : strtoull(hard, NULL, 10);
	return true;
}

bool msd_mark_of(pid_t pid, struct msd_mark *ret)
{
	struct rlimit falls, rises;

	if (prlimit(pid, RLIMIT_RTTIME, NULL, &falls) != 0 ||
	    prlimit(pid, RLIMIT_LOCKS, NULL, &rises) != 0) {
		return errno == EPERM &&
		       read_hard(pid, "Max realtime timeout", &ret->falls) &&
		       read_hard(pid, "Max file locks", &ret->rises);
	}
	*ret = (struct msd_mark){falls.rlim_max, rises.rlim_max};
	return true;
}

void msd_mark_confine(void)
{
	lower(RLIMIT_MSGQUEUE, 0);
}

bool msd_mark_is_confined(pid_t pid, bool *ret)
{
	struct rlimit limit;
	uint64_t hard;

	if (prlimit(pid, RLIMIT_MSGQUEUE, NULL, &limit) == 0) {
		hard = limit.rlim_max;
	} else if (errno != EPERM || !read_hard(pid, "Max msgqueue size", &hard)) {
		return false;
	}
	*ret = hard == 0;
	return true;
}
