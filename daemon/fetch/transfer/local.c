/*
 * Happy path: a thread opens the file, checks its type and copies it into the
 * download buffer. For a restricted requester, the resolved path is checked before
 * the file is opened for reading. Failures: the error names the file. A refusal to
 * such a requester reveals nothing about the file.
 */
#include "daemon/fetch/transfer/local.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/fetch/transfer/download_buffer.h"
#include "daemon/fetch/transfer/network_options.h"
#include "daemon/loop/list.h"
#include "proto/base/errno_text.h"

#define READ_BYTES (256u * 1024u) /* per read */

static msd_err fault(const struct msd_local *l, int error, struct msd_diag *d)
{
	char text[MSD_ERRNO_TEXT_BYTES];

	return msd_diag_set(d, error == ENOENT ? MSD_NOT_FOUND : MSD_IO,
			    "file://%s: %s", l->path, msd_errno_text(error, text));
}

/* Also used if the file does not exist, so the requester cannot probe for files. */
static msd_err refuse(const struct msd_local *l, struct msd_diag *d)
{
	struct msd_uri at = {.scheme = MSD_SCHEME_FILE};

	(void)snprintf(at.shown, sizeof(at.shown), "file://%s", l->path);
	return msd_network_options_refuse(&at, d);
}

/* Resolve the path with all links and open the file if the requester may read it. The
 * descriptor stays with that file even if the path changes meanwhile. */
static int open_bounded(const struct msd_local *l, bool *ret_refused)
{
	char link[sizeof("/proc/self/fd/") + 3 * sizeof(int)], resolved[PATH_MAX + 1];
	const int place = open(l->path, O_PATH | O_CLOEXEC);
	ssize_t n = -1;
	int fd = -1;

	if (place >= 0) {
		(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
		n = readlink(link, resolved, sizeof(resolved) - 1);
	}
	resolved[n < 0 ? 0 : n] = '\0';
	*ret_refused = n < 0 || !msd_network_options_is_free_path(l->reach, resolved);
	if (!*ret_refused)
		fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const int error = errno;
	if (place >= 0)
		(void)close(place);
	errno = error;
	return fd;
}

static int open_file(const struct msd_local *l, bool *ret_refused)
{
	*ret_refused = false;
	return l->reach->is_bounded ? open_bounded(l, ret_refused)
				    : open(l->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static msd_err copy(struct msd_local *l, int fd, uint8_t *buffer, struct msd_diag *d)
{
	for (;;) {
		const ssize_t n = read(fd, buffer, READ_BYTES);

		if (atomic_load(&l->is_unwanted))
			return msd_diag_set(d, MSD_CANCELLED, "cancelled");
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fault(l, errno, d);
		if (n == 0)
			return MSD_OK;
		const struct msd_span bytes = {buffer, (size_t)n};
		const msd_err err = msd_download_buffer_append(l->landing, bytes, d);
		if (err != MSD_OK)
			return msd_diag_wrap(d, err, "file://%s", l->path);
		atomic_store(&l->bytes, l->landing->bytes);
	}
}

/* Accept regular files only: a pipe or a device may have no end. */
static msd_err check_kind(struct msd_local *l, int fd, struct msd_diag *d)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return fault(l, errno, d);
	if (!S_ISREG(st.st_mode)) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "file://%s: it is not a file",
				    l->path);
	}
	atomic_store(&l->total_bytes, (uint64_t)st.st_size);
	const msd_err err =
		msd_download_buffer_expect(l->landing, (uint64_t)st.st_size, d);

	return err == MSD_OK ? err : msd_diag_wrap(d, err, "file://%s", l->path);
}

static void on_work(struct msd_work *waiter)
{
	struct msd_local *l = MSD_CONTAINER_OF(waiter, struct msd_local, waiter);
	uint8_t *buffer = malloc(READ_BYTES);
	bool is_refused;
	const int fd = open_file(l, &is_refused);

	if (buffer == NULL) {
		l->err = msd_diag_no_memory(&l->d);
	} else if (is_refused) {
		l->err = refuse(l, &l->d);
	} else if (fd < 0) {
		l->err = fault(l, errno, &l->d);
	} else {
		l->err = check_kind(l, fd, &l->d);
		if (l->err == MSD_OK)
			l->err = copy(l, fd, buffer, &l->d);
	}
	free(buffer);
	if (fd >= 0)
		(void)close(fd);
}

static void on_worked(struct msd_work *waiter)
{
	struct msd_local *l = MSD_CONTAINER_OF(waiter, struct msd_local, waiter);
	struct msd_diag d = l->d;

	l->d = (struct msd_diag){0};
	free(l->path);
	l->path = NULL;
	l->on_done(l, l->err, &d);
	msd_diag_finish(&d);
}

void msd_local_begin(struct msd_local *l, uv_loop_t *loop)
{
	l->waiter = (struct msd_work){
		.run = on_work, .done = on_worked, .lane = &msd_download_threads};
	msd_work_begin(loop, &l->waiter);
}

void msd_local_cancel(struct msd_local *l)
{
	atomic_store(&l->is_unwanted, true);
}
