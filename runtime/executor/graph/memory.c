/*
 * The memory of one graph executor: one slot per storage, and tensors for operators
 * and callers as views of it.
 *
 * Happy path: views are created once for every entry, with empty addresses. A storage
 * gets memory when it is first needed. Pointing a slot to other memory (an input used
 * in place) moves all its views. So a run builds no arguments.
 */
#include "runtime/executor/graph/memory.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/device/memory.h"
#include "runtime/executor/graph/run.h"
#include "runtime/module/instance.h"
#include "runtime/value/error.h"
#include "runtime/value/storage_pool.h"

void msd_graph_slot_point(struct msd_graph_instance *g, uint32_t s, void *data)
{
	for (uint32_t v = g->slots[s].first_view; v != MSD_NO_VIEW;
	     v = g->views[v].next)
		g->views[v].dl.data = data;
}

bool msd_graph_slot_fill(struct msd_graph_instance *g, uint32_t s)
{
	struct msd_dev *dev = msd_graph_plan_dev(g->plan, s);
	const size_t bytes = g->plan->storages[s].bytes;

	if (dev == NULL) {
		g->slots[s].own = msd_storage_pool_allocate(g->pool, bytes);
	} else if (msd_dev_storage(dev, bytes, &g->slots[s].own, NULL) != MSD_OK) {
		return false;
	}
	if (g->slots[s].own == NULL)
		return false;
	msd_graph_slot_point(g, s, g->slots[s].own->data);
	return true;
}

void msd_graph_slot_drop(struct msd_graph_instance *g, uint32_t s)
{
	if (g->slots[s].own != NULL)
		msd_obj_unref(&g->slots[s].own->obj);
	g->slots[s].own = NULL;
}

int msd_graph_slot_own(struct msd_graph_instance *g, uint32_t storage)
{
	struct msd_dev *dev = msd_graph_plan_dev(g->plan, storage);
	const size_t bytes = g->plan->storages[storage].bytes;
	struct msd_graph_slot *slot = &g->slots[storage];
	struct msd_diag d = {0};

	if (slot->own != NULL) {
		msd_graph_slot_point(g, storage, slot->own->data);
		return 0;
	}
	if (!msd_graph_slot_fill(g, storage))
		return msd_abi_raise_code(MSD_NOMEM, "no memory for an input");
	if (bytes == 0)
		return 0;
	if (dev == NULL) {
		memset(slot->own->data, 0, bytes);
		return 0;
	}
	msd_err err = dev->ops->fill(dev, slot->own->data, 0, bytes, &d);
	return err == MSD_OK ? 0 : msd_instance_raise(&d, err);
}

int msd_graph_copy(const struct msd_graph_instance *g, void *dst, struct msd_device to,
		   const void *src, struct msd_device from, size_t n)
{
	struct msd_diag d = {0};
	struct msd_dev *dst_dev = to.type != MSD_DEV_CPU ? g->plan->dev : NULL;
	struct msd_dev *src_dev = from.type != MSD_DEV_CPU ? g->plan->dev : NULL;
	msd_err err = msd_dev_copy(dst_dev, dst, src_dev, src, n, &d);

	if (err == MSD_OK && dst_dev != src_dev)
		err = msd_dev_sync(g->plan->dev, &d);
	return err == MSD_OK ? 0 : msd_instance_raise(&d, err);
}

static uint32_t view_add(struct msd_graph_instance *g, uint32_t entry)
{
	const struct msd_graph_entry *e = &msd_graph_of(g)->entries[entry];
	const struct msd_dev *dev = msd_graph_plan_dev(g->plan, e->storage);
	const struct msd_device cpu = {MSD_DEV_CPU, 0};
	const uint32_t i = g->n_views++;

	g->views[i] = (struct msd_graph_view){
		.dl = {.device = dev != NULL ? dev->device : cpu,
		       .ndim = (int32_t)e->ndim,
		       .dtype = e->dtype,
		       .shape = e->shape},
		.next = g->slots[e->storage].first_view,
	};
	g->slots[e->storage].first_view = i;
	return i;
}

/* A view of rank 1, for code that was compiled for flat tensors. */
static uint32_t view_add_flat(struct msd_graph_instance *g, uint32_t entry)
{
	const uint32_t i = view_add(g, entry);
	struct msd_graph_view *v = &g->views[i];

	v->extent = 1;
	for (int32_t k = 0; k < v->dl.ndim; k++) {
		v->extent *=
			v->dl.shape[k]; /* cannot overflow: checked with the graph */
	}
	v->dl.shape = &v->extent;
	v->dl.ndim = 1;
	return i;
}

static void put_arg(struct msd_graph_instance *g, struct msd_any **at, uint32_t entry,
		    bool flatten)
{
	const uint32_t v = flatten ? view_add_flat(g, entry) : entry;

	*(*at)++ = (struct msd_any){.type = MSD_T_DLTENSOR, .as.dl = &g->views[v].dl};
}

static void build_args(struct msd_graph_instance *g)
{
	struct msd_any *at = g->args;

	for (uint32_t i = 0; i < g->plan->n_ops; i++) {
		const struct msd_graph_node *node =
			&msd_graph_of(g)->nodes[g->plan->ops[i].node];
		for (uint32_t k = 0; k < node->n_inputs; k++)
			put_arg(g, &at, node->inputs[k], node->flatten);
		for (uint32_t k = 0; k < node->n_entries; k++)
			put_arg(g, &at, node->first_entry + k, node->flatten);
	}
}

/* Allocate lasting memory: intermediate storages, and inputs that operators
 * overwrite. */
static bool fill_work(struct msd_graph_instance *g)
{
	for (uint32_t s = 0; s < msd_graph_of(g)->n_storages; s++) {
		const struct msd_graph_storage *plan = &g->plan->storages[s];

		if (plan->role == MSD_GRAPH_PARAM) {
			msd_graph_slot_point(g, s, plan->data);
		} else if ((plan->role == MSD_GRAPH_WORK ||
			    (plan->role == MSD_GRAPH_INPUT && plan->is_written)) &&
			   !msd_graph_slot_fill(g, s)) {
			return false;
		}
	}
	return true;
}

msd_err msd_graph_instance_create(const struct msd_graph_plan *plan,
				  struct msd_graph_instance **ret, struct msd_diag *d)
{
	const struct msd_graph *graph = &plan->graph;
	struct msd_graph_instance *g = calloc(1, sizeof(*g));

	if (g == NULL)
		return msd_diag_set(d, MSD_NOMEM, "graph: out of memory");
	g->plan = plan;
	g->pool = msd_storage_pool_create();
	g->views = calloc(graph->n_entries + plan->n_args + 1, sizeof(*g->views));
	g->slots = calloc((size_t)graph->n_storages + 1, sizeof(*g->slots));
	g->args = calloc(plan->n_args + 1, sizeof(*g->args));
	bool is_ok = g->pool != NULL && g->views != NULL && g->slots != NULL &&
		     g->args != NULL;
	for (uint32_t s = 0; is_ok && s < graph->n_storages; s++)
		g->slots[s].first_view = MSD_NO_VIEW;
	for (uint32_t i = 0; is_ok && i < graph->n_entries; i++)
		(void)view_add(g, i);
	if (is_ok)
		build_args(g);
	if (!is_ok || !fill_work(g)) {
		msd_graph_instance_destroy(g);
		return msd_diag_set(d, MSD_NOMEM, "graph: out of memory");
	}
	*ret = g;
	return MSD_OK;
}

void msd_graph_instance_destroy(struct msd_graph_instance *g)
{
	if (g == NULL)
		return;
	for (uint32_t s = 0; g->slots != NULL && s < msd_graph_of(g)->n_storages; s++)
		msd_graph_slot_drop(g, s);
	free(g->views);
	free(g->slots);
	free(g->args);
	msd_storage_pool_close(g->pool);
	free(g);
}
