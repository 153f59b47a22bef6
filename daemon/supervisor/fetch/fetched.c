#include "daemon/supervisor/fetch/fetched.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEALS (F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK)

/* Whoever could change it later could change what was hashed. */
static msd_err check_memfd(int fd, uint64_t bytes, struct msd_diag *d)
{
	const int seals = fd >= 0 ? fcntl(fd, F_GET_SEALS) : -1;
	struct stat st;

	if (seals >= 0 && (seals & SEALS) == SEALS && fstat(fd, &st) == 0 &&
	    st.st_size > 0 && (uint64_t)st.st_size == bytes)
		return MSD_OK;
	return msd_diag_set(d, MSD_INTERNAL, "modserd-fetch gave no sealed file");
}

static msd_err take_file(struct msd_conn *channel, struct msd_source *source,
			 struct msd_diag *d)
{
	const int fd = msd_conn_take_fd(channel);
	const msd_err err = check_memfd(fd, source->bytes, d);

	if (err == MSD_OK) {
		source->fd = fd;
	} else if (fd >= 0) {
		(void)close(fd);
	}
	return err;
}

msd_err msd_fetched_read(struct msd_conn *channel, struct msd_unpack *unpack,
			 struct msd_span result, struct msd_fetched *ret,
			 struct msd_diag *d)
{
	const msgpack_object *map, *digest;
	struct msd_span sha256 = {0};
	uint64_t bytes = 0;
	msd_err err = msd_unpack(unpack, result, &map, d);

	*ret = (struct msd_fetched){.source = {.fd = -1}};
	if (err == MSD_OK)
		err = msd_map_uint(map, "bytes", INT64_MAX, &bytes, d);
	if (err == MSD_OK)
		err = msd_map_str(map, "file", &ret->file, d);
	if (err == MSD_OK)
		err = msd_map_str(map, "etag", &ret->etag, d);
	digest = err == MSD_OK ? msd_map_find(map, "sha256") : NULL;
	if (digest != NULL)
		err = msd_object_bin(digest, "sha256", &sha256, d);
	if (err != MSD_OK)
		return err;
	if (sha256.p == NULL || sha256.n != MSD_DIGEST_BYTES)
		return msd_diag_set(d, MSD_INTERNAL, "modserd-fetch gave no hash");
	memcpy(ret->source.sha256.b, sha256.p, MSD_DIGEST_BYTES);
	ret->source.bytes = ret->source.part_bytes[MSD_PART_MODEL] = bytes;
	return bytes > 0 ? take_file(channel, &ret->source, d) : MSD_OK;
}
