/*
 * The bytes of a module, in one sealed memfd, with their hash.
 *
 * Happy path: memory is reserved and filled, then it is sealed and hashed: every
 * worker maps exactly the bytes that were hashed. Failures: bytes cannot be read or
 * stored, and nothing is left behind.
 */
#include "daemon/supervisor/source/source.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/loop/closer.h"
#include "daemon/segments/reserve.h"
#include "proto/base/errno_text.h"

#define HASH_BYTES (64u * 1024u) /* per read */

msd_err msd_source_check_size(uint64_t bytes, uint64_t max_bytes, struct msd_diag *d)
{
	if (bytes == 0)
		return msd_diag_set(d, MSD_BAD_REQUEST, "the artifact is empty");
	if (bytes > max_bytes) {
		return msd_diag_set(d, MSD_TOO_LARGE,
				    "the artifact has %llu bytes, over the limit of "
				    "%llu (max-upload-size)",
				    (unsigned long long)bytes,
				    (unsigned long long)max_bytes);
	}
	return MSD_OK;
}

msd_err msd_source_no_space(uint64_t bytes, int error, struct msd_diag *d)
{
	char text[MSD_ERRNO_TEXT_BYTES];

	return msd_diag_set(d, MSD_NO_SPACE, "an artifact of %llu bytes: %s",
			    (unsigned long long)bytes, msd_errno_text(error, text));
}

static msd_err hash(struct msd_source *source, struct msd_diag *d)
{
	struct sha256_ctx sha;
	uint8_t bytes[HASH_BYTES];

	sha256_init(&sha);
	source->bytes = 0;
	for (;;) {
		ssize_t n =
			pread(source->fd, bytes, sizeof(bytes), (off_t)source->bytes);
		if (n < 0) {
			return msd_diag_set(d, MSD_IO, "reading the artifact: %s",
					    strerror(errno));
		}
		if (n == 0)
			break;
		sha256_update(&sha, (size_t)n, bytes);
		source->bytes += (uint64_t)n;
	}
	sha256_digest(&sha, sizeof(source->sha256.b), source->sha256.b);
	return MSD_OK;
}

void *msd_source_map(int fd, uint64_t bytes)
{
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return NULL;
	(void)madvise(map, bytes, MADV_DONTFORK); /* never fails for a memory mapping */
	return map;
}

static msd_err seal(const struct msd_source *source, struct msd_diag *d)
{
	const int failed = msd_reserve_seal(source->fd);

	if (failed == 0)
		return MSD_OK;
	return msd_diag_set(d, MSD_IO, "sealing the artifact: %s", strerror(failed));
}

msd_err msd_source_seal(struct msd_source *source, struct msd_diag *d)
{
	const msd_err err = seal(source, d);

	return err == MSD_OK ? hash(source, d) : err;
}

msd_err msd_source_seal_hashed(struct msd_source *source,
			       const struct msd_digest *sha256, uint64_t bytes,
			       struct msd_diag *d)
{
	const msd_err err = seal(source, d);

	if (err != MSD_OK)
		return err;
	source->sha256 = *sha256;
	source->bytes = bytes;
	return MSD_OK;
}

void msd_source_finish(struct msd_source *source)
{
	msd_closer_close_own(source->fd);
	source->fd = -1;
	msd_buf_finish(&source->files);
	msd_buf_finish(&source->manifest_text);
	msd_buf_finish(&source->signature);
}
