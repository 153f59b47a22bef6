/*
 * Happy path: the arguments of each kernel are addresses in the arena or of constants,
 * found once. A run sets those that are inputs, and outputs that the caller makes, then
 * calls kernel after kernel. If the arena has moved, all addresses are found again.
 */
#include "runtime/plan/entry.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/ir/view.h"
#include "proto/base/clock.h"
#include "runtime/engine/engine.h"
#include "runtime/plan/clock.h"

static bool is_input(const modser_sg_tensor *t)
{
	return t->type != MODSER_TENSOR_CONST && t->producer != NULL &&
	       msd_sg_node_is_given(t->producer);
}

/* The last one: a tensor may be several inputs. SIZE_MAX: the graph does not list it.
 */
static size_t input_of(const modser_graph *g, const modser_sg_tensor *t)
{
	for (size_t i = g->n_inputs; i > 0; i--) {
		if (g->inputs[i - 1] == t)
			return i - 1;
	}
	return SIZE_MAX;
}

static bool allocate(struct msd_entry *e, const modser_graph *g)
{
	size_t n_in = 0;
	size_t n_out = 0;

	for (size_t i = 0; i < g->n_nodes; i++) {
		n_in += g->nodes[i]->n_inputs;
		n_out += g->nodes[i]->n_outputs;
	}
	e->steps = calloc(g->n_nodes + 1, sizeof(*e->steps));
	e->in = calloc(n_in + 1, sizeof(*e->in));
	e->out = calloc(n_out + 1, sizeof(*e->out));
	e->patches = calloc(n_in + 1, sizeof(*e->patches));
	e->outputs = calloc(g->n_outputs + 1, sizeof(*e->outputs));
	return e->steps != NULL && e->in != NULL && e->out != NULL &&
	       e->patches != NULL && e->outputs != NULL;
}

static void find_patches(struct msd_entry *e, const modser_sg_node *node, size_t in)
{
	for (size_t k = 0; k < node->n_inputs; k++) {
		const modser_sg_tensor *t = node->inputs[k];
		const size_t i =
			t != NULL && is_input(t) ? input_of(e->g, t) : SIZE_MAX;

		if (i != SIZE_MAX) {
			e->patches[e->n_patches++] =
				(struct msd_entry_patch){in + k, i};
		}
	}
}

static void find_outputs(struct msd_entry *e, const struct msd_graph_program *p,
			 const modser_sg_node *node, size_t out)
{
	for (size_t i = 0; i < e->g->n_outputs; i++) {
		const modser_sg_tensor *t = e->g->outputs[i];

		for (size_t k = 0; t->producer == node && k < node->n_outputs; k++) {
			if (node->outputs[k] == t) {
				e->outputs[i] = (struct msd_entry_output){
					out + k, p->output_of[t->index] == i};
			}
		}
	}
}

static msd_err make_steps(struct msd_entry *e, struct msd_graph_program *p,
			  struct msd_diag *d)
{
	size_t in = 0;
	size_t out = 0;
	msd_err err = MSD_OK;

	for (size_t i = 0; i < e->g->n_outputs; i++)
		e->outputs[i].argument = SIZE_MAX;
	for (size_t i = 0; err == MSD_OK && i < e->g->n_nodes; i++) {
		modser_sg_node *node = e->g->nodes[p->order[i]];
		struct msd_entry_step *step = &e->steps[e->n_steps];

		if (msd_sg_node_is_given(node))
			continue;
		step->call = (struct msd_kernel_call){node, e->in + in, e->out + out};
		err = msd_claim_choose(&p->claims[node->index], node, &step->by, d);
		find_patches(e, node, in);
		find_outputs(e, p, node, out);
		in += node->n_inputs;
		out += node->n_outputs;
		e->n_steps++;
	}
	return err;
}

msd_err msd_entry_init(struct msd_entry *e, struct msd_graph_program *p,
		       modser_graph *g, struct msd_diag *d)
{
	*e = (struct msd_entry){.g = g, .owns_view = g != p->g};
	msd_err err = msd_memory_plan_init(&e->memory, g, p->order, p->last, d);
	if (err == MSD_OK && !allocate(e, g))
		err = msd_diag_no_memory(d);
	return err == MSD_OK ? make_steps(e, p, d) : err;
}

void msd_entry_finish(struct msd_entry *e)
{
	if (e->owns_view)
		msd_sg_view_destroy(e->g);
	msd_memory_plan_finish(&e->memory);
	free(e->steps);
	free((void *)e->in);
	free((void *)e->out);
	free(e->patches);
	free(e->outputs);
	*e = (struct msd_entry){0};
}

bool msd_entry_is_for(const struct msd_entry *e, const struct msd_graph_program *p,
		      const struct msd_plan_input *inputs)
{
	if (e->g == NULL)
		return false;
	for (size_t i = 0; i < e->g->n_inputs; i++) {
		const modser_sg_tensor *t = e->g->inputs[i];
		const struct msd_plan_input *in = &inputs[i];

		if (t->ndim != (int)in->ndim ||
		    (p->is_within && !msd_dtype_eq(t->dtype, in->dtype)) ||
		    (in->ndim > 0 &&
		     memcmp(t->dims, in->dims, in->ndim * sizeof(*t->dims)) != 0))
			return false;
	}
	return true;
}

static void *address(const struct msd_entry *e, uint8_t *arena,
		     const modser_sg_tensor *t)
{
	if (t == NULL || is_input(t))
		return NULL;
	return t->type == MODSER_TENSOR_CONST ? (void *)(uintptr_t)t->data
					      : arena + e->memory.offsets[t->index];
}

/* Find the addresses of all arguments but the graph's inputs. */
static void bind(struct msd_entry *e, uint8_t *arena)
{
	for (size_t i = 0; i < e->n_steps; i++) {
		const struct msd_kernel_call *call = &e->steps[i].call;
		const void **in = e->in + (call->in - e->in);
		void **out = e->out + (call->out - e->out);

		for (size_t k = 0; k < call->node->n_inputs; k++)
			in[k] = address(e, arena, call->node->inputs[k]);
		for (size_t k = 0; k < call->node->n_outputs; k++)
			out[k] = address(e, arena, call->node->outputs[k]);
	}
	e->arena = arena;
}

msd_err msd_entry_copy_output(const struct msd_plan_args *call, const modser_graph *g,
			      size_t i, const void **at, struct msd_diag *d)
{
	const modser_sg_tensor *t = g->outputs[i];
	uint64_t bytes = 0;

	if (call->make_output == NULL)
		return MSD_OK;
	void *p = call->make_output(call->ctx, i, t);
	if (p == NULL)
		return msd_diag_no_memory(d);
	if (msd_sg_tensor_bytes(t, &bytes) && bytes > 0)
		memcpy(p, *at, (size_t)bytes);
	*at = p;
	return MSD_OK;
}

/* Set the addresses of this call's inputs, and of outputs that the caller makes. */
static msd_err bind_call(struct msd_entry *e, uint8_t *arena,
			 const struct msd_plan_args *call, const void **ret_outputs,
			 struct msd_diag *d)
{
	for (size_t i = 0; i < e->n_patches; i++)
		e->in[e->patches[i].argument] = call->inputs[e->patches[i].i].data;
	for (size_t i = 0; i < e->g->n_outputs; i++) {
		const struct msd_entry_output *o = &e->outputs[i];
		const modser_sg_tensor *t = e->g->outputs[i];

		if (o->argument == SIZE_MAX) {
			ret_outputs[i] = is_input(t)
						 ? call->inputs[input_of(e->g, t)].data
						 : t->data;
			continue;
		}
		if (o->is_made && call->make_output != NULL) {
			e->out[o->argument] = call->make_output(call->ctx, i, t);
		} else if (o->is_made) {
			e->out[o->argument] = address(e, arena, t);
		}
		if (e->out[o->argument] == NULL)
			return msd_diag_no_memory(d);
		ret_outputs[i] = e->out[o->argument];
	}
	return MSD_OK;
}

msd_err msd_entry_blame(const modser_sg_node *node, msd_err err, struct msd_diag *d)
{
	return msd_diag_wrap(d, err, "node %zu \"%s\"", node->number, node->name);
}

/* Before the first step: addresses of this call. */
static msd_err begin(struct msd_entry *e, struct msd_arena_block *arena,
		     const struct msd_plan_args *call, const void **ret_outputs,
		     struct msd_diag *d)
{
	const msd_err err = msd_arena_block_grow(arena, e->memory.bytes, d);

	if (err != MSD_OK)
		return err;
	if (e->arena != arena->p)
		bind(e, arena->p);
	return bind_call(e, arena->p, call, ret_outputs, d);
}

/* After the last step: outputs that no kernel wrote to their place. */
static msd_err end(const struct msd_entry *e, const struct msd_plan_args *call,
		   const void **ret_outputs, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (size_t i = 0; err == MSD_OK && i < e->g->n_outputs; i++) {
		if (!e->outputs[i].is_made)
			err = msd_entry_copy_output(call, e->g, i, &ret_outputs[i], d);
	}
	return err;
}

static inline msd_err run_step(const struct msd_entry_step *step, struct msd_diag *d)
{
	const struct msd_engine_node *by = step->by;
	const msd_err err = by->engine->run(by->state, &step->call, d);

	return err == MSD_OK ? err : msd_entry_blame(step->call.node, err, d);
}

msd_err msd_entry_run(struct msd_entry *e, struct msd_arena_block *arena,
		      const struct msd_plan_args *call, const void **ret_outputs,
		      struct msd_diag *d)
{
	msd_err err = begin(e, arena, call, ret_outputs, d);

	for (size_t i = 0; err == MSD_OK && i < e->n_steps; i++)
		err = run_step(&e->steps[i], d);
	return err == MSD_OK ? end(e, call, ret_outputs, d) : err;
}

msd_err msd_entry_run_timed(struct msd_entry *e, struct msd_arena_block *arena,
			    const struct msd_plan_args *call, const void **ret_outputs,
			    struct msd_clock *clock, size_t first_row,
			    struct msd_diag *d)
{
	msd_err err = begin(e, arena, call, ret_outputs, d);
	uint64_t begin_ns = msd_now_ns();

	for (size_t i = 0; err == MSD_OK && i < e->n_steps; i++) {
		err = run_step(&e->steps[i], d);
		begin_ns = msd_clock_count(clock, first_row + i, begin_ns);
	}
	return err == MSD_OK ? end(e, call, ret_outputs, d) : err;
}
