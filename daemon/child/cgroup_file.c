#include "daemon/child/cgroup_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int msd_cgroup_put(int dir, const char *file, const char *word)
{
	const int fd = openat(dir, file, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return errno;
	const int failed = write(fd, word, strlen(word)) < 0 ? errno : 0;
	(void)close(fd);
	return failed;
}

void msd_cgroup_get(int dir, const char *file, char *ret, size_t room)
{
	const int fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd >= 0 ? read(fd, ret, room - 1) : 0;

	ret[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		(void)close(fd);
}
