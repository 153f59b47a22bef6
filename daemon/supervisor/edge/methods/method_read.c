/*
 * module.read: another daemon, or a client that may load modules, reads a module from
 * the store.
 *
 * Happy path: the store thread reads a chunk, which is the reply. Failures: no store,
 * no such module, or too many reads. If the client leaves or the deadline passes, the
 * chunk is dropped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/methods/method.h"
#include "daemon/supervisor/edge/methods/store_request.h"
#include "daemon/supervisor/keep/chunk.h"
#include "proto/name.h"
#include "proto/unpack.h"

struct reading {
	struct msd_store_chunk piece;
	struct msd_store_request errand;
};

static void on_read(struct msd_keeper_job *job, struct msd_keeper *keeper)
{
	struct reading *reading =
		MSD_CONTAINER_OF(MSD_CONTAINER_OF(job, struct msd_store_chunk, job),
				 struct reading, piece);

	(void)keeper;
	msd_store_request_answer(&reading->errand, job, &reading->piece.result);
	free(reading);
}

static msd_err read_file(const msgpack_object *map, struct msd_store_chunk *ret,
			 struct msd_diag *d)
{
	static const char *const known[] = {"sha256", "from", "bytes", NULL};
	const msgpack_object *sha256;
	struct msd_span digest = {(const uint8_t *)"", 0};
	msd_err err = msd_map_check(map, "module.read", known, d);

	if (err != MSD_OK)
		return err;
	sha256 = msd_map_find(map, "sha256");
	if (sha256 != NULL)
		err = msd_object_bin(sha256, "sha256", &digest, d);
	if (err == MSD_OK && digest.n != MSD_DIGEST_BYTES) {
		err = msd_diag_set(d, MSD_BAD_REQUEST,
				   "module.read: sha256: expected 32 bytes");
	}
	if (err == MSD_OK)
		err = msd_map_uint(map, "from", UINT64_MAX, &ret->from, d);
	if (err == MSD_OK)
		err = msd_map_uint(map, "bytes", UINT64_MAX, &ret->bytes, d);
	if (err != MSD_OK)
		return err;
	memcpy(ret->digest.b, digest.p, MSD_DIGEST_BYTES);
	ret->is_of_file = true;
	return MSD_OK;
}

static msd_err read_params(const struct msd_method_call *c, struct msd_store_chunk *ret,
			   struct msd_diag *d)
{
	const msgpack_object *params = c->params->via.array.ptr;
	struct msd_span name = {0};
	msd_err err = msd_object_str(&params[0], "name", &name, d);

	ret->bytes = MSD_STORE_CHUNK_BYTES;
	if (err == MSD_OK && !msd_name_valid(name)) {
		err = msd_diag_set(d, MSD_BAD_REQUEST,
				   "module.read: invalid module name");
	}
	if (err != MSD_OK)
		return err;
	(void)snprintf(ret->name, sizeof(ret->name), "%.*s", (int)name.n,
		       (const char *)name.p);
	return c->params->via.array.size > 1 ? read_file(&params[1], ret, d) : MSD_OK;
}

msd_err msd_method_read(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_edge *e = c->session->edge;
	struct msd_store_chunk piece = {0};
	msd_err err = read_params(c, &piece, d);

	if (err != MSD_OK)
		return err;
	struct reading *reading = calloc(1, sizeof(*reading));
	if (reading == NULL)
		return msd_diag_no_memory(d);
	err = msd_store_request_begin(&reading->errand, c, &e->n_readings, d);
	if (err != MSD_OK) {
		free(reading);
		return err;
	}
	reading->piece = piece;
	msd_store_chunk_read(e->keeper, &reading->piece, on_read);
	return MSD_OK;
}
