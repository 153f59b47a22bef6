/*
 * Constants, variables, calls of functions, conditions and loops. A condition of
 * version 1 computes both sides, and Merge chooses, unless the condition is known.
 * Loops of version 1 are in old_loop.c.
 */
#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/serializer/build/compose.h"
#include "graph/serializer/tensorflow/layer.h"

static int set_out(struct tf_layer *x, struct tf_value *v)
{
	if (v == NULL || !tf_outs(x, 1))
		return -1;
	x->f->cells[x->at].out[0] = v;
	return 0;
}

static int load_const(struct tf_layer *x)
{
	const Tensorflow__AttrValue *a = tf_attr(x, "value");

	if (a == NULL || a->tensor == NULL)
		return tf_load_fail(x->f->l, MSD_BAD_ARTIFACT, "it has no value");
	if (a->tensor->dtype != 7) {
		return set_out(x, tf_value_of(x->f->l,
					      tf_constant(x->f->l, &x->b, a->tensor)));
	}
	struct tf_value *v = tf_value_new(x->f->l);
	if (v == NULL)
		return -1;
	v->kind = TF_TEXT;
	v->from = x->node;
	return set_out(x, v);
}

/* Inputs of the model have a value before nodes are evaluated. */
static int load_placeholder(struct tf_layer *x)
{
	return tf_load_fail(x->f->l, MSD_BAD_ARTIFACT,
			    "it is no input of the signature, and an output needs it");
}

static int load_same(struct tf_layer *x)
{
	return set_out(x, x->in[0]);
}

static int load_same_all(struct tf_layer *x)
{
	if (!tf_outs(x, x->n_in))
		return -1;
	for (size_t i = 0; i < x->n_in; i++)
		x->f->cells[x->at].out[i] = x->in[i];
	return 0;
}

static int load_nothing(struct tf_layer *x)
{
	return tf_outs(x, 1) ? 0 : -1;
}

static int load_handle(struct tf_layer *x)
{
	struct tf_value *v = tf_value_new(x->f->l);

	if (v == NULL)
		return -1;
	v->kind = TF_HANDLE;
	v->from = x->node;
	return set_out(x, v);
}

static int load_read(struct tf_layer *x)
{
	if (x->in[0]->kind != TF_HANDLE)
		return tf_load_fail(x->f->l, MSD_BAD_ARTIFACT, "it reads no variable");
	return set_out(x, tf_variable_read(x->f, x->in[0]->from));
}

/* Rows of a variable. */
static modser_sg_tensor *load_gather_variable(struct tf_layer *x)
{
	struct tf_value *v = x->in[0]->kind == TF_HANDLE
				     ? tf_variable_read(x->f, x->in[0]->from)
				     : NULL;
	modser_sg_tensor *const in[] = {v != NULL ? v->t : NULL,
					v != NULL ? tf_in(x, 1) : NULL};

	if (x->in[0]->kind != TF_HANDLE || tf_int(x, "batch_dims", 0) != 0)
		return tf_fail(x, "it reads no variable, or in batches");
	modser_sg_tensor *t = msd_build_node(&x->b, "Gather", in, 2);
	return tf_done(msd_build_int(t, "is_onnx", 1));
}

/* A variable of version 1 is its value. */
static int load_variable(struct tf_layer *x)
{
	return set_out(x, tf_variable_read(x->f, x->node));
}

/* ---- Functions ---- */

static size_t count_outputs(const struct tf_layer *x, const struct tf_body *b)
{
	(void)x;
	return b->function->signature->n_output_arg;
}

static int call(struct tf_layer *x, const char *function)
{
	struct tf_body *body;

	if (function == NULL || tf_body_find(x->f->l, function, &body) != 0)
		return -1;
	if (body == NULL) {
		return tf_load_fail(x->f->l, MSD_BAD_ARTIFACT,
				    "its function \"%.200s\" is not in the file",
				    function);
	}
	const size_t n = count_outputs(x, body);
	if (!tf_outs(x, n))
		return -1;
	return tf_call(x->f, x->node, x->f->scope, function, x->in, x->n_in,
		       x->f->cells[x->at].out, n);
}

static int load_call(struct tf_layer *x)
{
	return call(x, tf_function(x, "f"));
}

static int load_direct_call(struct tf_layer *x)
{
	return call(x, x->node->op);
}

const struct tf_row tf_row_call = {"call", 0, TF_MANY, .run = load_direct_call};

/* ---- Conditions and loops of functions ---- */

static int load_if(struct tf_layer *x)
{
	const char *names[] = {tf_function(x, "then_branch"),
			       tf_function(x, "else_branch")};
	struct tf_body *body;
	size_t n;
	const int64_t *known = tf_ints(x->f->l, x->in[0], &n);

	if (names[0] == NULL || names[1] == NULL ||
	    tf_body_find(x->f->l, names[0], &body) != 0)
		return -1;
	if (body == NULL) {
		return tf_load_fail(x->f->l, MSD_BAD_ARTIFACT,
				    "its function \"%.200s\" is not in the file",
				    names[0]);
	}
	const size_t n_out = count_outputs(x, body);
	if (!tf_outs(x, n_out))
		return -1;
	struct tf_value **out = x->f->cells[x->at].out;
	if (known != NULL && n == 1 && known[0] != TF_UNKNOWN) {
		return tf_call(x->f, x->node, x->f->scope, names[known[0] != 0 ? 0 : 1],
			       x->in + 1, x->n_in - 1, out, n_out);
	}
	return tf_branches_build(x, names[0], names[1], x->in + 1, x->n_in - 1, out,
				 n_out);
}

static bool is_like(const modser_sg_tensor *a, const modser_sg_tensor *b)
{
	if (a->ndim < 0 || b->ndim < 0)
		return true;
	if (a->ndim != b->ndim)
		return false;
	for (int i = 0; i < a->ndim; i++) {
		if (a->dims[i] >= 0 && b->dims[i] >= 0 && a->dims[i] != b->dims[i])
			return false;
	}
	return true;
}

/* Where the index is @i, the outputs are those of @one. */
static int choose_branch(struct tf_layer *x, modser_sg_tensor *index, size_t i,
			 struct tf_value *const *one, struct tf_value **out, size_t n)
{
	modser_sg_tensor *is_it =
		msd_build_compare(&x->b, MSD_COMPARE_EQUAL, index,
				  tf_number(x, (float)i, index->dtype_name));

	for (size_t k = 0; k < n; k++) {
		if (one[k]->kind != TF_TENSOR || out[k]->kind != TF_TENSOR ||
		    !is_like(one[k]->t, out[k]->t)) {
			return tf_load_fail(x->f->l, MSD_UNSUPPORTED,
					    "its branches have different shapes");
		}
		out[k] = tf_value_of(
			x->f->l, msd_build_choose(&x->b, is_it, one[k]->t, out[k]->t));
		if (out[k] == NULL)
			return -1;
	}
	return 0;
}

static int call_branch(struct tf_layer *x, const Tensorflow__NameAttrList *branch,
		       struct tf_value **out, size_t n)
{
	if (branch->name == NULL) {
		return tf_load_fail(x->f->l, MSD_BAD_ARTIFACT,
				    "a branch is no function");
	}
	return tf_call(x->f, x->node, x->f->scope, branch->name, x->in + 1, x->n_in - 1,
		       out, n);
}

/* All branches are computed, and the index chooses one; the last one also has all other
 * indices. */
static int load_case(struct tf_layer *x)
{
	const Tensorflow__AttrValue *a = tf_attr(x, "branches");
	const size_t n = a != NULL && a->list != NULL ? a->list->n_func : 0;
	struct tf_body *body = NULL;

	if (n == 0 || a->list->func[n - 1]->name == NULL)
		return tf_load_fail(x->f->l, MSD_BAD_ARTIFACT, "it has no branches");
	modser_sg_tensor *index = tf_in(x, 0);
	if (index == NULL ||
	    tf_body_find(x->f->l, a->list->func[n - 1]->name, &body) != 0)
		return -1;
	const size_t n_out = body != NULL ? count_outputs(x, body) : 0;
	struct tf_value **one = tf_alloc(x->f->l, n_out + 1, sizeof(struct tf_value *));
	if (one == NULL || !tf_outs(x, n_out))
		return -1;
	struct tf_value **out = x->f->cells[x->at].out;
	int result = call_branch(x, a->list->func[n - 1], out, n_out);
	for (size_t i = n - 1; result == 0 && i-- > 0;) {
		result = call_branch(x, a->list->func[i], one, n_out);
		if (result == 0)
			result = choose_branch(x, index, i, one, out, n_out);
	}
	return result;
}

static int while_cond(struct tf_layer *x, void *ctx, struct tf_scope *scope,
		      struct tf_value *const *args, struct tf_value **ret)
{
	(void)ctx;
	return tf_call(x->f, x->node, scope, tf_function(x, "cond"), args, x->n_in, ret,
		       1);
}

static int while_body(struct tf_layer *x, void *ctx, struct tf_scope *scope,
		      struct tf_value *const *args, struct tf_value **ret)
{
	(void)ctx;
	return tf_call(x->f, x->node, scope, tf_function(x, "body"), args, x->n_in, ret,
		       x->n_in);
}

static int load_while(struct tf_layer *x)
{
	const struct tf_loop loop = {
		.n = x->n_in, .init = x->in, .cond = while_cond, .body = while_body};

	if (tf_function(x, "cond") == NULL || tf_function(x, "body") == NULL ||
	    !tf_outs(x, x->n_in))
		return -1;
	return tf_loop_build(x, &loop, x->f->cells[x->at].out);
}

/* ---- Conditions of version 1 ---- */

static struct tf_value *on_side(struct tf_layer *x, bool side)
{
	struct tf_value *v = tf_value_new(x->f->l);
	struct tf_branch *branch = tf_alloc(x->f->l, 1, sizeof(*branch));

	if (v == NULL || branch == NULL)
		return NULL;
	struct tf_value *next = v->next;
	*v = *x->in[0];
	v->next = next;
	*branch = (struct tf_branch){x->in[1], side, x->branch};
	v->branch = branch;
	return v;
}

static int load_switch(struct tf_layer *x)
{
	struct tf_cell *cell = &x->f->cells[x->at];
	size_t n;
	const int64_t *known = tf_ints(x->f->l, x->in[1], &n);

	if (!tf_outs(x, 2))
		return -1;
	if (x->in[0]->kind == TF_DEAD || x->in[1]->kind == TF_DEAD) {
		cell->out[0] = x->in[0]->kind == TF_DEAD ? x->in[0] : x->in[1];
		cell->out[1] = cell->out[0];
		return 0;
	}
	if (known != NULL && n == 1 && known[0] != TF_UNKNOWN) {
		const bool side = known[0] != 0;
		struct tf_value *dead = tf_value_new(x->f->l);

		if (dead == NULL)
			return -1;
		dead->kind = TF_DEAD;
		cell->out[side] = x->in[0];
		cell->out[!side] = dead;
		return 0;
	}
	for (size_t k = 0; k < 2; k++) {
		cell->out[k] = on_side(x, k == 1);
		if (cell->out[k] == NULL)
			return -1;
	}
	return 0;
}

/* The condition whose sides the two inputs are on: of input 0. */
static const struct tf_branch *find_condition(const struct tf_layer *x, bool *ret_side)
{
	const struct tf_branch *a = x->in[0]->branch;
	const struct tf_branch *b = x->in[1]->branch;

	for (const struct tf_branch *p = a; p != NULL; p = p->outer) {
		for (const struct tf_branch *q = b; q != NULL; q = q->outer) {
			if (p->pred->t == q->pred->t && p->side != q->side) {
				*ret_side = p->side;
				return p;
			}
		}
	}
	if (a != NULL && b == NULL) {
		*ret_side = a->side;
		return a;
	}
	if (b != NULL && a == NULL) {
		*ret_side = !b->side;
		return b;
	}
	return NULL;
}

static int load_merge(struct tf_layer *x)
{
	bool side = false;

	if (!tf_outs(x, 2))
		return -1;
	struct tf_value **out = x->f->cells[x->at].out;
	if (x->in[0]->kind == TF_DEAD || x->in[1]->kind == TF_DEAD) {
		out[0] = x->in[x->in[0]->kind == TF_DEAD ? 1 : 0];
		return 0;
	}
	const struct tf_branch *b = find_condition(x, &side);
	if (b == NULL) {
		return tf_load_fail(
			x->f->l, MSD_UNSUPPORTED,
			"its inputs are not the two sides of one condition; "
			"export with tf.compat.v1.enable_control_flow_v2()");
	}
	modser_sg_tensor *in[] = {b->pred->t, tf_in(x, side ? 0 : 1),
				  tf_in(x, side ? 1 : 0)};
	if (in[1] == NULL || in[2] == NULL)
		return -1;
	if (!is_like(in[1], in[2])) {
		return tf_load_fail(x->f->l, MSD_UNSUPPORTED,
				    "the sides of its condition have different shapes");
	}
	modser_sg_tensor *t = tf_done(msd_build_node(&x->b, "Where", in, 3));
	if (t == NULL || modser_sg_tensor_set_dtype(t, in[1]->dtype_name) != 0 ||
	    tf_out(x, 0, t) != 0)
		return -1;
	out[0]->branch = b->outer;
	return 0;
}

/* ---- Loops of version 1 ---- */

/* The Exit of a loop reads the nodes inside. */
static int load_inside(struct tf_layer *x)
{
	return tf_load_fail(x->f->l, MSD_UNSUPPORTED,
			    "it is inside of a loop of TensorFlow 1, and is read "
			    "outside of it");
}

const struct tf_row tf_rows_flow[] = {
	{"Assert", 0, TF_MANY, .run = load_nothing},
	{"Case", 1, TF_MANY, .run = load_case},
	{"Const", 0, 0, .run = load_const},
	{"EnsureShape", 1, 1, .run = load_same},
	{"Enter", 1, 1, .run = load_same},
	{"Exit", 0, 0, .run = tf_exit_read},
	{"Identity", 1, 1, .run = load_same},
	{"IdentityN", 0, TF_MANY, .run = load_same_all},
	{"If", 1, TF_MANY, .run = load_if},
	{"Merge", 2, 2, .run = load_merge, .keeps_branch = true},
	{"NextIteration", 1, 1, .run = load_inside},
	{"NoOp", 0, 0, .run = load_nothing},
	{"PartitionedCall", 0, TF_MANY, .run = load_call},
	{"Placeholder", 0, 0, .run = load_placeholder},
	{"PlaceholderV2", 0, 0, .run = load_placeholder},
	{"PlaceholderWithDefault", 1, 1, .run = load_same},
	{"PreventGradient", 1, 1, .run = load_same},
	{"ReadVariableOp", 1, 1, .run = load_read},
	{"ResourceGather", 2, 2, .one = load_gather_variable},
	{"Snapshot", 1, 1, .run = load_same},
	{"StatefulPartitionedCall", 0, TF_MANY, .run = load_call},
	{"StatelessCase", 1, TF_MANY, .run = load_case},
	{"StatelessIf", 1, TF_MANY, .run = load_if},
	{"StatelessWhile", 1, TF_MANY, .run = load_while},
	{"StopGradient", 1, 1, .run = load_same},
	{"Switch", 2, 2, .run = load_switch, .keeps_branch = true},
	{"VarHandleOp", 0, 0, .run = load_handle},
	{"Variable", 0, 0, .run = load_variable},
	{"VariableV2", 0, 0, .run = load_variable},
	{"While", 1, TF_MANY, .run = load_while},
	{0},
};
