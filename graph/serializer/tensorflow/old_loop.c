/*
 * Loops of version 1 (Enter, Merge, Switch, NextIteration, Exit). One is read when an
 * Exit is: the input of its LoopCond is the condition, the inputs of its NextIterations
 * are the body. Failures name the Exit.
 */
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/tensorflow/layer.h"
#include "proto/base/grow.h"

static const tf_node *node_at(const struct tf_body *b, const struct tf_link *link)
{
	return link->is_arg ? NULL : b->nodes[link->at];
}

static bool is_op(const tf_node *node, const char *op)
{
	return node != NULL && strcmp(node->op, op) == 0;
}

/* The name of the loop that an Enter opens; "" if it has none. */
static struct msd_span loop_name(const tf_node *enter)
{
	for (size_t i = 0; i < enter->n_attr; i++) {
		const Tensorflow__AttrEntry *e = enter->attr[i];

		if (e->key != NULL && strcmp(e->key, "frame_name") == 0 &&
		    e->value != NULL && e->value->has_s)
			return (struct msd_span){e->value->s.data, e->value->s.len};
	}
	return (struct msd_span){0};
}

/* One value that a loop carries. */
struct state {
	size_t merge, enter, next, fork; /* their nodes; fork is the Switch */
	bool has_fork;
};

/* Read the state of node @merge; false: it is none. */
static bool state_of(const struct tf_body *b, size_t merge, struct state *ret)
{
	struct tf_link enter;
	struct tf_link next;

	if (!is_op(b->nodes[merge], "Merge") || !tf_input_of(b, merge, 0, &enter) ||
	    !tf_input_of(b, merge, 1, &next) || !is_op(node_at(b, &enter), "Enter") ||
	    !is_op(node_at(b, &next), "NextIteration"))
		return false;
	*ret = (struct state){.merge = merge, .enter = enter.at, .next = next.at};
	return true;
}

/* The Enter of the state that Exit @i leaves. */
static bool enter_of(const struct tf_body *b, size_t i, size_t *ret_enter,
		     struct tf_link *ret_cond)
{
	struct tf_link fork;
	struct tf_link merge;
	struct state s;

	if (!tf_input_of(b, i, 0, &fork) || !is_op(node_at(b, &fork), "Switch") ||
	    !tf_input_of(b, fork.at, 0, &merge) ||
	    !tf_input_of(b, fork.at, 1, ret_cond) || node_at(b, &merge) == NULL ||
	    !is_op(node_at(b, ret_cond), "LoopCond") || !state_of(b, merge.at, &s))
		return false;
	*ret_enter = s.enter;
	return true;
}

bool tf_loop_enter(struct tf_frame *f, size_t i, size_t k, struct tf_link *ret)
{
	const struct tf_body *b = f->body;
	struct tf_link cond;
	size_t enter;

	if (!enter_of(b, i, &enter, &cond))
		return false;
	const struct msd_span name = loop_name(b->nodes[enter]);
	f->l->left -= f->l->left < b->n ? f->l->left : b->n;
	for (size_t at = 0; at < b->n; at++) {
		if (is_op(b->nodes[at], "Enter") &&
		    msd_span_same(loop_name(b->nodes[at]), name) && k-- == 0) {
			*ret = (struct tf_link){.at = at};
			return true;
		}
	}
	return false;
}

struct loop {
	struct state *states;
	size_t n;
	size_t cond; /* the LoopCond */
	struct msd_span name;
};

static int find_states(struct tf_layer *x, struct loop *ret)
{
	const struct tf_body *b = x->f->body;
	struct tf_link cond;
	size_t enter;

	if (!enter_of(b, x->at, &enter, &cond)) {
		return tf_load_fail(x->f->l, MSD_UNSUPPORTED,
				    "it leaves no loop that can be read; export with "
				    "tf.compat.v1.enable_control_flow_v2()");
	}
	ret->cond = cond.at;
	ret->name = loop_name(b->nodes[enter]);
	for (size_t i = 0; i < b->n; i++) {
		struct state s;

		if (!state_of(b, i, &s) ||
		    !msd_span_same(loop_name(b->nodes[s.enter]), ret->name))
			continue;
		if (!msd_grow(&ret->states, ret->n, sizeof(*ret->states)))
			return msd_sg_no_memory(x->f->l->g);
		ret->states[ret->n++] = s;
	}
	for (size_t i = 0; i < b->n; i++) {
		struct tf_link merge;

		if (!is_op(b->nodes[i], "Switch") || !tf_input_of(b, i, 0, &merge))
			continue;
		for (size_t k = 0; k < ret->n; k++) {
			if (!merge.is_arg && merge.at == ret->states[k].merge) {
				ret->states[k].fork = i;
				ret->states[k].has_fork = true;
			}
		}
	}
	return 0;
}

static int preset(struct tf_frame *f, size_t node, size_t k, struct tf_value *v)
{
	struct tf_cell *cell = &f->cells[node];

	cell->out = calloc(3, sizeof(struct tf_value *));
	if (cell->out == NULL)
		return msd_sg_no_memory(f->l->g);
	cell->n_out = 2;
	cell->out[k] = v;
	cell->state = TF_DONE;
	return 0;
}

/* Set the carried values, and those that the loop only reads. */
static int preset_all(struct tf_layer *x, const struct loop *loop, struct tf_frame *f,
		      struct tf_value *const *args, bool is_body)
{
	const struct tf_body *b = f->body;

	for (size_t k = 0; k < loop->n; k++) {
		const struct state *s = &loop->states[k];

		if (preset(f, s->merge, 0, args[k]) != 0 ||
		    (is_body && s->has_fork && preset(f, s->fork, 1, args[k]) != 0))
			return -1;
	}
	for (size_t i = 0; i < b->n; i++) {
		const struct tf_cell *outer = &x->f->cells[i];

		if (!is_op(b->nodes[i], "Enter") || outer->n_out < 1 ||
		    !msd_span_same(loop_name(b->nodes[i]), loop->name))
			continue;
		/* The first condition is computed in the graph around the loop. */
		struct tf_value *v =
			f->scope == x->f->scope
				? outer->out[0]
				: tf_import(f->l, f->scope, b->nodes[i]->name,
					    outer->out[0]);
		if (v == NULL || preset(f, i, 0, v) != 0)
			return -1;
	}
	return 0;
}

static int evaluate(struct tf_layer *x, const struct loop *loop, struct tf_scope *scope,
		    struct tf_value *const *args, bool is_body, struct tf_value **ret)
{
	struct tf_frame f = {.l = x->f->l,
			     .body = x->f->body,
			     .scope = scope,
			     .caller = x->f->caller,
			     .call = x->f->call};
	const size_t n = is_body ? loop->n : 1;
	int result = tf_frame_init(&f);

	if (result == 0)
		result = preset_all(x, loop, &f, args, is_body);
	for (size_t k = 0; result == 0 && k < n; k++) {
		const size_t at = is_body ? loop->states[k].next : loop->cond;
		struct tf_link link;

		if (!tf_input_of(f.body, at, 0, &link)) {
			result = tf_load_fail(f.l, MSD_BAD_ARTIFACT,
					      "its loop has a node without an input");
		}
		ret[k] = result == 0 ? tf_frame_get(&f, &link) : NULL;
		result = ret[k] != NULL ? 0 : -1;
	}
	tf_frame_finish(&f);
	return result;
}

static int old_cond(struct tf_layer *x, void *ctx, struct tf_scope *scope,
		    struct tf_value *const *args, struct tf_value **ret)
{
	return evaluate(x, ctx, scope, args, false, ret);
}

static int old_body(struct tf_layer *x, void *ctx, struct tf_scope *scope,
		    struct tf_value *const *args, struct tf_value **ret)
{
	return evaluate(x, ctx, scope, args, true, ret);
}

/* All Exits of the loop get their values at once. */
static int set_exits(struct tf_layer *x, const struct loop *loop,
		     struct tf_value *const *values)
{
	const struct tf_body *b = x->f->body;

	for (size_t i = 0; i < b->n; i++) {
		struct tf_link fork;

		if (!is_op(b->nodes[i], "Exit") || !tf_input_of(b, i, 0, &fork))
			continue;
		for (size_t k = 0; k < loop->n; k++) {
			if (!loop->states[k].has_fork || fork.is_arg ||
			    fork.at != loop->states[k].fork)
				continue;
			if (x->f->cells[i].n_out == 0 &&
			    preset(x->f, i, 0, values[k]) != 0)
				return -1;
		}
	}
	return 0;
}

static int build_old(struct tf_layer *x, struct loop *loop)
{
	struct tf_value **values = calloc(2 * loop->n + 1, sizeof(struct tf_value *));
	struct tf_value **init = values != NULL ? values + loop->n : NULL;
	int result = 0;

	if (values == NULL)
		return msd_sg_no_memory(x->f->l->g);
	for (size_t k = 0; k < loop->n && result == 0; k++) {
		const struct tf_cell *cell = &x->f->cells[loop->states[k].enter];

		init[k] = cell->n_out > 0 ? cell->out[0] : NULL;
		if (init[k] == NULL) {
			result = tf_load_fail(x->f->l, MSD_BAD_ARTIFACT,
					      "its loop carries nothing");
		}
	}
	const struct tf_loop def = {.n = loop->n,
				    .init = init,
				    .cond = old_cond,
				    .body = old_body,
				    .ctx = loop};
	if (result == 0)
		result = tf_loop_build(x, &def, values);
	if (result == 0)
		result = set_exits(x, loop, values);
	free((void *)values);
	return result;
}

int tf_exit_read(struct tf_layer *x)
{
	struct loop loop = {0};

	/* Its input is computed inside of the loop. */
	int result = find_states(x, &loop);
	if (result == 0)
		result = build_old(x, &loop);
	free(loop.states);
	if (result == 0 && x->f->cells[x->at].n_out == 0)
		return tf_load_fail(x->f->l, MSD_BAD_ARTIFACT, "its loop has no value");
	return result;
}
