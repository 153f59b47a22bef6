/*
 * Happy path: the map is read, the fields to keep are copied, and the file that
 * arrived with it is taken. Failures: a reply that violates CHANNEL.md is an error of
 * modserd-fetch; the caller must then free the source.
 */
#include "daemon/supervisor/fetch/fetched.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEALS (F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK)
#define MAX_TEXT_BYTES (1u << 20) /* maximum size of a manifest or its signature */

/* A process that could write to it later could change the hashed bytes. */
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
	const int fd = msd_conn_adopt_fd(channel);
	const msd_err err = check_memfd(fd, source->bytes, d);

	if (err == MSD_OK) {
		source->fd = fd;
	} else if (fd >= 0) {
		(void)close(fd);
	}
	return err;
}

static msd_err read_digest(const msgpack_object *map, const char *key,
			   struct msd_digest *ret, struct msd_diag *d)
{
	const msgpack_object *value = msd_map_find(map, key);
	struct msd_span bytes = {0};
	const msd_err err =
		value != NULL ? msd_object_bin(value, key, &bytes, d) : MSD_OK;

	if (err != MSD_OK)
		return err;
	if (bytes.p == NULL || bytes.n != MSD_DIGEST_BYTES)
		return msd_diag_set(d, MSD_INTERNAL, "modserd-fetch gave no hash");
	memcpy(ret->b, bytes.p, MSD_DIGEST_BYTES);
	return MSD_OK;
}

/* The parts are contiguous and fill the file. */
static msd_err read_parts(const msgpack_object *map, struct msd_source *ret,
			  struct msd_diag *d)
{
	const msgpack_object *list = msd_map_find(map, "parts");
	uint64_t left = ret->bytes;
	msd_err err = MSD_OK;

	if (list == NULL || list->type != MSGPACK_OBJECT_ARRAY ||
	    list->via.array.size != MSD_PART_COUNT)
		return msd_diag_set(d, MSD_INTERNAL, "modserd-fetch gave no parts");
	for (unsigned i = 0; err == MSD_OK && i < MSD_PART_COUNT; i++) {
		err = msd_object_uint(&list->via.array.ptr[i], "parts", left,
				      &ret->part_bytes[i], d);
		left -= err == MSD_OK ? ret->part_bytes[i] : 0;
	}
	if (err == MSD_OK && (left > 0 || (ret->bytes > 0 && ret->part_bytes[0] == 0)))
		err = msd_diag_set(d, MSD_INTERNAL, "modserd-fetch gave other parts");
	return err;
}

static msd_err read_signers(const msgpack_object *map, struct msd_fetched *ret,
			    struct msd_diag *d)
{
	const msgpack_object *value = msd_map_find(map, "signers");
	struct msd_span ids = {0};
	const msd_err err =
		value != NULL ? msd_object_bin(value, "signers", &ids, d) : MSD_OK;

	if (err != MSD_OK)
		return err;
	if (ids.n % MSD_KEY_ID_BYTES != 0 || ids.n > sizeof(ret->signers))
		return msd_diag_set(d, MSD_INTERNAL, "modserd-fetch gave no signers");
	ret->n_signers = (uint32_t)(ids.n / MSD_KEY_ID_BYTES);
	if (ids.n > 0)
		memcpy(ret->signers, ids.p, ids.n);
	return MSD_OK;
}

static msd_err copy_text(const msgpack_object *map, const char *key,
			 struct msd_buf *ret, struct msd_diag *d)
{
	const msgpack_object *value = msd_map_find(map, key);
	struct msd_span text = {0};
	const msd_err err =
		value != NULL ? msd_object_bin(value, key, &text, d) : MSD_OK;

	if (err != MSD_OK)
		return err;
	if (text.n > MAX_TEXT_BYTES) {
		return msd_diag_set(d, MSD_INTERNAL, "modserd-fetch gave a long %s",
				    key);
	}
	msd_buf_put(ret, text.p, text.n);
	return ret->bad ? msd_diag_no_memory(d) : MSD_OK;
}

/* For the store, so that other daemons can verify the signature, too. */
static msd_err copy_texts(const msgpack_object *map, struct msd_source *ret,
			  struct msd_diag *d)
{
	const msd_err err = copy_text(map, "manifest", &ret->manifest_text, d);

	return err == MSD_OK ? copy_text(map, "signature", &ret->signature, d) : err;
}

/* A source without a manifest has no such fields. */
static msd_err read_manifest(const msgpack_object *map, struct msd_fetched *ret,
			     struct msd_diag *d)
{
	const msgpack_object *tests = msd_map_find(map, "tests");
	msd_err err = msd_map_uint(map, "version", INT64_MAX, &ret->source.version, d);

	if (err != MSD_OK || ret->source.version == 0)
		return err;
	err = read_digest(map, "edition", &ret->source.edition, d);
	if (err == MSD_OK)
		err = msd_map_uint(map, "created", INT64_MAX, &ret->created_s, d);
	if (err == MSD_OK)
		err = msd_map_uint(map, "warmup", UINT32_MAX, &ret->warmup, d);
	if (err == MSD_OK)
		err = read_signers(map, ret, d);
	if (err == MSD_OK && tests != NULL)
		err = msd_object_bin(tests, "tests", &ret->tests, d);
	return err;
}

/* The name to ask the registry for the same edition again. */
static msd_err read_name(const msgpack_object *map, struct msd_source *ret,
			 struct msd_diag *d)
{
	ret->has_name = msd_map_find(map, "name") != NULL;
	return ret->has_name ? read_digest(map, "name", &ret->name, d) : MSD_OK;
}

msd_err msd_fetched_read(struct msd_conn *channel, struct msd_unpack *unpack,
			 struct msd_span result, struct msd_fetched *ret,
			 struct msd_diag *d)
{
	struct msd_source *source = &ret->source;
	const msgpack_object *map;
	msd_err err = msd_unpack(unpack, result, &map, d);

	*ret = (struct msd_fetched){.source = {.fd = -1}};
	if (err == MSD_OK)
		err = msd_map_uint(map, "bytes", INT64_MAX, &source->bytes, d);
	if (err == MSD_OK)
		err = msd_map_str(map, "file", &ret->file, d);
	if (err == MSD_OK)
		err = msd_map_str(map, "etag", &ret->etag, d);
	if (err == MSD_OK)
		err = read_digest(map, "sha256", &source->sha256, d);
	if (err == MSD_OK && source->bytes > 0)
		err = read_parts(map, source, d);
	if (err == MSD_OK)
		err = read_manifest(map, ret, d);
	if (err == MSD_OK)
		err = read_name(map, source, d);
	if (err == MSD_OK && source->bytes > 0)
		err = copy_texts(map, source, d);
	return err == MSD_OK && source->bytes > 0 ? take_file(channel, source, d) : err;
}
