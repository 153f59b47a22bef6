/*
 * Happy path: the arguments of each kernel are addresses in the arena or of constants,
 * found once. A run sets those that are inputs, and outputs that the caller makes, then
 * calls kernel after kernel, with reorders between them (reorder.h). If the arena has
 * moved, all addresses are found again.
 */
#include "runtime/plan/entry.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/ir/view.h"
#include "proto/base/clock.h"
#include "runtime/engine/engine.h"
#include "runtime/plan/clock.h"
#include "runtime/plan/reorder.h"

static bool is_input(const modser_sg_tensor *t)
{
	return t->type != MODSER_TENSOR_CONST && t->producer != NULL &&
	       msd_sg_node_is_given(t->producer);
}

/* SIZE_MAX: the graph does not list it, and no node reads it. */
static size_t input_of(const modser_graph *g, const modser_sg_tensor *t)
{
	size_t i = 0;

	while (i < g->n_inputs && g->inputs[i] != t)
		i++;
	return i < g->n_inputs ? i : SIZE_MAX;
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
	/* A reorder of an input takes the place of at least one argument. */
	e->patches = calloc(n_in + 1, sizeof(*e->patches));
	e->out_patches = calloc(n_out + 1, sizeof(*e->out_patches));
	e->outputs = calloc(g->n_outputs + 1, sizeof(*e->outputs));
	return e->steps != NULL && e->in != NULL && e->out != NULL &&
	       e->patches != NULL && e->out_patches != NULL && e->outputs != NULL;
}

struct msd_entry_ends msd_entry_ends(const struct msd_entry_step *step)
{
	const modser_sg_node *node = step->call.node;
	const struct msd_group *group = step->group;

	if (group != NULL) {
		return (struct msd_entry_ends){group->told.inputs, group->told.outputs,
					       group->told.n_inputs,
					       group->told.n_outputs};
	}
	return (struct msd_entry_ends){(const modser_sg_tensor *const *)node->inputs,
				       (const modser_sg_tensor *const *)node->outputs,
				       node->n_inputs, node->n_outputs};
}

static void make_steps(struct msd_entry *e)
{
	const struct msd_groups *groups = &e->groups;
	const void **in = e->in;
	void **out = e->out;

	for (size_t i = 0; i < e->g->n_nodes; i++) {
		const modser_sg_node *node = e->g->nodes[groups->order[i]];
		const struct msd_group *group = msd_groups_find(groups, node);
		struct msd_entry_step *step = &e->steps[e->n_steps];

		if (msd_sg_node_is_given(node) ||
		    (group != NULL && group->told.nodes[0] != node))
			continue;
		step->call =
			(struct msd_kernel_call){.node = node, .in = in, .out = out};
		step->by = group != NULL ? &group->step : groups->by[node->index];
		step->group = group;
		step->row = groups->row != NULL ? groups->row[node->index] : e->n_steps;
		in += msd_entry_ends(step).n_in;
		out += msd_entry_ends(step).n_out;
		e->n_steps++;
	}
}

/* The tensor that @t lies in. */
static const modser_sg_tensor *root_of(const struct msd_entry *e,
				       const modser_sg_tensor *t)
{
	return e->g->tensors[e->views.list[t->index].root];
}

static void add_patch(struct msd_entry *e, const modser_sg_tensor *t,
		      const void **argument)
{
	const modser_sg_tensor *root = t != NULL ? root_of(e, t) : NULL;
	const size_t i =
		root != NULL && is_input(root) ? input_of(e->g, root) : SIZE_MAX;

	if (i != SIZE_MAX) {
		e->patches[e->n_patches++] = (struct msd_entry_patch){
			argument, i, e->views.list[t->index].offset};
	}
}

/* A node writes @t, perhaps into an output that the caller makes. */
static void add_out_patch(struct msd_entry *e, const struct msd_graph_program *p,
			  const modser_sg_tensor *t, void **argument)
{
	const size_t i = t != NULL ? p->output_of[root_of(e, t)->index] : SIZE_MAX;

	if (i != SIZE_MAX) {
		e->out_patches[e->n_out_patches++] = (struct msd_entry_out_patch){
			argument, i, e->views.list[t->index].offset};
	}
}

/* Reorder @r writes the rows of a tensor, which may be an output. */
static void add_reordered(struct msd_entry *e, struct msd_reorder *r)
{
	size_t first = SIZE_MAX;

	for (size_t i = 0; i < e->g->n_outputs; i++) {
		if (e->g->outputs[i] != r->tensor)
			continue;
		first = first == SIZE_MAX ? i : first;
		e->outputs[i] =
			(struct msd_entry_output){r, r->is_read ? SIZE_MAX : first};
	}
	if (first != SIZE_MAX && !r->is_read) {
		e->out_patches[e->n_out_patches++] =
			(struct msd_entry_out_patch){&r->out, first, 0};
	}
}

/* The reorder that makes input @k of the step; NULL: it is what a node writes. */
static const struct msd_reorder *reorder_at(const struct msd_entry *e,
					    const struct msd_entry_step *step, size_t k)
{
	return e->reorders != NULL
		       ? e->reorders->in[(size_t)(step->call.in - e->in) + k]
		       : NULL;
}

static bool is_laid_out(const modserd_layout *const *layouts, size_t k)
{
	return layouts != NULL && layouts[k] != NULL;
}

/* Find the arguments that are inputs and outputs of the graph. */
static void find_ends(struct msd_entry *e, const struct msd_graph_program *p)
{
	for (size_t i = 0; i < e->g->n_outputs; i++)
		e->outputs[i].made = p->output_of[e->g->outputs[i]->index];
	for (size_t i = 0; i < e->n_steps; i++) {
		const struct msd_entry_step *step = &e->steps[i];
		const struct msd_entry_ends ends = msd_entry_ends(step);
		const void **in = e->in + (step->call.in - e->in);
		void **out = e->out + (step->call.out - e->out);
		struct msd_reorder *r = msd_reorder_of(step);

		if (r != NULL) {
			if (r->from == NULL)
				add_patch(e, r->tensor, &r->in);
			if (r->is_to_rows)
				add_reordered(e, r);
			continue;
		}
		for (size_t k = 0; k < ends.n_in; k++) {
			if (reorder_at(e, step, k) == NULL)
				add_patch(e, ends.in[k], &in[k]);
		}
		for (size_t k = 0; k < ends.n_out; k++) {
			if (!is_laid_out(step->call.out_layouts, k))
				add_out_patch(e, p, ends.out[k], &out[k]);
		}
	}
}

/* With groups or layouts of engines no tensor lies in another one. */
static msd_err find_views(struct msd_entry *e, struct msd_diag *d)
{
	const bool has_none = e->groups.n > 0 || e->reorders != NULL;
	const size_t *last = e->reorders != NULL ? e->reorders->last : e->groups.last;
	bool *is_foreign = calloc(e->g->n_nodes + 1, sizeof(*is_foreign));

	if (is_foreign == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < e->g->n_nodes; i++) {
		const struct msd_engine_node *by = e->groups.by[i];

		is_foreign[i] = by != NULL &&
				(has_none || msd_engine_is_plugins(by, e->g->nodes[i]));
	}
	const msd_err err =
		msd_views_init(&e->views, e->g, e->groups.order, last, is_foreign, d);
	free(is_foreign);
	return err;
}

/* Views have nothing to do. */
static void drop_views(struct msd_entry *e)
{
	size_t n = 0;

	for (size_t i = 0; i < e->n_steps; i++) {
		if (!e->views.is_view[e->steps[i].call.node->index])
			e->steps[n++] = e->steps[i];
	}
	e->n_steps = n;
}

msd_err msd_entry_init(struct msd_entry *e, struct msd_graph_program *p,
		       modser_graph *g, struct msd_diag *d)
{
	*e = (struct msd_entry){.g = g, .owns_view = g != p->g};
	msd_err err = allocate(e, g) ? msd_groups_init(&e->groups, p, g, d)
				     : msd_diag_no_memory(d);
	if (err != MSD_OK)
		return err;
	make_steps(e);
	err = msd_reorders_create(e, p, d);
	if (err == MSD_OK)
		err = find_views(e, d);
	if (err != MSD_OK)
		return err;
	drop_views(e);
	find_ends(e, p);
	return msd_memory_plan_init(&e->memory, g, e->groups.order, &e->views,
				    e->reorders != NULL ? &e->reorders->needs : NULL,
				    d);
}

void msd_entry_finish(struct msd_entry *e)
{
	msd_groups_finish(&e->groups); /* they point into the view */
	if (e->owns_view)
		msd_sg_view_destroy(e->g);
	msd_views_finish(&e->views);
	msd_memory_plan_finish(&e->memory);
	free(e->steps);
	free((void *)e->in);
	free((void *)e->out);
	free(e->patches);
	free(e->out_patches);
	free(e->outputs);
	msd_reorders_destroy(e->reorders);
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

/* NULL stays NULL: an empty tensor may have no bytes. */
static const void *move(const void *p, size_t offset)
{
	return p != NULL ? (const uint8_t *)p + offset : NULL;
}

static void *address(const struct msd_entry *e, uint8_t *arena,
		     const modser_sg_tensor *t)
{
	const modser_sg_tensor *root = t != NULL ? root_of(e, t) : NULL;

	if (root == NULL || is_input(root))
		return NULL;
	if (root->type == MODSER_TENSOR_CONST) {
		return (void *)(uintptr_t)move(root->data,
					       e->views.list[t->index].offset);
	}
	return arena + e->memory.offsets[t->index];
}

/* The address of what @r makes. */
static void *reordered(const struct msd_entry *e, uint8_t *arena,
		       const struct msd_reorder *r)
{
	return r->own != NULL ? r->own
			      : arena + e->memory.offsets[e->g->n_tensors + r->block];
}

static void bind_reorder(const struct msd_entry *e, uint8_t *arena,
			 struct msd_reorder *r)
{
	r->in = r->from != NULL ? reordered(e, arena, r->from)
				: address(e, arena, r->tensor);
	r->out = reordered(e, arena, r);
}

/* Find the addresses of all arguments but the graph's inputs. */
static void bind(struct msd_entry *e, uint8_t *arena)
{
	for (size_t i = 0; i < e->n_steps; i++) {
		const struct msd_entry_step *step = &e->steps[i];
		const struct msd_entry_ends ends = msd_entry_ends(step);
		const void **in = e->in + (step->call.in - e->in);
		void **out = e->out + (step->call.out - e->out);

		if (msd_reorder_of(step) != NULL) {
			bind_reorder(e, arena, msd_reorder_of(step));
			continue;
		}
		for (size_t k = 0; k < ends.n_in; k++) {
			const struct msd_reorder *r = reorder_at(e, step, k);

			in[k] = r != NULL ? reordered(e, arena, r)
					  : address(e, arena, ends.in[k]);
		}
		for (size_t k = 0; k < ends.n_out; k++)
			out[k] = address(e, arena, ends.out[k]);
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

/* The address of output @i, from those of the outputs before it. NULL: memory is
 * short, or an empty tensor has no bytes. */
static const void *output_address(const struct msd_entry *e, uint8_t *arena,
				  const struct msd_plan_args *call, size_t i,
				  const void *const *outputs)
{
	const struct msd_entry_output *o = &e->outputs[i];
	const modser_sg_tensor *t = e->g->outputs[i];

	if (is_input(t))
		return call->inputs[input_of(e->g, t)].data;
	if (o->made < i) /* it is an output twice */
		return outputs[o->made];
	if (o->made == i && call->make_output != NULL)
		return call->make_output(call->ctx, i, t);
	return o->by != NULL ? reordered(e, arena, o->by) : address(e, arena, t);
}

/* Set the addresses of this call's inputs, and of outputs that the caller makes. */
static msd_err bind_call(struct msd_entry *e, uint8_t *arena,
			 const struct msd_plan_args *call, const void **ret_outputs,
			 struct msd_diag *d)
{
	for (size_t i = 0; i < e->n_patches; i++) {
		const struct msd_entry_patch *p = &e->patches[i];

		*p->argument = move(call->inputs[p->i].data, p->offset);
	}
	for (size_t i = 0; i < e->g->n_outputs; i++) {
		ret_outputs[i] = output_address(e, arena, call, i, ret_outputs);
		if (ret_outputs[i] == NULL && e->outputs[i].made == i)
			return msd_diag_no_memory(d);
	}
	for (size_t i = 0; i < e->n_out_patches; i++) {
		const struct msd_entry_out_patch *p = &e->out_patches[i];

		*p->argument = (void *)(uintptr_t)move(ret_outputs[p->i], p->offset);
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
		if (e->outputs[i].made != i)
			err = msd_entry_copy_output(call, e->g, i, &ret_outputs[i], d);
	}
	return err;
}

static inline msd_err run_step(const struct msd_entry_step *step, struct msd_diag *d)
{
	const struct msd_engine_node *by = step->by;
	const msd_err err = by->engine->run(by->state, &step->call, d);

	if (err == MSD_OK)
		return MSD_OK;
	return step->group != NULL ? msd_group_blame(step->group, err, d)
				   : msd_entry_blame(step->call.node, err, d);
}

/* Count the time of @step, which began at @begin_ns. Returns now. */
static uint64_t count(const struct msd_clock_part *times,
		      const struct msd_entry_step *step, uint64_t begin_ns)
{
	const size_t row = times->first_row + step->row;

	return msd_reorder_of(step) != NULL
		       ? msd_clock_count_reorder(times->clock, row, begin_ns)
		       : msd_clock_count(times->clock, row, begin_ns);
}

msd_err msd_entry_run(struct msd_entry *e, struct msd_arena_block *arena,
		      const struct msd_plan_args *call,
		      const struct msd_clock_part *times, const void **ret_outputs,
		      struct msd_diag *d)
{
	const bool is_timed = times->clock != NULL;
	msd_err err = begin(e, arena, call, ret_outputs, d);
	uint64_t begin_ns = is_timed ? msd_now_ns() : 0;

	for (size_t i = 0; err == MSD_OK && i < e->n_steps; i++) {
		err = run_step(&e->steps[i], d);
		if (is_timed)
			begin_ns = count(times, &e->steps[i], begin_ns);
	}
	return err == MSD_OK ? end(e, call, ret_outputs, d) : err;
}
