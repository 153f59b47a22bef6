/*
 * Attributes of each entry: dtype, shape, storage, device, each a list with one
 * element an entry. Only the devices are optional: a graph for one device omits them.
 */
#include <stdlib.h>
#include <string.h>

#include "artifact/graph_json/private.h"

/* The list of attribute @key: {"key": ["list_int", [...]]}. NULL when it is absent. */
static const json_t *attr_list(const struct msd_graph *g, const char *key)
{
	const json_t *attrs = json_object_get(g->json, "attrs");

	if (attrs == NULL)
		attrs = json_object_get(g->json, "attr");
	return json_array_get(json_object_get(attrs, key), 1);
}

static msd_err need_list(const struct msd_graph *g, const char *key, const json_t **ret,
			 struct msd_diag *d)
{
	*ret = attr_list(g, key);
	if (json_array_size(*ret) != g->n_entries) {
		return msd_graph_bad(d, "attrs.%s: expected %u elements, got %zu", key,
				     g->n_entries, json_array_size(*ret));
	}
	return MSD_OK;
}

static bool parse_dtype(const char *name, struct msd_dtype *ret)
{
	static const struct msd_dtype classic_bool = {MSD_DT_UINT, 1, 1};

	if (name == NULL)
		return false;
	if (strcmp(name, "bool") == 0 || strcmp(name, "uint1") == 0) {
		*ret = classic_bool;
		return true;
	}
	return msd_dtype_parse(name, strlen(name), ret);
}

static msd_err read_dtypes(struct msd_graph *g, struct msd_diag *d)
{
	const json_t *list;
	msd_err err = need_list(g, "dltype", &list, d);

	for (uint32_t i = 0; err == MSD_OK && i < g->n_entries; i++) {
		const char *name = json_string_value(json_array_get(list, i));

		if (!parse_dtype(name, &g->entries[i].dtype)) {
			err = msd_graph_bad(d, "attrs.dltype[%u]: unknown type %.32s",
					    i, name != NULL ? name : "");
		}
	}
	return err;
}

/* TVM counts whole bytes for each element. */
static bool entry_bytes(struct msd_graph_entry *e)
{
	const size_t element = ((size_t)e->dtype.bits * e->dtype.lanes + 7) / 8;
	uint64_t n;

	return msd_shape_elements(e->shape, e->ndim, &n) && n <= SIZE_MAX / 2 &&
	       msd_mul_size((size_t)n, element, &e->bytes) && e->bytes < SIZE_MAX / 2;
}

static msd_err read_shape(const json_t *dims, struct msd_graph_entry *e, int64_t **pool)
{
	uint64_t extent;

	if (!json_is_array(dims) || json_array_size(dims) > MSD_MAX_NDIM)
		return MSD_BAD_ARTIFACT;
	e->shape = *pool;
	e->ndim = (uint32_t)json_array_size(dims);
	for (uint32_t k = 0; k < e->ndim; k++) {
		if (!msd_graph_number(json_array_get(dims, k), INT64_MAX, &extent))
			return MSD_BAD_ARTIFACT;
		*(*pool)++ = (int64_t)extent;
	}
	return entry_bytes(e) ? MSD_OK : MSD_BAD_ARTIFACT;
}

static msd_err read_shapes(struct msd_graph *g, struct msd_diag *d)
{
	const json_t *list;
	msd_err err = need_list(g, "shape", &list, d);
	size_t n = 0;

	if (err != MSD_OK)
		return err;
	for (uint32_t i = 0; i < g->n_entries; i++)
		n += json_array_size(json_array_get(list, i));
	g->shape_pool = calloc(n + 1, sizeof(*g->shape_pool));
	if (g->shape_pool == NULL)
		return msd_diag_no_memory(d);
	int64_t *pool = g->shape_pool;
	for (uint32_t i = 0; i < g->n_entries; i++) {
		if (read_shape(json_array_get(list, i), &g->entries[i], &pool) !=
		    MSD_OK)
			return msd_graph_bad(d, "attrs.shape[%u]: not a shape", i);
	}
	return MSD_OK;
}

static msd_err read_devices(struct msd_graph *g, struct msd_diag *d)
{
	const json_t *list = attr_list(g, "device_index");
	msd_err err = list != NULL ? need_list(g, "device_index", &list, d) : MSD_OK;
	uint64_t type;

	for (uint32_t i = 0; err == MSD_OK && list != NULL && i < g->n_entries; i++) {
		if (!msd_graph_number(json_array_get(list, i), 1024, &type))
			return msd_graph_bad(d, "attrs.device_index[%u]: no device", i);
		g->entries[i].device_type = (int32_t)type;
	}
	return err;
}

static int by_value(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a;
	const int64_t y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Renumber the storages: the file's numbers may have large gaps. */
static msd_err read_storages(struct msd_graph *g, struct msd_diag *d)
{
	const json_t *list;
	msd_err err = need_list(g, "storage_id", &list, d);
	uint64_t id;
	uint32_t n = 0;

	if (err != MSD_OK)
		return err;
	g->storage_ids = calloc((size_t)g->n_entries + 1, sizeof(*g->storage_ids));
	if (g->storage_ids == NULL)
		return msd_diag_no_memory(d);
	for (uint32_t i = 0; i < g->n_entries; i++) {
		if (!msd_graph_number(json_array_get(list, i), INT32_MAX, &id))
			return msd_graph_bad(d, "attrs.storage_id[%u]: no number", i);
		g->storage_ids[i] = (int64_t)id;
	}
	qsort(g->storage_ids, g->n_entries, sizeof(*g->storage_ids), by_value);
	for (uint32_t i = 0; i < g->n_entries; i++) {
		if (n == 0 || g->storage_ids[n - 1] != g->storage_ids[i])
			g->storage_ids[n++] = g->storage_ids[i];
	}
	g->n_storages = n;
	for (uint32_t i = 0; i < g->n_entries; i++) {
		const int64_t key = json_integer_value(json_array_get(list, i));
		const int64_t *at = bsearch(&key, g->storage_ids, n,
					    sizeof(*g->storage_ids), by_value);
		g->entries[i].storage = (uint32_t)(at - g->storage_ids);
	}
	return MSD_OK;
}

msd_err msd_graph_read_attrs(struct msd_graph *g, struct msd_diag *d)
{
	g->entries = calloc((size_t)g->n_entries + 1, sizeof(*g->entries));
	if (g->entries == NULL)
		return msd_diag_no_memory(d);
	msd_err err = read_dtypes(g, d);
	if (err == MSD_OK)
		err = read_shapes(g, d);
	if (err == MSD_OK)
		err = read_storages(g, d);
	return err == MSD_OK ? read_devices(g, d) : err;
}
