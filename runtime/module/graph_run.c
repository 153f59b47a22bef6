#include "runtime/module/graph_run.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/abi/error.h"
#include "runtime/device/memory.h"
#include "runtime/module/storage_pool.h"

#define NO_VIEW UINT32_MAX

/* A tensor in a storage, as operators get it. */
struct view {
	struct msd_dltensor dl;
	int64_t extent; /* dl.shape when it is flattened */
	uint32_t next;  /* in the same storage; NO_VIEW ends */
};

struct slot { /* one per storage */
	uint32_t first_view;
	struct msd_storage *own; /* NULL: the caller's memory, or the plan's */
};

struct msd_graph_instance {
	const struct msd_graph_plan *plan;
	struct msd_storage_pool *pool;
	struct view *views; /* one per entry, then those that are flattened */
	uint32_t n_views;
	struct slot *slots;
	struct msd_any *args; /* of all operators, one after the other */
};

static const struct msd_graph *graph_of(const struct msd_graph_instance *g)
{
	return &g->plan->graph;
}

/* All tensors of storage @s lie at @data from now on. */
static void slot_point(struct msd_graph_instance *g, uint32_t s, void *data)
{
	for (uint32_t v = g->slots[s].first_view; v != NO_VIEW; v = g->views[v].next)
		g->views[v].dl.data = data;
}

/* Memory of its own for storage @s. */
static bool slot_fill(struct msd_graph_instance *g, uint32_t s)
{
	struct msd_dev *dev = msd_graph_plan_dev(g->plan, s);
	const size_t bytes = g->plan->storages[s].bytes;

	if (dev == NULL)
		g->slots[s].own = msd_storage_pool_take(g->pool, bytes);
	else if (msd_dev_storage(dev, bytes, &g->slots[s].own, NULL) != MSD_OK)
		return false;
	if (g->slots[s].own == NULL)
		return false;
	slot_point(g, s, g->slots[s].own->data);
	return true;
}

static void slot_drop(struct msd_graph_instance *g, uint32_t s)
{
	if (g->slots[s].own != NULL)
		msd_obj_unref(&g->slots[s].own->obj);
	g->slots[s].own = NULL;
}

static uint32_t view_add(struct msd_graph_instance *g, uint32_t entry)
{
	const struct msd_graph_entry *e = &graph_of(g)->entries[entry];
	const struct msd_dev *dev = msd_graph_plan_dev(g->plan, e->storage);
	const struct msd_device cpu = {MSD_DEV_CPU, 0};
	const uint32_t i = g->n_views++;

	g->views[i] = (struct view){
		.dl = {.device = dev != NULL ? dev->device : cpu,
		       .ndim = (int32_t)e->ndim,
		       .dtype = e->dtype,
		       .shape = e->shape},
		.next = g->slots[e->storage].first_view,
	};
	g->slots[e->storage].first_view = i;
	return i;
}

/* Rank 1, for code that was compiled so. */
static uint32_t view_add_flat(struct msd_graph_instance *g, uint32_t entry)
{
	const uint32_t i = view_add(g, entry);
	struct view *v = &g->views[i];

	v->extent = 1;
	for (int32_t k = 0; k < v->dl.ndim; k++)
		v->extent *= v->dl.shape[k]; /* fits: it was checked with the graph */
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
			&graph_of(g)->nodes[g->plan->ops[i].node];
		for (uint32_t k = 0; k < node->n_inputs; k++)
			put_arg(g, &at, node->inputs[k], node->flatten);
		for (uint32_t k = 0; k < node->n_entries; k++)
			put_arg(g, &at, node->first_entry + k, node->flatten);
	}
}

/* Memory for what stays: between operators, and inputs that operators write over. */
static bool fill_work(struct msd_graph_instance *g)
{
	for (uint32_t s = 0; s < graph_of(g)->n_storages; s++) {
		const struct msd_graph_storage *plan = &g->plan->storages[s];

		if (plan->role == MSD_GRAPH_PARAM)
			slot_point(g, s, plan->data);
		else if ((plan->role == MSD_GRAPH_WORK ||
			  (plan->role == MSD_GRAPH_INPUT && plan->is_written)) &&
			 !slot_fill(g, s))
			return false;
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
		g->slots[s].first_view = NO_VIEW;
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
	for (uint32_t s = 0; g->slots != NULL && s < graph_of(g)->n_storages; s++)
		slot_drop(g, s);
	free(g->views);
	free(g->slots);
	free(g->args);
	msd_storage_pool_close(g->pool);
	free(g);
}

static int raise_diag(struct msd_diag *d, msd_err err)
{
	(void)msd_abi_raise_code(err, "%s", msd_diag_text(d));
	msd_diag_finish(d);
	return -1;
}

/* Copy between the graph's device and the host, or within one. What goes to or comes
 * from the host is done on return: its memory may change next. */
static int copy(const struct msd_graph_instance *g, void *dst, struct msd_device to,
		const void *src, struct msd_device from, size_t n)
{
	struct msd_diag d = {0};
	struct msd_dev *dst_dev = to.type != MSD_DEV_CPU ? g->plan->dev : NULL;
	struct msd_dev *src_dev = from.type != MSD_DEV_CPU ? g->plan->dev : NULL;
	msd_err err = msd_dev_copy(dst_dev, dst, src_dev, src, n, &d);

	if (err == MSD_OK && dst_dev != src_dev)
		err = msd_dev_sync(g->plan->dev, &d);
	return err == MSD_OK ? 0 : raise_diag(&d, err);
}

/* The caller's tensor for input @i, which has been compared with the signature. */
static int take_input(struct msd_graph_instance *g, uint32_t i, const struct msd_any *v)
{
	const struct msd_graph_entry *e = &graph_of(g)->entries[g->plan->inputs[i]];
	const struct msd_dltensor *t = msd_any_dltensor(v);

	if (t == NULL || t->strides != NULL || msd_dltensor_bytes(t) != e->bytes)
		return msd_abi_raise_code(MSD_BAD_ARGUMENT,
					  "argument %u: expected a compact tensor of "
					  "%zu bytes, got %s",
					  i, e->bytes, msd_type_name(v->type));
	struct slot *slot = &g->slots[e->storage];
	const struct msd_device here = g->views[g->plan->inputs[i]].dl.device;
	void *data = (char *)t->data + t->byte_offset;
	if (!g->plan->storages[e->storage].is_written && t->device.type == here.type) {
		slot_point(g, e->storage, data);
		return 0;
	}
	if (slot->own == NULL && !slot_fill(g, e->storage))
		return msd_abi_raise_code(MSD_NOMEM, "no memory for input %u", i);
	slot_point(g, e->storage, slot->own->data);
	return copy(g, slot->own->data, here, data, t->device, e->bytes);
}

static int take_inputs(struct msd_graph_instance *g, const struct msd_any *args,
		       int32_t n)
{
	if (n < 0 || (uint32_t)n != g->plan->n_inputs)
		return msd_abi_raise_code(MSD_BAD_ARGUMENT,
					  "expected %u arguments but got %d",
					  g->plan->n_inputs, n);
	for (uint32_t i = 0; i < g->plan->n_inputs; i++) {
		if (take_input(g, i, &args[i]) != 0)
			return -1;
	}
	return 0;
}

static int fill_outputs(struct msd_graph_instance *g)
{
	for (uint32_t s = 0; s < graph_of(g)->n_storages; s++) {
		if (g->plan->storages[s].role == MSD_GRAPH_OUTPUT && !slot_fill(g, s))
			return msd_abi_raise_code(MSD_NOMEM,
						  "out of memory for the outputs");
	}
	return 0;
}

/* Say which node it was, in front of what it said. */
static int node_failed(const struct msd_graph_instance *g,
		       const struct msd_graph_op *op)
{
	const struct msd_graph_node *node = &graph_of(g)->nodes[op->node];
	struct msd_diag d = {0};
	msd_err err = msd_abi_take(&d);
	const bool is_same = strcmp(node->name, node->func) == 0;

	(void)msd_abi_raise_code(err, "node %u (%s%s%s): %s", op->node, node->name,
				 is_same ? "" : ": ", is_same ? "" : node->func,
				 msd_diag_text(&d));
	msd_diag_finish(&d);
	return -1;
}

static int run_ops(struct msd_graph_instance *g)
{
	const struct msd_any *args = g->args;

	for (uint32_t i = 0; i < g->plan->n_ops; i++) {
		const struct msd_graph_op *op = &g->plan->ops[i];
		const struct msd_graph_node *node = &graph_of(g)->nodes[op->node];
		const uint32_t n = node->n_inputs + node->n_entries;
		struct msd_any ignored = msd_none();

		if (op->fn == NULL) {
			const struct msd_dltensor *from = args[0].as.dl;
			const struct msd_dltensor *to = args[1].as.dl;
			if (copy(g, to->data, to->device, from->data, from->device,
				 msd_dltensor_bytes(from)) != 0)
				return node_failed(g, op);
		} else if (op->fn->call(op->fn, args, (int32_t)n, &ignored) != 0)
			return node_failed(g, op);
		msd_any_drop(&ignored);
		args += n;
	}
	return 0;
}

/* An entry with memory that lives as long as somebody holds it. */
static struct msd_tensor *entry_tensor(const struct msd_graph_instance *g,
				       uint32_t entry)
{
	const struct msd_graph_entry *e = &graph_of(g)->entries[entry];
	const struct msd_dltensor *dl = &g->views[entry].dl;

	if (g->plan->storages[e->storage].role == MSD_GRAPH_OUTPUT)
		return msd_tensor_view(dl->data, dl->device, e->dtype, e->shape,
				       e->ndim, &g->slots[e->storage].own->obj, NULL,
				       NULL);
	struct msd_tensor *t = NULL;
	if (dl->device.type == MSD_DEV_CPU)
		t = msd_tensor_new(e->dtype, e->shape, e->ndim);
	else if (msd_dev_tensor(g->plan->dev, e->dtype, e->shape, e->ndim, &t, NULL) !=
		 MSD_OK)
		return NULL;
	if (t != NULL &&
	    copy(g, t->dl.data, dl->device, dl->data, dl->device, e->bytes) != 0) {
		msd_obj_unref(&t->obj);
		return NULL;
	}
	return t;
}

static int give_outputs(const struct msd_graph_instance *g, struct msd_any *ret)
{
	const uint32_t n = graph_of(g)->n_heads;
	struct msd_array *tuple = n > 1 ? msd_array_new(n) : NULL;
	bool is_ok = n == 1 || tuple != NULL;

	for (uint32_t i = 0; is_ok && i < n; i++) {
		struct msd_tensor *t = entry_tensor(g, graph_of(g)->heads[i]);

		is_ok = t != NULL;
		if (is_ok)
			*(n > 1 ? &tuple->items[i] : ret) = msd_of_obj(&t->obj);
	}
	if (is_ok && n > 1)
		*ret = msd_of_obj(&tuple->obj);
	if (is_ok)
		return 0;
	if (tuple != NULL)
		msd_obj_unref(&tuple->obj);
	return msd_abi_raise_code(MSD_NOMEM, "out of memory for the outputs");
}

int msd_graph_instance_run(struct msd_graph_instance *g, const struct msd_any *args,
			   int32_t n, struct msd_any *ret)
{
	int rc = take_inputs(g, args, n);

	if (rc == 0)
		rc = fill_outputs(g);
	if (rc == 0)
		rc = run_ops(g);
	if (rc == 0)
		rc = give_outputs(g, ret);
	for (uint32_t s = 0; s < graph_of(g)->n_storages; s++) {
		if (g->plan->storages[s].role == MSD_GRAPH_OUTPUT)
			slot_drop(g, s);
	}
	return rc;
}

static int check_size(const struct msd_graph_instance *g, uint32_t entry,
		      const struct msd_any *v)
{
	const struct msd_dltensor *t = msd_any_dltensor(v);
	const size_t bytes = graph_of(g)->entries[entry].bytes;

	if (t == NULL || t->strides != NULL || msd_dltensor_bytes(t) != bytes)
		return msd_abi_raise_code(MSD_BAD_ARGUMENT,
					  "expected a compact tensor of %zu bytes, got "
					  "%s",
					  bytes, msd_type_name(v->type));
	return 0;
}

/* Zeros until something is set. */
static int own_memory(struct msd_graph_instance *g, uint32_t storage)
{
	struct msd_dev *dev = msd_graph_plan_dev(g->plan, storage);
	const size_t bytes = g->plan->storages[storage].bytes;
	struct slot *slot = &g->slots[storage];
	struct msd_diag d = {0};

	if (slot->own != NULL) {
		slot_point(g, storage, slot->own->data);
		return 0;
	}
	if (!slot_fill(g, storage))
		return msd_abi_raise_code(MSD_NOMEM, "no memory for an input");
	if (bytes == 0)
		return 0;
	if (dev == NULL) {
		memset(slot->own->data, 0, bytes);
		return 0;
	}
	msd_err err = dev->ops->fill(dev, slot->own->data, 0, bytes, &d);
	return err == MSD_OK ? 0 : raise_diag(&d, err);
}

int msd_graph_instance_set(struct msd_graph_instance *g, uint32_t entry,
			   const struct msd_any *v)
{
	const uint32_t storage = graph_of(g)->entries[entry].storage;

	if (check_size(g, entry, v) != 0 || own_memory(g, storage) != 0)
		return -1;
	const struct msd_dltensor *t = msd_any_dltensor(v);
	return copy(g, g->slots[storage].own->data, g->views[entry].dl.device,
		    (char *)t->data + t->byte_offset, t->device,
		    graph_of(g)->entries[entry].bytes);
}

int msd_graph_instance_share(struct msd_graph_instance *g, uint32_t entry,
			     const struct msd_any *v)
{
	const uint32_t storage = graph_of(g)->entries[entry].storage;

	if (check_size(g, entry, v) != 0)
		return -1;
	const struct msd_dltensor *t = msd_any_dltensor(v);
	if (t->device.type != g->views[entry].dl.device.type)
		return msd_abi_raise_code(MSD_BAD_ARGUMENT,
					  "the tensor is on another device");
	slot_point(g, storage, (char *)t->data + t->byte_offset);
	return 0;
}

int msd_graph_instance_execute(struct msd_graph_instance *g)
{
	for (uint32_t i = 0; i < g->plan->n_inputs; i++) {
		const uint32_t entry = g->plan->inputs[i];
		if (g->views[entry].dl.data == NULL &&
		    own_memory(g, graph_of(g)->entries[entry].storage) != 0)
			return -1;
	}
	for (uint32_t s = 0; s < graph_of(g)->n_storages; s++) {
		if (g->plan->storages[s].role == MSD_GRAPH_OUTPUT)
			slot_drop(g, s);
	}
	return fill_outputs(g) == 0 ? run_ops(g) : -1;
}

int msd_graph_instance_get(struct msd_graph_instance *g, uint32_t entry,
			   struct msd_any *ret)
{
	const uint32_t storage = graph_of(g)->entries[entry].storage;

	if (g->plan->storages[storage].role == MSD_GRAPH_OUTPUT &&
	    g->slots[storage].own == NULL)
		return msd_abi_raise("RuntimeError", "run was not called yet");
	if (g->views[entry].dl.data == NULL && own_memory(g, storage) != 0)
		return -1;
	struct msd_tensor *t = entry_tensor(g, entry);
	if (t == NULL)
		return msd_abi_raise_code(MSD_NOMEM, "out of memory");
	*ret = msd_of_obj(&t->obj);
	return 0;
}
