#include "daemon/supervisor/module/facts.h"

#include <msgpack.h>
#include <string.h>

#include "proto/unpack.h"

static int put_bytes(void *ctx, const char *p, size_t n)
{
	msd_buf_put(ctx, p, n);
	return 0;
}

static struct msd_span facts_of(const struct msd_crew *crew)
{
	return (struct msd_span){crew->facts.p, crew->facts.n};
}

msd_err msd_facts_keep(struct msd_crew *crew, struct msd_span result,
		       struct msd_diag *d)
{
	struct msd_unpack u = {0};
	const msgpack_object *root;
	msd_err err = msd_unpack(&u, result, &root, d);

	if (err == MSD_OK) {
		const msgpack_object *functions = msd_map_find(root, "functions");
		if (functions == NULL || functions->type != MSGPACK_OBJECT_ARRAY) {
			err = msd_diag_set(d, MSD_PROTOCOL,
					   "worker.open: no functions");
		} else {
			crew->n_functions = functions->via.array.size;
		}
		const msgpack_object *device = msd_map_find(root, "device");
		crew->has_pins =
			device != NULL && device->type == MSGPACK_OBJECT_STR &&
			device->via.str.size > strlen("cuda:") &&
			memcmp(device->via.str.ptr, "cuda:", strlen("cuda:")) == 0;
	}
	msd_unpack_finish(&u);
	if (err != MSD_OK)
		return err;
	crew->facts.n = 0;
	msd_buf_put(&crew->facts, result.p, result.n);
	return crew->facts.bad
		       ? msd_diag_set(d, MSD_NOMEM, "worker.open: out of memory")
		       : MSD_OK;
}

msd_err msd_facts_check_function(const struct msd_crew *crew, struct msd_span name,
				 struct msd_diag *d)
{
	struct msd_unpack u = {0};
	const msgpack_object *root;
	msd_err err = msd_unpack(&u, facts_of(crew), &root, d);
	bool found = false;

	if (err == MSD_OK) {
		const msgpack_object_array *all =
			&msd_map_find(root, "functions")->via.array;
		for (uint32_t i = 0; i < all->size && !found; i++) {
			const msgpack_object *o = msd_map_find(&all->ptr[i], "name");
			found = o != NULL && o->type == MSGPACK_OBJECT_STR &&
				o->via.str.size == name.n &&
				memcmp(o->via.str.ptr, name.p, name.n) == 0;
		}
		if (!found) {
			err = msd_diag_set(
				d, MSD_NOT_FOUND,
				"module %s has no function %.*s (it has %u: see "
				"function.list)",
				crew->name, (int)name.n, (const char *)name.p,
				crew->n_functions);
		}
	}
	msd_unpack_finish(&u);
	return err;
}

void msd_facts_put(const struct msd_crew *crew, const char *key, struct msd_buf *out)
{
	struct msd_unpack u = {0};
	const msgpack_object *root;
	const msgpack_object *value = NULL;
	msgpack_packer packer;

	if (crew->facts.n > 0 && msd_unpack(&u, facts_of(crew), &root, NULL) == MSD_OK)
		value = msd_map_find(root, key);
	if (value == NULL) {
		msd_pack_nil(out);
	} else {
		msgpack_packer_init(&packer, out, put_bytes);
		(void)msgpack_pack_object(&packer, *value);
	}
	msd_unpack_finish(&u);
}
