/*
 * Happy path: parts are started, filled and hashed one after the other. A restart
 * truncates to the start of the last part. A part that an earlier fetch saved is
 * resumed. Failures: more bytes than the limit or the required size, or out of
 * memory.
 */
#include "daemon/fetch/transfer/download_buffer.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/segments/reserve.h"
#include "proto/base/errno_text.h"

#define CHUNK_BYTES ((size_t)64 * 1024) /* on the stack */

static msd_err fault(const char *what, struct msd_diag *d)
{
	const int error = errno;
	char text[MSD_ERRNO_TEXT_BYTES];
	const msd_err err = error == ENOSPC || error == ENOMEM ? MSD_NO_SPACE : MSD_IO;

	return msd_diag_set(d, err, "memory for the download: %s: %s", what,
			    msd_errno_text(error, text));
}

static struct msd_download_buffer *of_sink(struct msd_sink *s)
{
	return (void *)((char *)s - offsetof(struct msd_download_buffer, sink));
}

static msd_err sink_expect(struct msd_sink *s, uint64_t bytes, struct msd_diag *d)
{
	return msd_download_buffer_expect(of_sink(s), bytes, d);
}

static msd_err sink_take(struct msd_sink *s, struct msd_span bytes, struct msd_diag *d)
{
	const msd_err err = msd_download_buffer_append(of_sink(s), bytes, d);

	s->bytes = of_sink(s)->bytes - of_sink(s)->part_at;
	return err;
}

static msd_err sink_restart(struct msd_sink *s, struct msd_diag *d)
{
	s->bytes = 0;
	return msd_download_buffer_restart(of_sink(s), d);
}

struct msd_work_lane msd_download_threads =
	MSD_WORK_LANE(msd_download_threads, MSD_WORK_BULK, 0, 0);

msd_err msd_download_buffer_open(struct msd_download_buffer *l, uint64_t max_bytes,
				 struct msd_diag *d)
{
	const int fd = memfd_create("modserd-fetched", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return fault("memfd_create", d);
	*l = (struct msd_download_buffer){.sink = {.expect = sink_expect,
						   .take = sink_take,
						   .restart = sink_restart},
					  .fd = fd,
					  .max_bytes = max_bytes,
					  .limit = "max-upload-size"};
	msd_resume_file_init(&l->saved, -1, 0);
	sha256_init(&l->hash);
	l->hash_at_part = l->hash;
	return MSD_OK;
}

static msd_err too_large(const struct msd_download_buffer *l, uint64_t bytes,
			 struct msd_diag *d)
{
	return msd_diag_set(
		d, MSD_TOO_LARGE, "%llu bytes are over the limit of %llu (%s)",
		(unsigned long long)bytes, (unsigned long long)l->max_bytes, l->limit);
}

msd_err msd_download_buffer_next(struct msd_download_buffer *l, uint64_t bytes,
				 struct msd_diag *d)
{
	if (bytes > l->max_bytes - l->bytes)
		return too_large(l, bytes, d);
	msd_resume_file_drop(&l->saved);
	l->has_old = false;
	l->part_at = l->bytes;
	l->part_bytes = bytes;
	l->sink.bytes = 0;
	l->sink.is_checked = bytes > 0;
	l->hash_at_part = l->hash;
	sha256_init(&l->part_hash);
	return MSD_OK;
}

msd_err msd_download_buffer_expect(const struct msd_download_buffer *l, uint64_t bytes,
				   struct msd_diag *d)
{
	if (l->part_bytes > 0 && bytes != l->part_bytes) {
		return msd_diag_set(
			d, MSD_NOT_VERIFIED, "it has %llu bytes, expected %llu",
			(unsigned long long)bytes, (unsigned long long)l->part_bytes);
	}
	return bytes <= l->max_bytes - l->part_at ? MSD_OK : too_large(l, bytes, d);
}

static void give_back(const struct msd_download_buffer *l, uint64_t bytes)
{
	if (l->room != NULL)
		l->room->bytes -= bytes;
}

/* Charge @n bytes to all download buffers together. */
static msd_err charge(const struct msd_download_buffer *l, size_t n, struct msd_diag *d)
{
	struct msd_download_buffer_room *room = l->room;
	const uint64_t bytes = room != NULL ? atomic_fetch_add(&room->bytes, n) : 0;

	if (room == NULL || bytes + n <= room->max_bytes)
		return MSD_OK;
	give_back(l, n);
	return msd_diag_set(d, MSD_NO_SPACE,
			    "all current pulls have %llu bytes, over the limit of %llu "
			    "(max-upload-memory)",
			    (unsigned long long)bytes,
			    (unsigned long long)room->max_bytes);
}

/* Check the limits of this buffer, and charge @n bytes. */
static msd_err reserve(const struct msd_download_buffer *l, size_t n,
		       struct msd_diag *d)
{
	if (l->part_bytes > 0 && n > l->part_bytes - (l->bytes - l->part_at)) {
		return msd_diag_set(d, MSD_NOT_VERIFIED,
				    "it has more than the expected %llu bytes",
				    (unsigned long long)l->part_bytes);
	}
	if (n <= l->max_bytes - l->bytes)
		return charge(l, n, d);
	return msd_diag_set(d, MSD_TOO_LARGE,
			    "it has more than %llu bytes, the limit (%s)",
			    (unsigned long long)l->max_bytes, l->limit);
}

msd_err msd_download_buffer_append(struct msd_download_buffer *l, struct msd_span bytes,
				   struct msd_diag *d)
{
	const msd_err err = reserve(l, bytes.n, d);

	if (err != MSD_OK)
		return err;
	if (l->part_at > 0) /* the first part's hash is the hash of all */
		sha256_update(&l->part_hash, bytes.n, bytes.p);
	sha256_update(&l->hash, bytes.n, bytes.p);
	while (bytes.n > 0) {
		const ssize_t n = pwrite(l->fd, bytes.p, bytes.n, (off_t)l->bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			give_back(l, bytes.n);
			return fault("write", d);
		}
		bytes.p += n;
		bytes.n -= (size_t)n;
		l->bytes += (uint64_t)n;
	}
	msd_resume_file_put(&l->saved, l->fd, l->part_at, l->bytes - l->part_at, false);
	return MSD_OK;
}

/* Append the first @bytes of @from. */
static msd_err take_saved(struct msd_download_buffer *l, int from, uint64_t bytes,
			  struct msd_diag *d)
{
	uint8_t chunk[CHUNK_BYTES];
	msd_err err = MSD_OK;

	while (err == MSD_OK && bytes > 0) {
		const ssize_t n = read(from, chunk,
				       bytes < sizeof(chunk) ? bytes : sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) /* unreadable or shorter: as if absent */
			return msd_download_buffer_restart(l, d);
		err = msd_download_buffer_append(l, (struct msd_span){chunk, (size_t)n},
						 d);
		bytes -= (uint64_t)n;
	}
	l->has_old = err == MSD_OK;
	return err;
}

msd_err msd_download_buffer_go_on(struct msd_download_buffer *l,
				  const struct msd_digest *digest, uint64_t bytes,
				  struct msd_diag *d)
{
	uint64_t there;
	const int from = msd_resume_file_begin(&l->saved, digest, &there);
	msd_err err = MSD_OK;

	if (from < 0)
		return MSD_OK;
	if (there <= 1 || (bytes > 0 && there > bytes) ||
	    there > l->max_bytes - l->bytes) {
		msd_resume_file_clear(&l->saved);
	} else {
		err = take_saved(l, from, there - 1, d);
	}
	(void)close(from);
	l->sink.bytes = l->bytes - l->part_at;
	return err;
}

void msd_download_buffer_save(struct msd_download_buffer *l)
{
	msd_resume_file_put(&l->saved, l->fd, l->part_at, l->bytes - l->part_at, true);
}

msd_err msd_download_buffer_restart(struct msd_download_buffer *l, struct msd_diag *d)
{
	if (ftruncate(l->fd, (off_t)l->part_at) != 0)
		return fault("ftruncate", d);
	msd_resume_file_clear(&l->saved);
	l->has_old = false;
	give_back(l, l->bytes - l->part_at);
	l->bytes = l->part_at;
	l->hash = l->hash_at_part;
	sha256_init(&l->part_hash);
	return MSD_OK;
}

void msd_download_buffer_digest(const struct msd_download_buffer *l,
				struct msd_digest *ret)
{
	struct sha256_ctx hash = l->part_at > 0 ? l->part_hash : l->hash;

	sha256_digest(&hash, MSD_DIGEST_BYTES, ret->b);
}

msd_err msd_download_buffer_read(const struct msd_download_buffer *l,
				 struct msd_buf *ret, struct msd_diag *d)
{
	if (!msd_buf_reserve(ret, (size_t)l->bytes))
		return msd_diag_no_memory(d);
	if (pread(l->fd, ret->p + ret->n, (size_t)l->bytes, 0) != (ssize_t)l->bytes)
		return fault("read", d);
	ret->n += (size_t)l->bytes;
	return MSD_OK;
}

msd_err msd_download_buffer_seal(struct msd_download_buffer *l, struct msd_digest *ret,
				 struct msd_diag *d)
{
	errno = msd_reserve_seal(l->fd);
	if (errno != 0)
		return fault("sealing", d);
	msd_resume_file_drop(&l->saved);
	sha256_digest(&l->hash, MSD_DIGEST_BYTES, ret->b);
	return MSD_OK;
}

int msd_download_buffer_adopt_fd(struct msd_download_buffer *l)
{
	const int fd = l->fd;

	if (fd >= 0)
		give_back(l, l->bytes);
	l->fd = -1;
	return fd;
}

void msd_download_buffer_close(struct msd_download_buffer *l)
{
	if (l->fd >= 0)
		msd_download_buffer_save(l);
	const int fd = msd_download_buffer_adopt_fd(l);
	if (fd >= 0)
		(void)close(fd);
}
