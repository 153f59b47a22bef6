/* The parameters of a graph: given in a file, or linked into its library. */
#include <string.h>

#include "artifact/params/tensor_blob.h"
#include "runtime/executor/graph/plan.h"
#include "runtime/value/error.h"
#include "runtime/value/tensor_text.h"

#define DATA_ALIGN 128

static const char *node_name(const struct msd_graph_plan *p, uint32_t arg)
{
	return p->graph.nodes[p->graph.args[arg]].name;
}

static struct msd_graph_storage *storage_of(struct msd_graph_plan *p, uint32_t arg,
					    const struct msd_graph_entry **ret_entry)
{
	const struct msd_graph *g = &p->graph;

	*ret_entry = &g->entries[g->nodes[g->args[arg]].first_entry];
	return &p->storages[(*ret_entry)->storage];
}

/* Keep an aligned copy of the @n bytes at @data; the rest of the storage is zero. */
static msd_err keep_copy(struct msd_graph_storage *s, const void *data, size_t n,
			 struct msd_diag *d)
{
	s->own = msd_storage_new(s->bytes);
	if (s->own == NULL)
		return msd_diag_set(d, MSD_NOMEM, "no memory for the parameters");
	s->data = s->own->data;
	if (n > 0)
		memcpy(s->data, data, n);
	if (s->bytes > n)
		memset((char *)s->data + n, 0, s->bytes - n);
	return MSD_OK;
}

static bool blob_fits(const struct msd_tensor_blob *blob,
		      const struct msd_graph_entry *e)
{
	if (blob->data.n != e->bytes || blob->ndim != e->ndim ||
	    memcmp(blob->shape, e->shape, e->ndim * sizeof(int64_t)) != 0)
		return false;
	return msd_dtype_eq(blob->dtype, e->dtype) ||
	       (e->dtype.code == MSD_DT_UINT && e->dtype.bits == 1 &&
		blob->dtype.code == MSD_DT_BOOL);
}

static msd_err take_given(struct msd_graph_plan *p, uint32_t arg,
			  const struct msd_tensor_blob *blob, struct msd_diag *d)
{
	const struct msd_graph_entry *e;
	struct msd_graph_storage *s = storage_of(p, arg, &e);
	char want[MSD_TENSOR_TEXT_MAX];
	char got[MSD_TENSOR_TEXT_MAX];

	if (!blob_fits(blob, e)) {
		return msd_diag_set(
			d, MSD_BAD_ARTIFACT,
			"parameter %.64s: the graph has %s for it, it is %s",
			node_name(p, arg),
			msd_tensor_text(e->dtype, e->shape, e->ndim, want),
			msd_tensor_text(blob->dtype, blob->shape, blob->ndim, got));
	}
	s->role = MSD_GRAPH_PARAM;
	return keep_copy(s, blob->data.p, blob->data.n, d);
}

/* Data in the library's own memory, used in place if it is aligned. */
static msd_err take_linked(struct msd_graph_plan *p, uint32_t arg,
			   struct msd_function *lookup, struct msd_diag *d)
{
	const struct msd_graph_entry *e;
	struct msd_graph_storage *s = storage_of(p, arg, &e);
	const struct msd_any id = msd_int(p->graph.storage_ids[e->storage]);
	struct msd_any found = msd_none();

	msd_abi_clear();
	if (lookup->call(lookup, &id, 1, &found) != 0)
		return msd_diag_wrap(d, msd_abi_fetch_error(d), "_lookup_linked_param");
	if (found.type != MSD_T_POINTER || found.as.p == NULL) {
		msd_any_drop(&found);
		return MSD_OK; /* not a parameter, but an input */
	}
	s->role = MSD_GRAPH_PARAM;
	if ((uintptr_t)found.as.p % DATA_ALIGN != 0 || s->bytes > e->bytes)
		return keep_copy(s, found.as.p, e->bytes, d);
	s->data = found.as.p;
	return MSD_OK;
}

msd_err msd_graph_plan_params(struct msd_graph_plan *p, const struct msd_params *params,
			      struct msd_graph_finder finder, struct msd_diag *d)
{
	struct msd_function *lookup = finder.find(finder.ctx, "_lookup_linked_param");

	for (uint32_t i = 0; i < p->graph.n_args; i++) {
		const struct msd_tensor_blob *blob =
			params != NULL ? msd_params_find(params, node_name(p, i))
				       : NULL;
		msd_err err = MSD_OK;

		if (blob != NULL) {
			err = take_given(p, i, blob, d);
		} else if (lookup != NULL) {
			err = take_linked(p, i, lookup, d);
		}
		if (err != MSD_OK)
			return err;
	}
	return MSD_OK;
}
