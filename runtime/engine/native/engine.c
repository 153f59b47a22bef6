/*
 * The native engine: it accepts nodes whose operator has a claim, if a kernel fits
 * their dtypes and shapes. The reference engine runs all others, also those whose
 * constants could not be packed.
 */
#include "runtime/engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/op/window/window.h"
#include "runtime/engine/native/claim.h"
#include "runtime/engine/native/select.h"
#include "runtime/engine/native/wide.h"
#include "runtime/engine/weights.h"

struct native {
	const struct msd_native_claim *claim;
	struct msd_native_packed *packed; /* NULL: nothing, or not yet */
};

#define ROW(id) &msd_native_##id,
static const struct msd_native_claim *const claims[] = {MSD_NATIVE_CLAIMS(ROW)};
#undef ROW

const struct msd_native_claim *msd_native_find(const char *op)
{
	for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
		if (strcmp(claims[i]->op, op) == 0)
			return claims[i];
	}
	return NULL;
}

bool msd_native_is_single(const modser_sg_node *node, size_t i)
{
	const modser_sg_tensor *t = modser_sg_node_input(node, i);

	return t != NULL && t->dtype.code == MSD_DT_FLOAT && t->dtype.bits == 32;
}

bool msd_native_all_single(const modser_sg_node *node)
{
	for (size_t i = 0; i < node->n_inputs; i++) {
		if (node->inputs[i] != NULL && !msd_native_is_single(node, i))
			return false;
	}
	return node->n_inputs > 0;
}

const float *msd_native_constant(const modser_sg_node *node, size_t i)
{
	const modser_sg_tensor *t = modser_sg_node_input(node, i);

	return msd_native_is_single(node, i) && t->type == MODSER_TENSOR_CONST ? t->data
									       : NULL;
}

size_t msd_native_count(const int64_t *dims, size_t from, size_t to)
{
	size_t n = 1;

	for (size_t i = from; i < to; i++)
		n *= (size_t)dims[i];
	return n;
}

/* How a pass's number of the fused function is computed. */
void msd_native_set_fused(int64_t kind, float a, float b, struct msd_native_finish *f)
{
	static const enum msd_native_unary functions[] = {
		[MSD_FUSED_LEAKY] = MSD_NATIVE_LEAKY,
		[MSD_FUSED_SIGMOID] = MSD_NATIVE_SIGMOID,
		[MSD_FUSED_SILU] = MSD_NATIVE_SILU,
		[MSD_FUSED_HARD_SWISH] = MSD_NATIVE_HARD_SWISH,
		[MSD_FUSED_TANH] = MSD_NATIVE_TANH,
		[MSD_FUSED_GELU] = MSD_NATIVE_GELU,
		[MSD_FUSED_GELU_TANH] = MSD_NATIVE_GELU_TANH,
	};

	f->a = f->low = a;
	f->b = f->high = b;
	f->is_bounded = kind == MSD_FUSED_BOUNDS;
	f->has_function = kind > MSD_FUSED_BOUNDS;
	if (f->has_function)
		f->function = functions[kind];
}

static void name_way(char *ret, size_t size, const char *how)
{
	(void)snprintf(ret, size, "%s%s%s", msd_native_kernels()->name,
		       how != NULL ? ", " : "", how != NULL ? how : "");
}

void *msd_native_packed_new(const modser_sg_node *node, const char *how, size_t size,
			    size_t floats, bool *ret_is_packed)
{
	struct msd_native_packed *p = calloc(1, size);
	struct msd_engine_way way;

	if (p == NULL)
		return NULL;
	*p = (struct msd_native_packed){.destroy = msd_native_packed_free,
					.bytes = floats * sizeof(float),
					.how = how};
	name_way(way.implementation, sizeof(way.implementation), how);
	p->weights =
		msd_weights_take(node, way.implementation, p->bytes, ret_is_packed);
	if (p->weights == NULL) {
		free(p);
		return NULL;
	}
	return p;
}

void msd_native_packed_free(struct msd_native_packed *p)
{
	if (p != NULL)
		msd_weights_give(p->weights, p->bytes);
	free(p);
}

static enum msd_engine_word chosen; /* a process loads one model */

void msd_engine_choose(enum msd_engine_word word)
{
	chosen = word;
}

bool msd_engine_native_is_off(void)
{
	if (chosen == MSD_ENGINE_NATIVE || chosen == MSD_ENGINE_REFERENCE)
		return chosen == MSD_ENGINE_REFERENCE;
	const char *engine = getenv("MODSERD_ENGINE");

	return engine != NULL && strcmp(engine, "reference") == 0;
}

static msd_err take(const struct msd_engine *e, const modser_sg_node *node,
		    void **ret_state, struct msd_diag *d)
{
	const struct msd_native_claim *claim =
		msd_native_find(modser_sg_op_name(modser_sg_node_op(node)));

	(void)e;
	if (claim == NULL || msd_engine_native_is_off())
		return MSD_UNSUPPORTED;
	struct native *n = calloc(1, sizeof(*n));
	if (n == NULL)
		return msd_diag_no_memory(d);
	n->claim = claim;
	*ret_state = n;
	return MSD_OK;
}

static msd_err check(void *state, const modser_sg_node *node, struct msd_diag *d)
{
	struct native *n = state;
	const bool is_short = msd_native_is_short(node);

	if (is_short ? !msd_native_wide_may(n->claim, node) : !n->claim->may(node)) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "no native kernel fits its dtypes, shapes or "
				    "parameters");
	}
	if (n->claim->pack != NULL && n->packed == NULL &&
	    !(is_short ? msd_native_wide_pack(n->claim, node, &n->packed)
		       : n->claim->pack(node, &n->packed))) {
		/* No other engine has the operators that passes made for this one. */
		if (n->claim->pack == msd_native_read_function ||
		    msd_kernel_find(n->claim->op) == NULL)
			return msd_diag_no_memory(d);
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "its packed weights do not fit in the worker's "
				    "memory (--max-worker-memory)");
	}
	return MSD_OK;
}

static msd_err run(void *state, const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct native *n = state;

	if (msd_native_is_short(c->node))
		return msd_native_wide_run(n->claim, c, n->packed, d);
	return n->claim->run(c, n->packed, d);
}

static void leave(void *state)
{
	struct native *n = state;

	if (n->packed != NULL)
		n->packed->destroy(n->packed);
	free(n);
}

static void tell(const void *state, struct msd_engine_way *ret)
{
	const struct native *n = state;
	const char *how = n->packed != NULL ? n->packed->how : NULL;

	name_way(ret->implementation, sizeof(ret->implementation), how);
	ret->packed_bytes = n->packed != NULL ? n->packed->bytes : 0;
	ret->is_shared = n->packed != NULL && n->packed->weights != NULL &&
			 msd_weights_are_shared(n->packed->weights);
}

const struct msd_engine msd_engine_native = {.name = "native",
					     .take = take,
					     .check = check,
					     .run = run,
					     .leave = leave,
					     .tell = tell};
