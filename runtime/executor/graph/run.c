/*
 * A run of a graph: inputs in, operators in the order of the file, outputs out.
 *
 * Happy path: an input is used in place if no operator writes to it, else copied.
 * Each operator is called with prebuilt arguments. Outputs get their own memory
 * because callers keep them while the next run executes.
 */
#include "runtime/executor/graph/run.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/device/memory.h"
#include "runtime/executor/graph/memory.h"
#include "runtime/value/error.h"

/* Set input @i to the caller's tensor, which has been checked against the signature. */
static int take_input(struct msd_graph_instance *g, uint32_t i, const struct msd_any *v)
{
	const struct msd_graph_entry *e = &msd_graph_of(g)->entries[g->plan->inputs[i]];
	const struct msd_dltensor *t = msd_any_dltensor(v);

	if (t == NULL || t->strides != NULL || msd_dltensor_bytes(t) != e->bytes) {
		return msd_abi_raise_code(MSD_BAD_ARGUMENT,
					  "argument %u: expected a compact tensor of "
					  "%zu bytes, got %s",
					  i, e->bytes, msd_type_name(v->type));
	}
	const struct msd_graph_slot *slot = &g->slots[e->storage];
	const struct msd_device here = g->views[g->plan->inputs[i]].dl.device;
	void *data = (char *)t->data + t->byte_offset;
	if (!g->plan->storages[e->storage].is_written && t->device.type == here.type) {
		msd_graph_slot_point(g, e->storage, data);
		return 0;
	}
	if (msd_graph_slot_own(g, e->storage) != 0)
		return -1;
	return msd_graph_copy(g, slot->own->data, here, data, t->device, e->bytes);
}

static int take_inputs(struct msd_graph_instance *g, const struct msd_any *args,
		       int32_t n)
{
	if (n < 0 || (uint32_t)n != g->plan->n_inputs) {
		return msd_abi_raise_code(MSD_BAD_ARGUMENT,
					  "expected %u arguments but got %d",
					  g->plan->n_inputs, n);
	}
	for (uint32_t i = 0; i < g->plan->n_inputs; i++) {
		if (take_input(g, i, &args[i]) != 0)
			return -1;
	}
	return 0;
}

static int fill_outputs(struct msd_graph_instance *g)
{
	for (uint32_t s = 0; s < msd_graph_of(g)->n_storages; s++) {
		if (g->plan->storages[s].role == MSD_GRAPH_OUTPUT &&
		    !msd_graph_slot_fill(g, s)) {
			return msd_abi_raise_code(MSD_NOMEM,
						  "out of memory for the outputs");
		}
	}
	return 0;
}

/* Prefix the operator's error with the node. */
static int node_failed(const struct msd_graph_instance *g,
		       const struct msd_graph_op *op)
{
	const struct msd_graph_node *node = &msd_graph_of(g)->nodes[op->node];
	struct msd_diag d = {0};
	msd_err err = msd_abi_fetch_error(&d);
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
		const struct msd_graph_node *node = &msd_graph_of(g)->nodes[op->node];
		const uint32_t n = node->n_inputs + node->n_entries;
		struct msd_any ignored = msd_none();

		if (op->fn == NULL) {
			const struct msd_dltensor *from = args[0].as.dl;
			const struct msd_dltensor *to = args[1].as.dl;
			if (msd_graph_copy(g, to->data, to->device, from->data,
					   from->device, msd_dltensor_bytes(from)) != 0)
				return node_failed(g, op);
		} else if (op->fn->call(op->fn, args, (int32_t)n, &ignored) != 0)
			return node_failed(g, op);
		msd_any_drop(&ignored);
		args += n;
	}
	return 0;
}

/* An entry with memory that lives as long as it is referenced. */
static struct msd_tensor *entry_tensor(const struct msd_graph_instance *g,
				       uint32_t entry)
{
	const struct msd_graph_entry *e = &msd_graph_of(g)->entries[entry];
	const struct msd_dltensor *dl = &g->views[entry].dl;

	if (g->plan->storages[e->storage].role == MSD_GRAPH_OUTPUT) {
		return msd_tensor_view(dl->data, dl->device, e->dtype, e->shape,
				       e->ndim, &g->slots[e->storage].own->obj, NULL,
				       NULL);
	}
	struct msd_tensor *t = NULL;
	if (dl->device.type == MSD_DEV_CPU) {
		t = msd_tensor_new(e->dtype, e->shape, e->ndim);
	} else if (msd_dev_tensor(g->plan->dev, e->dtype, e->shape, e->ndim, &t,
				  NULL) != MSD_OK) {
		return NULL;
	}
	if (t != NULL && msd_graph_copy(g, t->dl.data, dl->device, dl->data, dl->device,
					e->bytes) != 0) {
		msd_obj_unref(&t->obj);
		return NULL;
	}
	return t;
}

static int give_outputs(const struct msd_graph_instance *g, struct msd_any *ret)
{
	const uint32_t n = msd_graph_of(g)->n_heads;
	struct msd_array *tuple = n > 1 ? msd_array_new(n) : NULL;
	bool is_ok = n == 1 || tuple != NULL;

	for (uint32_t i = 0; is_ok && i < n; i++) {
		struct msd_tensor *t = entry_tensor(g, msd_graph_of(g)->heads[i]);

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
	for (uint32_t s = 0; s < msd_graph_of(g)->n_storages; s++) {
		if (g->plan->storages[s].role == MSD_GRAPH_OUTPUT)
			msd_graph_slot_drop(g, s);
	}
	return rc;
}

int msd_graph_instance_set(struct msd_graph_instance *g, uint32_t entry,
			   const struct msd_dltensor *t)
{
	const uint32_t storage = msd_graph_of(g)->entries[entry].storage;

	if (msd_graph_slot_own(g, storage) != 0)
		return -1;
	return msd_graph_copy(g, g->slots[storage].own->data, g->views[entry].dl.device,
			      (char *)t->data + t->byte_offset, t->device,
			      msd_graph_of(g)->entries[entry].bytes);
}

bool msd_graph_instance_share(struct msd_graph_instance *g, uint32_t entry,
			      const struct msd_dltensor *t)
{
	const uint32_t storage = msd_graph_of(g)->entries[entry].storage;

	if (g->plan->storages[storage].is_written || /* the graph would write to it */
	    t->device.type != g->views[entry].dl.device.type)
		return false;
	msd_graph_slot_point(g, storage, (char *)t->data + t->byte_offset);
	return true;
}

int msd_graph_instance_execute(struct msd_graph_instance *g)
{
	for (uint32_t i = 0; i < g->plan->n_inputs; i++) {
		const uint32_t entry = g->plan->inputs[i];
		if (g->views[entry].dl.data == NULL &&
		    msd_graph_slot_own(g, msd_graph_of(g)->entries[entry].storage) != 0)
			return -1;
	}
	for (uint32_t s = 0; s < msd_graph_of(g)->n_storages; s++) {
		if (g->plan->storages[s].role == MSD_GRAPH_OUTPUT)
			msd_graph_slot_drop(g, s);
	}
	return fill_outputs(g) == 0 ? run_ops(g) : -1;
}

int msd_graph_instance_get(struct msd_graph_instance *g, uint32_t entry,
			   struct msd_any *ret)
{
	const uint32_t storage = msd_graph_of(g)->entries[entry].storage;

	if (g->plan->storages[storage].role == MSD_GRAPH_OUTPUT &&
	    g->slots[storage].own == NULL)
		return msd_abi_raise("RuntimeError", "run was not called yet");
	if (g->views[entry].dl.data == NULL && msd_graph_slot_own(g, storage) != 0)
		return -1;
	struct msd_tensor *t = entry_tensor(g, entry);
	if (t == NULL)
		return msd_abi_no_memory();
	*ret = msd_of_obj(&t->obj);
	return 0;
}
