/*
 * Evaluate nodes. Normal path: a stack of nodes is followed from the wanted output to
 * inputs that have values, then the row of each operator makes its outputs. Nodes that
 * no wanted output needs are never visited. Failures name the node, inside its
 * function.
 */
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/tensorflow/layer.h"
#include "proto/base/diag.h"
#include "proto/base/grow.h"

#define MAX_DEAD 16u /* outputs of a node that is never computed */

int tf_frame_init(struct tf_frame *f)
{
	struct tf_load *l = f->l;

	if (f->body->n >= l->left) {
		(void)tf_load_fail(l, MSD_TOO_LARGE,
				   "its functions have too many nodes in all calls");
		return -1;
	}
	l->left -= f->body->n + 1;
	f->cells = calloc(f->body->n + 1, sizeof(*f->cells));
	return f->cells != NULL ? 0 : msd_sg_no_memory(l->g);
}

void tf_frame_finish(struct tf_frame *f)
{
	for (size_t i = 0; f->cells != NULL && i < f->body->n; i++)
		free((void *)f->cells[i].out);
	free(f->cells);
	f->cells = NULL;
}

static int name_node(const struct tf_frame *f, size_t i)
{
	const tf_node *node = f->body->nodes[i];
	struct msd_diag *d = &f->l->g->diag;

	if (f->scope->g != f->l->g && f->scope->g->diag.code != MSD_OK) {
		(void)tf_load_fail(f->l, f->scope->g->diag.code, "%s",
				   modser_graph_error(f->scope->g));
		msd_diag_finish(&f->scope->g->diag);
	}
	(void)msd_diag_wrap(d, d->code, "node \"%.200s\" (%.60s)", node->name,
			    node->op);
	return -1;
}

struct tf_value *tf_link_value(const struct tf_frame *f, const struct tf_link *link)
{
	if (link->is_arg)
		return link->at < f->n_args ? f->args[link->at] : NULL;
	const struct tf_cell *cell = &f->cells[link->at];
	return link->out < cell->n_out ? cell->out[link->out] : NULL;
}

static int take_inputs(struct tf_layer *x)
{
	struct tf_link link;

	for (size_t k = 0; k < x->n_in; k++) {
		if (!tf_input_of(x->f->body, x->at, k, &link))
			return -1; /* counted before */
		x->in[k] = tf_link_value(x->f, &link);
		if (x->in[k] == NULL && link.is_arg) {
			return tf_load_fail(
				x->f->l, MSD_BAD_ARTIFACT,
				"argument %zu of its function was not given", link.at);
		}
		if (x->in[k] == NULL) {
			const tf_node *from = x->f->body->nodes[link.at];

			return tf_load_fail(
				x->f->l, MSD_UNSUPPORTED,
				"it reads output %zu of node \"%.200s\" (%.60s), "
				"which cannot be read",
				link.out, from->name, from->op);
		}
	}
	return 0;
}

/* The pivot of a condition that @text, a control input, is: an Identity of one side of
 * a Switch. Those of a loop say nothing. */
static bool read_pivot(const struct tf_body *b, const char *text, struct tf_link *ret)
{
	struct tf_link fork;
	struct tf_link pred;
	bool is_control;

	return text[0] == '^' && tf_link_read(b, text + 1, ret, &is_control) &&
	       !ret->is_arg && strcmp(b->nodes[ret->at]->op, "Identity") == 0 &&
	       tf_input_of(b, ret->at, 0, &fork) && !fork.is_arg &&
	       strcmp(b->nodes[fork.at]->op, "Switch") == 0 &&
	       tf_input_of(b, fork.at, 1, &pred) &&
	       (pred.is_arg || strcmp(b->nodes[pred.at]->op, "LoopCond") != 0);
}

/* The innermost condition among the inputs'. */
static void find_branch(struct tf_layer *x)
{
	size_t depth = 0;

	for (size_t k = 0; k < x->n_in; k++) {
		size_t n = 0;

		for (const struct tf_branch *b = x->in[k]->branch; b != NULL;
		     b = b->outer)
			n++;
		if (n > depth) {
			depth = n;
			x->branch = x->in[k]->branch;
		}
	}
	if (x->n_in > 0 || !x->f->body->has_switch)
		return;
	for (size_t k = 0; k < x->node->n_input && x->branch == NULL; k++) {
		struct tf_link link;

		if (read_pivot(x->f->body, x->node->input[k], &link) &&
		    tf_link_value(x->f, &link) != NULL)
			x->branch = tf_link_value(x->f, &link)->branch;
	}
}

static int set_branch(struct tf_layer *x)
{
	const struct tf_cell *cell = &x->f->cells[x->at];

	for (size_t k = 0; x->branch != NULL && k < cell->n_out; k++) {
		if (cell->out[k] == NULL || cell->out[k]->branch != NULL)
			continue;
		struct tf_value *copy = tf_value_new(x->f->l);
		if (copy == NULL)
			return -1;
		struct tf_value *next = copy->next;
		*copy = *cell->out[k];
		copy->next = next;
		copy->branch = x->branch;
		cell->out[k] = copy;
	}
	return 0;
}

/* True if an input, or the side that a constant belongs to, is never computed. */
static bool is_dead(const struct tf_layer *x)
{
	for (size_t k = 0; k < x->n_in; k++) {
		if (x->in[k]->kind == TF_DEAD)
			return true;
	}
	for (size_t k = 0;
	     x->n_in == 0 && x->f->body->has_switch && k < x->node->n_input; k++) {
		struct tf_link link;

		if (!read_pivot(x->f->body, x->node->input[k], &link))
			continue;
		const struct tf_value *v = tf_link_value(x->f, &link);
		if (v != NULL && v->kind == TF_DEAD)
			return true;
	}
	return false;
}

static int kill(struct tf_layer *x)
{
	struct tf_value *dead = tf_value_new(x->f->l);

	if (dead == NULL || !tf_outs(x, MAX_DEAD))
		return -1;
	dead->kind = TF_DEAD;
	for (size_t k = 0; k < MAX_DEAD; k++)
		x->f->cells[x->at].out[k] = dead;
	return 0;
}

static int run_row(struct tf_layer *x)
{
	const struct tf_row *row = x->row;

	if (x->n_in < row->min_in || x->n_in > row->max_in) {
		return tf_load_fail(x->f->l, MSD_BAD_ARTIFACT, "it has %zu inputs",
				    x->n_in);
	}
	if (take_inputs(x) != 0)
		return -1;
	if (!row->keeps_branch && is_dead(x))
		return kill(x);
	find_branch(x);
	const int folded = tf_fold(x);
	if (folded != 0)
		return folded > 0 ? set_branch(x) : -1;
	if (row->run != NULL) {
		if (row->run(x) != 0)
			return -1;
		return row->keeps_branch ? 0 : set_branch(x);
	}
	if (!tf_outs(x, 1))
		return -1;
	struct tf_value *v = tf_value_of(x->f->l, row->one(x));
	if (v == NULL)
		return -1;
	x->f->cells[x->at].out[0] = v;
	return tf_keep_ints(x, v) == 0 ? set_branch(x) : -1;
}

static int run_node(struct tf_frame *f, size_t i)
{
	const tf_node *node = f->body->nodes[i];
	struct tf_layer x = {.b = {f->scope->g, node->name},
			     .f = f,
			     .node = node,
			     .at = i,
			     .row = tf_row_find(node->op)};
	struct tf_link link;
	struct tf_body *function = NULL;

	/* The input of an Exit is computed inside of its loop. */
	while (strcmp(node->op, "Exit") != 0 && tf_input_of(f->body, i, x.n_in, &link))
		x.n_in++;
	if (x.row == NULL && tf_body_find(f->l, node->op, &function) != 0)
		return -1;
	if (function != NULL)
		x.row = &tf_row_call;
	if (x.row == NULL)
		return tf_refuse(&x);
	if (f->l->counts && msd_sg_count_source(f->l->g, "", node->op) != 0)
		return -1;
	x.in = calloc(x.n_in + 1, sizeof(struct tf_value *));
	if (x.in == NULL)
		return msd_sg_no_memory(f->l->g);
	const int result = run_row(&x);
	free((void *)x.in);
	return result;
}

/* Dependency @k of node @i. 0: there are no more; -1: none, but more may follow. */
static int depends_on(struct tf_frame *f, size_t i, size_t k, struct tf_link *ret)
{
	const struct tf_body *b = f->body;
	const tf_node *node = b->nodes[i];

	if (strcmp(node->op, "Exit") == 0)
		return tf_loop_enter(f, i, k, ret);
	if (tf_input_of(b, i, k, ret))
		return 1;
	/* A constant of a side has only control inputs. */
	if (!b->has_switch || k >= node->n_input || node->input[0][0] != '^')
		return 0;
	return read_pivot(b, node->input[k], ret) ? 1 : -1;
}

struct step {
	size_t node, next;
};

static int push(struct tf_frame *f, struct step **stack, size_t *n, size_t node)
{
	if (f->l->left == 0)
		return tf_load_fail(f->l, MSD_TOO_LARGE, "it has too many nodes");
	f->l->left--;
	if (!msd_grow(stack, *n, sizeof(**stack)))
		return msd_sg_no_memory(f->l->g);
	f->cells[node].state = TF_OPEN;
	(*stack)[(*n)++] = (struct step){node, 0};
	return 0;
}

static int follow(struct tf_frame *f, struct step **stack, size_t *n)
{
	while (*n > 0) {
		struct step *top = &(*stack)[*n - 1];
		struct tf_cell *cell = &f->cells[top->node];
		struct tf_link link;

		const int depends = depends_on(f, top->node, top->next, &link);
		if (depends != 0) {
			top->next++;
			if (depends < 0 || link.is_arg ||
			    f->cells[link.at].state == TF_DONE)
				continue;
			if (f->cells[link.at].state == TF_OPEN) {
				return tf_load_fail(
					f->l, MSD_BAD_ARTIFACT,
					"node \"%.200s\" needs its own output",
					f->body->nodes[link.at]->name);
			}
			if (push(f, stack, n, link.at) != 0)
				return -1;
			continue;
		}
		if (cell->state != TF_DONE && run_node(f, top->node) != 0)
			return name_node(f, top->node);
		cell->state = TF_DONE;
		--*n;
	}
	return 0;
}

struct tf_value *tf_frame_get(struct tf_frame *f, const struct tf_link *link)
{
	struct step *stack = NULL;
	size_t n = 0;
	int result = 0;

	if (!link->is_arg && f->cells[link->at].state != TF_DONE &&
	    (push(f, &stack, &n, link->at) != 0 || follow(f, &stack, &n) != 0))
		result = -1;
	free(stack);
	if (result != 0)
		return NULL;
	struct tf_value *v = tf_link_value(f, link);
	if (v == NULL && link->is_arg) {
		(void)tf_load_fail(f->l, MSD_BAD_ARTIFACT, "argument %zu was not given",
				   link->at);
	} else if (v == NULL) {
		(void)tf_load_fail(f->l, MSD_UNSUPPORTED,
				   "output %zu of node \"%.200s\" (%.60s) cannot be "
				   "read",
				   link->out, f->body->nodes[link->at]->name,
				   f->body->nodes[link->at]->op);
	}
	return v;
}

/* The output called @name of a function; NULL: none. */
static const char *find_return(const Tensorflow__FunctionDef *function,
			       const char *name)
{
	for (size_t i = 0; name != NULL && i < function->n_ret; i++) {
		const Tensorflow__RetEntry *e = function->ret[i];

		if (e->key != NULL && e->value != NULL && strcmp(e->key, name) == 0)
			return e->value;
	}
	return NULL;
}

static int return_all(struct tf_frame *f, struct tf_value **ret, size_t n)
{
	const Tensorflow__OpDef *s = f->body->function->signature;

	for (size_t i = 0; i < n; i++) {
		const char *text =
			find_return(f->body->function, s->output_arg[i]->name);
		struct tf_link link;
		bool is_control;

		if (text == NULL || !tf_link_read(f->body, text, &link, &is_control)) {
			return tf_load_fail(f->l, MSD_BAD_ARTIFACT,
					    "its result %zu is no output of a node", i);
		}
		ret[i] = tf_frame_get(f, &link);
		if (ret[i] == NULL)
			return -1;
	}
	return 0;
}

static int enter(const struct tf_frame *f, const struct tf_body *b, size_t n,
		 size_t n_ret)
{
	struct tf_load *l = f->l;

	for (size_t i = 0; i < l->n_active; i++) {
		if (l->active[i] == b)
			return tf_load_fail(l, MSD_UNSUPPORTED, "it calls itself");
	}
	if (l->n_active == sizeof(l->active) / sizeof(l->active[0])) {
		return tf_load_fail(l, MSD_TOO_LARGE,
				    "functions are nested deeper than 64");
	}
	if (b->function->signature->n_input_arg != n ||
	    b->function->signature->n_output_arg < n_ret) {
		return tf_load_fail(
			l, MSD_BAD_ARTIFACT,
			"it has %zu arguments and %zu results, and is called with "
			"%zu and %zu",
			b->function->signature->n_input_arg,
			b->function->signature->n_output_arg, n, n_ret);
	}
	return 0;
}

int tf_call(const struct tf_frame *f, const tf_node *call, struct tf_scope *scope,
	    const char *function, struct tf_value *const *args, size_t n,
	    struct tf_value **ret, size_t n_ret)
{
	struct tf_load *l = f->l;
	struct tf_body *body;

	if (tf_body_find(l, function, &body) != 0)
		return -1;
	if (body == NULL) {
		return tf_load_fail(l, MSD_BAD_ARTIFACT,
				    "its function \"%.200s\" is not in the file",
				    function);
	}
	struct tf_frame within = {.l = l,
				  .body = body,
				  .scope = scope,
				  .caller = f,
				  .call = call,
				  .args = args,
				  .n_args = n};
	int result = enter(f, body, n, n_ret);
	if (result == 0) {
		l->active[l->n_active++] = body;
		result = tf_frame_init(&within);
		if (result == 0)
			result = return_all(&within, ret, n_ret);
		tf_frame_finish(&within);
		l->n_active--;
	}
	if (result != 0) {
		(void)msd_diag_wrap(&l->g->diag, l->g->diag.code, "function \"%.200s\"",
				    function);
	}
	return result;
}
