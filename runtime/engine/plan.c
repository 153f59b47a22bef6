/*
 * A graph made ready to run, and its runs.
 *
 * Happy path: shapes are inferred and nodes put in order; each node is checked to have
 * a kernel and the elements for it; each tensor that a kernel makes gets a place in one
 * arena, which others reuse after its last reader. A run binds constants and inputs,
 * calls kernel after kernel, and copies the outputs out.
 *
 * Failures are the load's: an operator without a kernel, elements that are not float32,
 * a constant without bytes. A run fails only when a kernel does.
 */
#include "runtime/engine/plan.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/order.h"
#include "proto/bytes.h"
#include "runtime/engine/kernel.h"

#define ALIGN ((size_t)64)
#define NEVER SIZE_MAX

/* Where a tensor that a kernel makes lies in the arena, and until which step. */
struct place {
	size_t offset;
	size_t bytes; /* 0: it has none */
	size_t last;  /* step that reads it last; NEVER: it is an output */
};

struct msd_plan {
	modser_graph *g;
	size_t *order;        /* of nodes */
	struct place *places; /* of tensors */
	size_t *live;         /* tensors in the arena now, by their offsets */
	size_t n_live;
	uint8_t *arena;
	size_t arena_bytes;
	const float **at; /* of tensors, in a run */
	const float **in; /* of the node that runs */
	float **out;
};

static msd_err take_error(const modser_graph *g, struct msd_diag *d)
{
	return msd_diag_set(d, msd_err_from_name(modser_graph_error_name(g)), "%s",
			    modser_graph_error(g));
}

static bool is_given(const modser_sg_node *node)
{
	const char *op = modser_sg_op_name(modser_sg_node_op(node));

	return strcmp(op, "Const") == 0 || strcmp(op, "InputOp") == 0;
}

static msd_err check_node(const modser_sg_node *node, struct msd_diag *d)
{
	const char *op = modser_sg_op_name(modser_sg_node_op(node));

	if (is_given(node))
		return MSD_OK;
	if (msd_kernel_find(op) == NULL) {
		return msd_diag_set(
			d, MSD_UNSUPPORTED, "node %zu \"%s\": %s cannot be run yet",
			modser_sg_node_index(node), modser_sg_node_name(node), op);
	}
	/* The second input of a Reshape only says a shape. */
	const size_t n_read =
		strcmp(op, "Reshape") == 0 ? 1 : modser_sg_node_input_count(node);
	for (size_t i = 0; i < n_read; i++) {
		const modser_sg_tensor *t = modser_sg_node_input(node, i);
		uint64_t bytes;

		if (strcmp(modser_sg_tensor_dtype(t), "float32") != 0) {
			return msd_diag_set(
				d, MSD_UNSUPPORTED,
				"node %zu \"%s\": \"%s\" is %s; kernels "
				"are for float32",
				modser_sg_node_index(node), modser_sg_node_name(node),
				modser_sg_tensor_name(t), modser_sg_tensor_dtype(t));
		}
		if (modser_sg_tensor_type_of(t) == MODSER_TENSOR_CONST &&
		    modser_sg_tensor_data(t, &bytes) == NULL) {
			return msd_diag_set(d, MSD_UNSUPPORTED,
					    "constant \"%s\" has no bytes",
					    modser_sg_tensor_name(t));
		}
	}
	return MSD_OK;
}

static void find_last_reads(struct msd_plan *p)
{
	for (size_t step = 0; step < modser_graph_node_count(p->g); step++) {
		const modser_sg_node *node = modser_graph_node(p->g, p->order[step]);

		for (size_t i = 0; i < modser_sg_node_input_count(node); i++) {
			const modser_sg_tensor *t = modser_sg_node_input(node, i);

			p->places[modser_sg_tensor_index(t)].last = step;
		}
	}
	for (size_t i = 0; i < modser_graph_output_count(p->g); i++) {
		const modser_sg_tensor *t = modser_graph_output(p->g, i);

		p->places[modser_sg_tensor_index(t)].last = NEVER;
	}
}

/* The first gap that is wide enough; what is live stays ordered by offsets. */
static bool put(struct msd_plan *p, size_t tensor)
{
	struct place *place = &p->places[tensor];
	size_t offset = 0;
	size_t k = 0;
	size_t end;

	for (; k < p->n_live; k++) {
		const struct place *other = &p->places[p->live[k]];

		if (other->offset - offset >= place->bytes)
			break;
		offset = other->offset + other->bytes;
	}
	if (!msd_add_size(offset, place->bytes, &end))
		return false;
	place->offset = offset;
	memmove(p->live + k + 1, p->live + k, (p->n_live - k) * sizeof(*p->live));
	p->live[k] = tensor;
	p->n_live++;
	if (end > p->arena_bytes)
		p->arena_bytes = end;
	return true;
}

static void drop_read(struct msd_plan *p, size_t step)
{
	size_t n = 0;

	for (size_t k = 0; k < p->n_live; k++) {
		if (p->places[p->live[k]].last > step)
			p->live[n++] = p->live[k];
	}
	p->n_live = n;
}

static bool put_outputs(struct msd_plan *p, const modser_sg_node *node, size_t step)
{
	for (size_t i = 0; i < modser_sg_node_output_count(node); i++) {
		const modser_sg_tensor *t = modser_sg_node_output(node, i);
		struct place *place = &p->places[modser_sg_tensor_index(t)];

		/* What nobody reads is written all the same. */
		place->last = place->last < step ? step : place->last;
		place->bytes = (msd_kernel_elements(t) * sizeof(float) + ALIGN - 1) /
			       ALIGN * ALIGN;
		if (!put(p, modser_sg_tensor_index(t)))
			return false;
	}
	return true;
}

static msd_err lay_out(struct msd_plan *p, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	find_last_reads(p);
	for (size_t step = 0; step < modser_graph_node_count(p->g); step++) {
		const modser_sg_node *node = modser_graph_node(p->g, p->order[step]);

		err = check_node(node, d);
		if (err != MSD_OK)
			return err;
		if (is_given(node))
			continue;
		if (!put_outputs(p, node, step))
			return msd_diag_no_memory(d);
		drop_read(p, step);
	}
	return MSD_OK;
}

static msd_err allocate(struct msd_plan *p, struct msd_diag *d)
{
	const size_t n_nodes = modser_graph_node_count(p->g);
	const size_t n_tensors = modser_graph_tensor_count(p->g);
	size_t most = 1;

	for (size_t i = 0; i < n_nodes; i++) {
		const modser_sg_node *node = modser_graph_node(p->g, i);
		const size_t n_in = modser_sg_node_input_count(node);
		const size_t n_out = modser_sg_node_output_count(node);

		most = n_in > most ? n_in : most;
		most = n_out > most ? n_out : most;
	}
	p->order = calloc(n_nodes + 1, sizeof(*p->order));
	p->places = calloc(n_tensors + 1, sizeof(*p->places));
	p->live = calloc(n_tensors + 1, sizeof(*p->live));
	p->at = calloc(n_tensors + 1, sizeof(*p->at));
	p->in = calloc(most, sizeof(*p->in));
	p->out = calloc(most, sizeof(*p->out));
	if (p->order == NULL || p->places == NULL || p->live == NULL || p->at == NULL ||
	    p->in == NULL || p->out == NULL)
		return msd_diag_no_memory(d);
	return MSD_OK;
}

msd_err msd_plan_create(modser_graph *graph, struct msd_plan **ret, struct msd_diag *d)
{
	struct msd_plan *p = calloc(1, sizeof(*p));
	msd_err err;

	if (p == NULL)
		return msd_diag_no_memory(d);
	p->g = graph;
	err = allocate(p, d);
	if (err == MSD_OK &&
	    (modser_graph_infer(graph) != 0 || msd_sg_order(graph, p->order) != 0))
		err = take_error(graph, d);
	if (err == MSD_OK)
		err = lay_out(p, d);
	if (err == MSD_OK) {
		p->arena = aligned_alloc(ALIGN, p->arena_bytes + ALIGN);
		if (p->arena == NULL)
			err = msd_diag_no_memory(d);
	}
	if (err != MSD_OK) {
		msd_plan_destroy(p);
		return err;
	}
	*ret = p;
	return MSD_OK;
}

void msd_plan_destroy(struct msd_plan *plan)
{
	if (plan == NULL)
		return;
	free(plan->order);
	free(plan->places);
	free(plan->live);
	free(plan->arena);
	free(plan->at);
	free(plan->in);
	free(plan->out);
	free(plan);
}

size_t msd_plan_arena_bytes(const struct msd_plan *plan)
{
	return plan->arena_bytes;
}

static float *place_of(struct msd_plan *p, const modser_sg_tensor *t)
{
	return (float *)(void *)(p->arena +
				 p->places[modser_sg_tensor_index(t)].offset);
}

static msd_err run_node(struct msd_plan *p, const modser_sg_node *node,
			struct msd_diag *d)
{
	const struct msd_kernel_call call = {node, p->in, p->out};
	const struct msd_kernel *kernel =
		msd_kernel_find(modser_sg_op_name(modser_sg_node_op(node)));

	for (size_t i = 0; i < modser_sg_node_input_count(node); i++)
		p->in[i] = p->at[modser_sg_tensor_index(modser_sg_node_input(node, i))];
	for (size_t i = 0; i < modser_sg_node_output_count(node); i++) {
		const modser_sg_tensor *t = modser_sg_node_output(node, i);

		p->out[i] = place_of(p, t);
		p->at[modser_sg_tensor_index(t)] = p->out[i];
	}
	msd_err err = kernel->run(&call, d);
	if (err != MSD_OK) {
		return msd_diag_wrap(d, err, "node %zu \"%s\"",
				     modser_sg_node_index(node),
				     modser_sg_node_name(node));
	}
	return MSD_OK;
}

static void bind(struct msd_plan *p, const float *const *inputs)
{
	for (size_t i = 0; i < modser_graph_tensor_count(p->g); i++) {
		const modser_sg_tensor *t = modser_graph_tensor(p->g, i);
		uint64_t bytes;

		if (modser_sg_tensor_type_of(t) == MODSER_TENSOR_CONST)
			p->at[i] = modser_sg_tensor_data(t, &bytes);
	}
	for (size_t i = 0; i < modser_graph_input_count(p->g); i++)
		p->at[modser_sg_tensor_index(modser_graph_input(p->g, i))] = inputs[i];
}

msd_err msd_plan_run(struct msd_plan *plan, const float *const *inputs,
		     float *const *outputs, struct msd_diag *d)
{
	bind(plan, inputs);
	for (size_t step = 0; step < modser_graph_node_count(plan->g); step++) {
		const modser_sg_node *node =
			modser_graph_node(plan->g, plan->order[step]);
		msd_err err = is_given(node) ? MSD_OK : run_node(plan, node, d);

		if (err != MSD_OK)
			return err;
	}
	for (size_t i = 0; i < modser_graph_output_count(plan->g); i++) {
		const modser_sg_tensor *t = modser_graph_output(plan->g, i);

		memcpy(outputs[i], plan->at[modser_sg_tensor_index(t)],
		       msd_kernel_elements(t) * sizeof(float));
	}
	return MSD_OK;
}
