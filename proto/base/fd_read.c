#include "proto/base/fd_read.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP_BYTES ((size_t)64 * 1024) /* if the size is unknown */

msd_err msd_fd_read(int fd, size_t max_bytes, struct msd_buf *ret)
{
	struct stat st;
	size_t room = STEP_BYTES;

	/* One byte more than the file has, so that the same read sees the end. */
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
		room = (size_t)st.st_size + 1;
	for (;;) {
		if (room - 1 > max_bytes)
			room = max_bytes + 1;
		if (ret->cap == ret->n && !msd_buf_reserve(ret, room))
			return MSD_NOMEM;
		const ssize_t n = read(fd, ret->p + ret->n, ret->cap - ret->n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0 ? MSD_OK : MSD_IO;
		ret->n += (size_t)n;
		if (ret->n > max_bytes)
			return MSD_TOO_LARGE;
		room = STEP_BYTES;
	}
}
