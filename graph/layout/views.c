/*
 * Happy path: at first each tensor is a root. From the last node to the first, a node
 * that only copies puts its pieces into the whole, or the whole to where all pieces lie
 * already. Readers come first, because they decide where a tensor goes. Tensors of one
 * root that overlap have the same bytes then: they are aliases.
 *
 * Afterwards, from the first node to the last, an elementwise node puts its output onto
 * an input if no tensor there is read later. From then on, the bytes of a root belong
 * to several tensors, one after the other.
 */
#include "graph/layout/views.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/layout/arena.h"
#include "graph/layout/pieces.h"

#define NONE SIZE_MAX
#define MOST_LIVE 256u /* tensors of a root that are examined for one node */

struct tensor {
	size_t parent; /* itself: a root */
	size_t offset; /* in its parent */
	size_t bytes;
	size_t n_reads;
	size_t next; /* in the list of its root; NONE: the last */
	bool is_given;
	bool is_output;
	/* Of a root: the list of its tensors, and whether one of them is so. */
	size_t head, tail;
	bool is_aligned;
	bool has_output;
};

struct finder {
	const modser_graph *g;
	const size_t *last;
	const bool *is_foreign;
	struct tensor *t;
};

static bool is_foreign(const struct finder *f, const modser_sg_node *node)
{
	return f->is_foreign != NULL && f->is_foreign[node->index];
}

static void add_ends(const struct finder *f, const modser_sg_node *node)
{
	for (size_t i = 0; i < node->n_inputs; i++) {
		if (node->inputs[i] == NULL)
			continue;
		struct tensor *t = &f->t[node->inputs[i]->index];
		t->n_reads++;
		t->is_aligned = t->is_aligned || is_foreign(f, node);
	}
	for (size_t i = 0; i < node->n_outputs; i++) {
		if (node->outputs[i] == NULL)
			continue;
		struct tensor *t = &f->t[node->outputs[i]->index];
		t->is_given = t->is_given || msd_sg_node_is_given(node);
		t->is_aligned = t->is_aligned || is_foreign(f, node);
	}
}

static void add_all(const struct finder *f)
{
	for (size_t i = 0; i < f->g->n_tensors; i++) {
		const modser_sg_tensor *t = f->g->tensors[i];

		f->t[i] = (struct tensor){
			.parent = i,
			.next = NONE,
			.head = i,
			.tail = i,
			.is_given =
				t->type == MODSER_TENSOR_CONST || t->producer == NULL,
		};
	}
	for (size_t i = 0; i < f->g->n_nodes; i++)
		add_ends(f, f->g->nodes[i]);
	for (size_t i = 0; i < f->g->n_outputs; i++) {
		f->t[f->g->outputs[i]->index].is_output = true;
		f->t[f->g->outputs[i]->index].has_output = true;
	}
}

/* The root of @tensor, and where in it the tensor lies. */
static size_t find(const struct finder *f, size_t tensor, size_t *ret_offset)
{
	size_t offset = 0;
	size_t root = tensor;

	while (f->t[root].parent != root) {
		offset += f->t[root].offset;
		root = f->t[root].parent;
	}
	*ret_offset = offset;
	while (tensor != root) { /* the next time it takes one step */
		struct tensor *t = &f->t[tensor];
		const size_t own = t->offset;

		tensor = t->parent;
		t->parent = root;
		t->offset = offset;
		offset -= own;
	}
	return root;
}

/* An output that gets the caller's memory. */
static bool is_shared(const struct tensor *root)
{
	return root->is_output && root->n_reads == 0 && !root->is_given;
}

/* May @from, a root, and all its tensors lie at @offset of the root @to? */
static bool may_put(const struct finder *f, size_t from, size_t to, size_t offset)
{
	const struct tensor *x = &f->t[from];
	const struct tensor *y = &f->t[to];

	if (from == to || x->is_given || is_shared(x) ||
	    (x->is_aligned && offset % MSD_ARENA_ALIGN != 0) ||
	    (y->is_given && x->has_output))
		return false;
	return !is_shared(y) || (x->n_reads == 1 && !x->is_output);
}

static void put(const struct finder *f, size_t from, size_t to, size_t offset)
{
	struct tensor *x = &f->t[from];
	struct tensor *y = &f->t[to];

	x->parent = to;
	x->offset = offset;
	y->is_aligned = y->is_aligned || x->is_aligned;
	y->has_output = y->has_output || x->has_output;
	if (x->head == NONE)
		return;
	if (y->head == NONE) {
		y->head = x->head;
	} else {
		f->t[y->tail].next = x->head;
	}
	y->tail = x->tail;
}

/* The pieces of a node, at their places in a root. */
struct places {
	struct msd_pieces pieces;
	size_t root;   /* of the whole */
	size_t offset; /* of the whole */
};

enum state { DONE, CAN, CANNOT };

/* Is piece @i in its place, or can it come there? @at: its offset in the whole. */
static enum state piece_state(const struct finder *f, const struct places *p, size_t i,
			      size_t at)
{
	const size_t piece = p->pieces.list[i]->index;
	size_t offset;
	const size_t root = find(f, piece, &offset);

	if (f->t[piece].bytes == 0 || (root == p->root && offset == p->offset + at))
		return DONE;
	return root == piece && may_put(f, root, p->root, p->offset + at) ? CAN
									  : CANNOT;
}

/* True: all pieces are in their places now. */
static bool put_pieces(const struct finder *f, const struct places *p)
{
	size_t at = p->pieces.begin;
	bool is_done = true;

	for (size_t i = 0; i < p->pieces.n; i++) {
		const size_t piece = p->pieces.list[i]->index;
		const enum state state = piece_state(f, p, i, at);

		if (state == CAN)
			put(f, piece, p->root, p->offset + at);
		is_done = is_done && state != CANNOT;
		at += f->t[piece].bytes;
	}
	return is_done;
}

static bool can_put_pieces(const struct finder *f, const struct places *p)
{
	size_t at = p->pieces.begin;

	for (size_t i = 0; i < p->pieces.n; i++) {
		if (piece_state(f, p, i, at) == CANNOT)
			return false;
		at += f->t[p->pieces.list[i]->index].bytes;
	}
	return true;
}

/* All pieces lie side by side and are all of the whole: it comes to them. */
static bool put_whole(const struct finder *f, const struct places *p)
{
	size_t root = NONE;
	size_t begin = 0;
	size_t end = 0;

	for (size_t i = 0; i < p->pieces.n; i++) {
		const size_t piece = p->pieces.list[i]->index;
		size_t offset;
		const size_t of = find(f, piece, &offset);

		if (f->t[piece].bytes == 0)
			continue;
		begin = root == NONE ? offset : begin;
		if (root != NONE && (of != root || offset != end))
			return false;
		root = of;
		end = offset + f->t[piece].bytes;
	}
	if (root == NONE || p->pieces.begin != 0 || p->offset != 0 ||
	    p->root != p->pieces.whole->index || end - begin != f->t[p->root].bytes ||
	    !may_put(f, p->root, root, begin))
		return false;
	put(f, p->root, root, begin);
	return true;
}

/* Other outputs, like the mask of a Dropout, are not wanted. */
static bool has_other_outputs(const struct finder *f, const modser_sg_node *node,
			      const struct msd_pieces *p)
{
	const size_t first = p->list == node->outputs ? p->n : 1;

	for (size_t i = first; i < node->n_outputs; i++) {
		const modser_sg_tensor *t = node->outputs[i];

		if (t != NULL &&
		    (f->t[t->index].n_reads > 0 || f->t[t->index].is_output))
			return true;
	}
	return false;
}

/* True: @node has nothing to do. A Concat then copies only what is not in its place;
 * another node copies all or nothing. */
static bool is_view(const struct finder *f, const modser_sg_node *node)
{
	struct places p;

	if (msd_sg_node_is_given(node) || is_foreign(f, node) ||
	    !msd_pieces_of(node, &p.pieces) || has_other_outputs(f, node, &p.pieces))
		return false;
	p.root = find(f, p.pieces.whole->index, &p.offset);
	if (can_put_pieces(f, &p))
		return put_pieces(f, &p);
	if (put_whole(f, &p))
		return true;
	/* Nothing reads the caller's memory, not even where it has a tensor already. */
	if (p.pieces.list == node->inputs && !is_shared(&f->t[p.root]))
		(void)put_pieces(f, &p);
	return false;
}

/* Sorted. tests/graph/test_in_place.c runs each in all engines. */
static const char *const in_place[] = {
	"Absval", "Acos",      "Acosh",       "Add",        "Asin",
	"Asinh",  "Atan",      "Atanh",       "Bitwise",    "BitwiseNot",
	"Ceil",   "Celu",      "Clip",        "Cos",        "Cosh",
	"Div",    "Elu",       "Erf",         "Exp",        "Floor",
	"Gelu",   "HardSwish", "Hardsigmoid", "Log",        "Mish",
	"Mod",    "Mul",       "Neg",         "Not",        "PReLU",
	"Pow",    "ReLu",      "ReLu6",       "Reciprocal", "Round",
	"Selu",   "Shrink",    "Sigmoid",     "Sign",       "Sin",
	"Sinh",   "Softplus",  "Softsign",    "Sqrt",       "SquaredDifference",
	"Sub",    "Swish",     "Tan",         "Tanh",       "ThresholdedRelu",
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, *(const char *const *)b);
}

bool msd_views_may_overwrite(const modser_sg_node *node)
{
	return node->op != NULL &&
	       bsearch(node->op->schema->name, (const void *)in_place,
		       sizeof(in_place) / sizeof(in_place[0]), sizeof(in_place[0]),
		       compare_names) != NULL;
}

/* True if nothing reads a tensor at @offset of @root after @step. Tensors that nothing
 * reads any more leave the list. */
static bool is_free(const struct finder *f, size_t root, size_t offset, size_t bytes,
		    size_t step)
{
	struct tensor *r = &f->t[root];
	size_t *from = &r->head;
	size_t before = NONE;

	for (size_t n = 0; *from != NONE;) {
		const size_t i = *from;
		struct tensor *t = &f->t[i];
		size_t at;

		if (f->last[i] < step) {
			*from = t->next;
			t->next = NONE;
			r->tail = r->tail == i ? before : r->tail;
			continue;
		}
		(void)find(f, i, &at);
		if (n++ == MOST_LIVE || (f->last[i] > step && at < offset + bytes &&
					 offset < at + t->bytes))
			return false;
		before = i;
		from = &t->next;
	}
	return true;
}

static bool is_alike(const modser_sg_tensor *x, const modser_sg_tensor *y)
{
	return msd_dtype_eq(x->dtype, y->dtype) && x->ndim == y->ndim &&
	       memcmp(x->dims, y->dims, (size_t)x->ndim * sizeof(*x->dims)) == 0;
}

/* True if another input lies in the same root: it may be read after it was written. */
static bool has_other_input(const struct finder *f, const modser_sg_node *node,
			    size_t i, size_t root)
{
	for (size_t k = 0; k < node->n_inputs; k++) {
		size_t offset;

		if (k != i && node->inputs[k] != NULL &&
		    find(f, node->inputs[k]->index, &offset) == root)
			return true;
	}
	return false;
}

/* Let @node, which is step @step, write its output onto input @i. */
static bool put_output(const struct finder *f, const modser_sg_node *node, size_t i,
		       size_t step)
{
	const modser_sg_tensor *x = node->inputs[i];
	const modser_sg_tensor *y = node->outputs[0];
	size_t at_x;
	size_t at_y;

	if (x == NULL || y == NULL || f->t[y->index].bytes == 0 || !is_alike(x, y))
		return false;
	const size_t in = find(f, x->index, &at_x);
	const size_t out = find(f, y->index, &at_y);
	if (in == out || f->t[in].is_given || f->t[out].is_given ||
	    is_shared(&f->t[in]) || is_shared(&f->t[out]) ||
	    has_other_input(f, node, i, in) ||
	    !is_free(f, in, at_x, f->t[x->index].bytes, step))
		return false;
	if (out == y->index && may_put(f, out, in, at_x)) {
		put(f, out, in, at_x);
		return true;
	}
	if (in != x->index || !may_put(f, in, out, at_y))
		return false;
	put(f, in, out, at_y);
	return true;
}

static void find_in_place(const struct finder *f, const bool *is_a_view,
			  const size_t *order)
{
	for (size_t step = 0; step < f->g->n_nodes; step++) {
		const modser_sg_node *node = f->g->nodes[order[step]];
		bool is_done = is_a_view[node->index] || is_foreign(f, node) ||
			       node->n_outputs != 1 || !msd_views_may_overwrite(node);

		for (size_t i = 0; !is_done && i < node->n_inputs; i++)
			is_done = put_output(f, node, i, step);
	}
}

static void find_all(struct msd_views *v, const struct finder *f, const size_t *order)
{
	add_all(f);
	for (size_t i = 0; i < f->g->n_tensors; i++)
		f->t[i].bytes = msd_pieces_bytes(f->g->tensors[i]);
	for (size_t step = f->g->n_nodes; step > 0; step--) {
		const modser_sg_node *node = f->g->nodes[order[step - 1]];

		v->is_view[node->index] = is_view(f, node);
	}
	find_in_place(f, v->is_view, order);
	for (size_t i = 0; i < f->g->n_tensors; i++) {
		v->list[i].root = find(f, i, &v->list[i].offset);
		if (v->last[v->list[i].root] < f->last[i])
			v->last[v->list[i].root] = f->last[i];
	}
}

msd_err msd_views_init(struct msd_views *v, const modser_graph *g, const size_t *order,
		       const size_t *last, const bool *is_foreign, struct msd_diag *d)
{
	const struct finder f = {g, last, is_foreign,
				 calloc(g->n_tensors + 1, sizeof(*f.t))};

	*v = (struct msd_views){
		.list = calloc(g->n_tensors + 1, sizeof(*v->list)),
		.is_view = calloc(g->n_nodes + 1, sizeof(*v->is_view)),
		.last = calloc(g->n_tensors + 1, sizeof(*v->last)),
	};
	const bool is_made =
		f.t != NULL && v->list != NULL && v->is_view != NULL && v->last != NULL;
	if (is_made)
		find_all(v, &f, order);
	free(f.t);
	return is_made ? MSD_OK : msd_diag_no_memory(d);
}

void msd_views_finish(struct msd_views *v)
{
	free(v->list);
	free(v->is_view);
	free(v->last);
	*v = (struct msd_views){0};
}
