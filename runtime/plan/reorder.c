/*
 * Happy path: the steps are walked in the order of a run. The engine of each says which
 * forms its node reads and writes (forms.h). An input that lacks the wanted form gets a
 * reorder before the step, or reads that of an earlier step; an output of the graph
 * gets one to rows right behind its producer. Then the reorders become steps.
 *
 * Failures: those of forms.c, and a constant that cannot be converted.
 */
#include "runtime/plan/reorder.h"

#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/layout/arena.h"
#include "proto/base/grow.h"
#include "runtime/kernel/kernel.h"
#include "runtime/plan/entry.h"
#include "runtime/plan/forms.h"
#include "runtime/plan/program.h"

#define MOST_WHY 256

/* State while the steps are walked. */
struct build {
	struct msd_entry *e;
	struct msd_graph_program *p;
	struct msd_reorders *r;
	const size_t *last; /* of the groups */
	struct msd_forms forms;
	struct msd_reorder **end; /* of the list */
	/* Its number among the steps and in the plan, its first and last place in the
	 * order, and the step before which its reorders run. */
	size_t step, row, order, until, at;
	bool has_layouts;
};

static msd_err blame(const struct msd_reorder *r, const char *why, msd_err code,
		     struct msd_diag *d)
{
	return msd_diag_set(d, code, "engine %s: layout %s of \"%s\": %s", r->engine,
			    r->layout->name, r->tensor->name,
			    why[0] != '\0' ? why : "it failed");
}

static msd_err convert(const struct msd_reorder *r, const void *in, void *out,
		       msd_err code, struct msd_diag *d)
{
	char why[MOST_WHY] = "";
	const int said = (r->is_to_rows ? r->layout->to_rows : r->layout->from_rows)(
		r->tensor, in, out, why, sizeof(why));

	why[MOST_WHY - 1] = '\0';
	return said == 0 ? MSD_OK : blame(r, why, code, d);
}

static msd_err run(void *state, const struct msd_kernel_call *c, struct msd_diag *d)
{
	return convert(state, c->in[0], c->out[0], MSD_CALL_FAILED, d);
}

static const struct msd_engine engine = {.name = "reorder", .run = run};

struct msd_reorder *msd_reorder_of(const struct msd_entry_step *step)
{
	return step->by->engine == &engine ? step->by->state : NULL;
}

static msd_err convert_constant(struct msd_reorder *r, struct msd_reordered *made,
				struct msd_diag *d)
{
	made->p = msd_arena_aligned_alloc(made->bytes);
	if (made->p == NULL)
		return msd_diag_no_memory(d);
	return convert(r, r->tensor->data, made->p, MSD_BAD_ARTIFACT, d);
}

/* Entries share a constant, unless the engine now says that it takes more bytes. */
static msd_err add_constant(struct msd_graph_program *p, struct msd_reorder *r,
			    size_t bytes, struct msd_diag *d)
{
	struct msd_reordered *made = p->reordered;

	while (made != NULL &&
	       (made->layout != r->layout || made->tensor != r->tensor->index ||
		made->bytes < bytes))
		made = made->next;
	if (made == NULL) {
		made = calloc(1, sizeof(*made));
		if (made == NULL)
			return msd_diag_no_memory(d);
		made->layout = r->layout;
		made->tensor = r->tensor->index;
		made->bytes = bytes;
		const msd_err err = convert_constant(r, made, d);
		if (err != MSD_OK) {
			free(made->p);
			free(made);
			return err;
		}
		made->next = p->reordered;
		p->reordered = made;
	}
	r->own = made->p;
	return MSD_OK;
}

/* A block of the arena, from the node on. */
static msd_err add_block(struct build *b, struct msd_reorder *r, size_t bytes,
			 struct msd_diag *d)
{
	const size_t n = b->r->needs.n_blocks;

	if (!msd_grow(&b->r->blocks, n, sizeof(*b->r->blocks)))
		return msd_diag_no_memory(d);
	b->r->blocks[n] = (struct msd_memory_block){bytes, b->order, b->until};
	b->r->needs.blocks = b->r->blocks;
	b->r->needs.n_blocks = n + 1;
	b->r->n_steps++;
	b->r->rows[b->row].n++;
	b->r->rows[b->row].bytes += bytes;
	r->block = n;
	return MSD_OK;
}

/* Another form of @t, for @node. @like: the layout, its engine, and what it reads. */
static msd_err add(struct build *b, const struct msd_reorder *like, size_t bytes,
		   struct msd_reorder **ret, struct msd_diag *d)
{
	struct msd_reorder *r = calloc(1, sizeof(*r));
	const modser_sg_tensor *t = like->tensor;

	if (r == NULL)
		return msd_diag_no_memory(d);
	*r = *like;
	r->by = (struct msd_engine_node){&engine, r};
	r->row = b->row;
	r->at = b->at;
	r->other = b->forms.others[t->index];
	b->forms.others[t->index] = r;
	*b->end = r;
	b->end = &r->next;
	*ret = r;
	return t->type == MODSER_TENSOR_CONST ? add_constant(b->p, r, bytes, d)
					      : add_block(b, r, bytes, d);
}

/* The node, or a reorder for it, reads the form. NULL: that of the producer. */
static void read_form(struct build *b, const modser_sg_tensor *t, struct msd_reorder *r)
{
	size_t *last = &b->r->last[t->index];

	if (r != NULL) {
		r->is_read = true;
		last = r->own == NULL ? &b->r->blocks[r->block].last : NULL;
	}
	if (last != NULL && *last != MSD_ARENA_KEEP)
		*last = b->until;
}

static struct msd_reorder *find(const struct build *b, const modser_sg_tensor *t,
				const modserd_layout *layout)
{
	struct msd_reorder *r = b->forms.others[t->index];

	while (r != NULL && (r->is_to_rows ? NULL : r->layout) != layout)
		r = r->other;
	return r;
}

/* The rows of @t, whose producer writes a layout. */
static msd_err make_rows(struct build *b, const modser_sg_tensor *t,
			 const modser_sg_node *node, struct msd_reorder **ret,
			 struct msd_diag *d)
{
	uint64_t bytes = 0;

	*ret = find(b, t, NULL);
	if (*ret != NULL)
		return MSD_OK;
	if (!msd_sg_tensor_bytes(t, &bytes)) /* inference has checked the size */
		return msd_diag_no_memory(d);
	read_form(b, t, NULL);
	return add(b,
		   &(struct msd_reorder){.engine = b->forms.main_by[t->index]->name,
					 .layout = b->forms.main[t->index].layout,
					 .is_to_rows = true,
					 .tensor = t,
					 .node = node},
		   (size_t)bytes, ret, d);
}

/* Another layout of @t than its producer writes: there is a way from rows alone. */
static msd_err make_layout(struct build *b, const modser_sg_tensor *t,
			   const struct msd_form *want,
			   const struct msd_entry_step *step, struct msd_reorder **ret,
			   struct msd_diag *d)
{
	struct msd_reorder *rows = NULL;
	msd_err err = MSD_OK;

	*ret = find(b, t, want->layout);
	if (*ret != NULL)
		return MSD_OK;
	if (b->forms.main[t->index].layout != NULL)
		err = make_rows(b, t, step->call.node, &rows, d);
	if (err != MSD_OK)
		return err;
	read_form(b, t, rows);
	return add(b,
		   &(struct msd_reorder){.engine = step->by->engine->name,
					 .layout = want->layout,
					 .tensor = t,
					 .node = step->call.node,
					 .from = rows},
		   want->bytes, ret, d);
}

/* Let the node read input @k as it wants. */
static msd_err set_input(struct build *b, const struct msd_entry_step *step, size_t k,
			 struct msd_diag *d)
{
	const size_t argument = (size_t)(step->call.in - b->e->in) + k;
	const modser_sg_tensor *t = msd_entry_ends(step).in[k];
	const struct msd_form *want = &b->forms.wants[k];
	struct msd_reorder *r = NULL;
	msd_err err = MSD_OK;

	if (t == NULL)
		return MSD_OK;
	if (want->layout != b->forms.main[t->index].layout) {
		err = want->layout == NULL ? make_rows(b, t, step->call.node, &r, d)
					   : make_layout(b, t, want, step, &r, d);
	}
	if (err != MSD_OK)
		return err;
	read_form(b, t, r);
	b->r->in[argument] = r;
	b->r->in_layouts[argument] = want->layout;
	return MSD_OK;
}

/* Note how the node writes output @k. Outputs of the graph are rows. */
static msd_err set_output(struct build *b, const struct msd_entry_step *step, size_t k,
			  struct msd_diag *d)
{
	const struct msd_entry_ends ends = msd_entry_ends(step);
	const modser_sg_tensor *t = ends.out[k];
	const struct msd_form *want = &b->forms.wants[ends.n_in + k];
	struct msd_reorder *r = NULL;

	if (t == NULL)
		return MSD_OK;
	b->r->last[t->index] = b->until;
	b->forms.main[t->index] = *want;
	b->forms.main_by[t->index] = step->by->engine;
	b->r->bytes[t->index] = want->bytes;
	b->r->out_layouts[(size_t)(step->call.out - b->e->out) + k] = want->layout;
	if (b->last[t->index] != MSD_ARENA_KEEP) /* it is no output of the graph */
		return MSD_OK;
	if (want->layout == NULL) {
		b->r->last[t->index] = MSD_ARENA_KEEP;
		return MSD_OK;
	}
	const msd_err err = make_rows(b, t, step->call.node, &r, d);
	if (err == MSD_OK)
		b->r->blocks[r->block].last = MSD_ARENA_KEEP;
	return err;
}

static bool has_layout(const struct msd_form *wants, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (wants[i].layout != NULL)
			return true;
	}
	return false;
}

static msd_err lay_out(struct build *b, struct msd_entry_step *step, struct msd_diag *d)
{
	const struct msd_entry_ends ends = msd_entry_ends(step);
	msd_err err = msd_forms_ask(&b->forms, step, d);

	b->at = b->step;
	for (size_t k = 0; err == MSD_OK && k < ends.n_in; k++)
		err = set_input(b, step, k, d);
	b->at = b->step + 1;
	for (size_t k = 0; err == MSD_OK && k < ends.n_out; k++)
		err = set_output(b, step, k, d);
	if (err != MSD_OK)
		return msd_entry_blame(step->call.node, err, d);
	if (has_layout(b->forms.wants, ends.n_in))
		step->call.in_layouts = b->r->in_layouts + (step->call.in - b->e->in);
	if (has_layout(b->forms.wants + ends.n_in, ends.n_out)) {
		step->call.out_layouts =
			b->r->out_layouts + (step->call.out - b->e->out);
	}
	b->r->rows[b->row].outputs = step->call.out_layouts;
	b->has_layouts = b->has_layouts || step->call.in_layouts != NULL ||
			 step->call.out_layouts != NULL;
	return MSD_OK;
}

static msd_err walk(struct build *b, struct msd_diag *d)
{
	const struct msd_groups *groups = &b->e->groups;
	const modser_graph *g = b->e->g;
	msd_err err = MSD_OK;

	for (size_t i = 0; err == MSD_OK && i < g->n_nodes; i++) {
		struct msd_entry_step *step = &b->e->steps[b->step];
		const modser_sg_node *node = g->nodes[groups->order[i]];

		if (b->step == b->e->n_steps || step->call.node != node)
			continue;
		b->row = step->row;
		b->order = i;
		b->until = i;
		if (step->group != NULL) /* its nodes follow each other */
			b->until = i + step->group->told.n_nodes - 1;
		err = lay_out(b, step, d);
		b->step++;
	}
	return err;
}

/* Make the reorders steps. */
static msd_err insert(struct msd_entry *e, struct msd_diag *d)
{
	const size_t n = e->n_steps + e->reorders->n_steps;
	struct msd_entry_step *steps = calloc(n + 1, sizeof(*steps));
	struct msd_reorder *r = e->reorders->first;
	size_t to = 0;

	if (steps == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i <= e->n_steps; i++) {
		for (; r != NULL && r->at == i; r = r->next) {
			if (r->own != NULL)
				continue;
			steps[to].by = &r->by;
			steps[to].row = r->row;
			steps[to++].call = (struct msd_kernel_call){
				.node = r->node, .in = &r->in, .out = &r->out};
		}
		if (i < e->n_steps)
			steps[to++] = e->steps[i];
	}
	free(e->steps);
	e->steps = steps;
	e->n_steps = n;
	return MSD_OK;
}

static bool allocate(struct build *b, size_t n_in, size_t n_out, size_t most)
{
	const modser_graph *g = b->e->g;
	struct msd_reorders *r = b->r;

	r->in = calloc(n_in + 1, sizeof(*r->in));
	r->in_layouts = calloc(n_in + 1, sizeof(*r->in_layouts));
	r->out_layouts = calloc(n_out + 1, sizeof(*r->out_layouts));
	r->rows = calloc(g->n_nodes + 1, sizeof(*r->rows));
	r->last = calloc(g->n_tensors + 1, sizeof(*r->last));
	r->bytes = calloc(g->n_tensors + 1, sizeof(*r->bytes));
	r->needs.bytes = r->bytes;
	for (size_t i = 0; r->last != NULL && i < g->n_tensors; i++) {
		if (b->last[i] == MSD_ARENA_NOWHERE)
			r->last[i] = MSD_ARENA_NOWHERE;
	}
	return r->in != NULL && r->in_layouts != NULL && r->out_layouts != NULL &&
	       r->rows != NULL && r->last != NULL && r->bytes != NULL &&
	       msd_forms_init(&b->forms, g, most);
}

static bool may_lay_out(const struct msd_entry *e)
{
	for (size_t i = 0; i < e->n_steps; i++) {
		if (e->steps[i].by->engine->lay_out != NULL)
			return true;
	}
	return false;
}

msd_err msd_reorders_create(struct msd_entry *e, struct msd_graph_program *p,
			    struct msd_diag *d)
{
	struct build b = {.e = e, .p = p, .last = e->groups.last};
	size_t n_in = 0, n_out = 0, most = 1;

	if (!may_lay_out(e))
		return MSD_OK;
	e->reorders = calloc(1, sizeof(*e->reorders));
	if (e->reorders == NULL)
		return msd_diag_no_memory(d);
	b.r = e->reorders;
	b.end = &b.r->first;
	for (size_t i = 0; i < e->n_steps; i++) {
		const struct msd_entry_ends ends = msd_entry_ends(&e->steps[i]);

		n_in += ends.n_in;
		n_out += ends.n_out;
		if (ends.n_in + ends.n_out > most)
			most = ends.n_in + ends.n_out;
	}
	msd_err err =
		allocate(&b, n_in, n_out, most) ? walk(&b, d) : msd_diag_no_memory(d);
	msd_forms_finish(&b.forms);
	if (err == MSD_OK && b.has_layouts)
		return insert(e, d);
	if (err == MSD_OK) {
		msd_reorders_destroy(e->reorders);
		e->reorders = NULL;
	}
	return err;
}

void msd_reorders_destroy(struct msd_reorders *r)
{
	if (r == NULL)
		return;
	for (struct msd_reorder *next, *at = r->first; at != NULL; at = next) {
		next = at->next;
		free(at);
	}
	free((void *)r->in);
	free((void *)r->in_layouts);
	free((void *)r->out_layouts);
	free(r->rows);
	free(r->last);
	free(r->bytes);
	free(r->blocks);
	free(r);
}
