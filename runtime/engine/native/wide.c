/*
 * Normal path: constants that a claim packs are widened once, at the load. In a run,
 * the other inputs are widened, the claim computes float32, and its results are rounded
 * to the type of the node. A run that must read packed constants again, which happens
 * for infinities in a convolution, is repeated with all of them widened. Without memory
 * a run fails, and a pack leaves the node to the reference engine.
 */
#include "runtime/engine/native/wide.h"

#include <stdlib.h>

#include "graph/ir/graph.h"
#include "runtime/engine/native/select.h"
#include "runtime/engine/native/work.h"

enum { MOST_INPUTS = 8, MOST_OUTPUTS = 4, CHUNK = 4096, ALIGNMENT = 16 /* floats */ };

/* A node with float32 in place of short floats. */
struct wide {
	modser_sg_node node;
	modser_sg_tensor *in[MOST_INPUTS], *out[MOST_OUTPUTS];
	modser_sg_tensor widened[MOST_INPUTS], rounded[MOST_OUTPUTS];
};

static bool is_short(const modser_sg_tensor *t)
{
	return t != NULL && t->dtype.bits == 16 &&
	       (t->dtype.code == MSD_DT_FLOAT || t->dtype.code == MSD_DT_BFLOAT);
}

bool msd_native_is_short(const modser_sg_node *node)
{
	return node->n_inputs > 0 && is_short(node->inputs[0]);
}

static modser_sg_tensor *copy(modser_sg_tensor *from, modser_sg_tensor *ret)
{
	if (!is_short(from))
		return from;
	*ret = *from;
	ret->dtype.code = MSD_DT_FLOAT;
	ret->dtype.bits = 32;
	ret->bytes *= 2;
	return ret;
}

/* False: the node has more inputs or outputs than any claim reads. Constants keep the
 * bytes of the file until a caller widens them. */
static bool set(const modser_sg_node *node, struct wide *ret)
{
	if (node->n_inputs > MOST_INPUTS || node->n_outputs > MOST_OUTPUTS)
		return false;
	ret->node = *node;
	ret->node.inputs = ret->in;
	ret->node.outputs = ret->out;
	for (size_t i = 0; i < node->n_inputs; i++)
		ret->in[i] = copy(node->inputs[i], &ret->widened[i]);
	for (size_t i = 0; i < node->n_outputs; i++)
		ret->out[i] = copy(node->outputs[i], &ret->rounded[i]);
	return true;
}

static size_t elements(const modser_sg_tensor *t)
{
	return msd_native_count(t->dims, 0, (size_t)t->ndim);
}

/* Convert @n elements between arrays; @x is short, or @y is. */
struct conversion {
	bool is_bfloat, is_widening;
	size_t n;
	const void *x;
	void *y;
};

static void convert_chunks(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct conversion *v = ctx;
	const struct msd_native_kernels *k = msd_native_kernels();
	const size_t from = first * CHUNK;
	const size_t n = (end * CHUNK < v->n ? end * CHUNK : v->n) - from;

	(void)thread;
	if (v->is_widening) {
		k->widen(v->is_bfloat, (const uint16_t *)v->x + from, n,
			 (float *)v->y + from);
	} else {
		k->narrow(v->is_bfloat, (const float *)v->x + from, n,
			  (uint16_t *)v->y + from);
	}
}

static void convert(const modser_sg_tensor *t, bool is_widening, const void *x, void *y)
{
	const struct conversion v = {.is_bfloat = t->dtype.code == MSD_DT_BFLOAT,
				     .is_widening = is_widening,
				     .n = elements(t),
				     .x = x,
				     .y = y};

	msd_native_each((v.n + CHUNK - 1) / CHUNK, 0.2 * CHUNK, convert_chunks, &v);
}

/* A result of another type than float32 may depend on how a quotient is rounded. */
static bool has_float_results(const modser_sg_node *node)
{
	for (size_t i = 0; i < node->n_outputs; i++) {
		const modser_sg_tensor *t = node->outputs[i];

		if (t != NULL && !is_short(t) &&
		    (t->dtype.code != MSD_DT_FLOAT || t->dtype.bits != 32))
			return false;
	}
	return true;
}

bool msd_native_wide_may(const struct msd_native_claim *claim,
			 const modser_sg_node *node)
{
	struct wide w;

	return has_float_results(node) && set(node, &w) && claim->may(&w.node);
}

static bool is_packed(const struct msd_native_claim *claim, const modser_sg_node *node,
		      size_t i)
{
	return (claim->packs >> i & 1u) != 0 && is_short(node->inputs[i]) &&
	       node->inputs[i]->type == MODSER_TENSOR_CONST &&
	       node->inputs[i]->data != NULL;
}

bool msd_native_wide_pack(const struct msd_native_claim *claim,
			  const modser_sg_node *node, struct msd_native_packed **ret)
{
	float *constants[MOST_INPUTS] = {NULL};
	bool is_done = true;
	struct wide w;

	if (!set(node, &w))
		return false;
	for (size_t i = 0; is_done && i < node->n_inputs; i++) {
		if (!is_packed(claim, node, i))
			continue;
		constants[i] = malloc((elements(node->inputs[i]) + 1) * sizeof(float));
		is_done = constants[i] != NULL;
		if (is_done) {
			convert(node->inputs[i], true, node->inputs[i]->data,
				constants[i]);
		}
		w.in[i]->data = constants[i];
	}
	is_done = is_done && claim->pack(&w.node, ret);
	for (size_t i = 0; i < MOST_INPUTS; i++)
		free(constants[i]);
	return is_done;
}

static size_t room_of(const modser_sg_tensor *t)
{
	return (elements(t) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* An input that a run reads as float32; without @packed constants it reads all. */
static bool is_read(const struct msd_native_claim *claim,
		    const struct msd_native_packed *packed, const modser_sg_node *node,
		    size_t i)
{
	return is_short(node->inputs[i]) &&
	       (packed == NULL || !is_packed(claim, node, i));
}

/* The inputs of @read, one bit each, are widened into @room, then come the results. */
static msd_err run(const struct msd_native_claim *claim,
		   const struct msd_kernel_call *c, struct wide *w, unsigned read,
		   const struct msd_native_packed *packed, struct msd_diag *d,
		   float *room)
{
	const modser_sg_node *node = c->node;
	const void *in[MOST_INPUTS] = {NULL};
	void *out[MOST_OUTPUTS] = {NULL};

	for (size_t i = 0; i < node->n_inputs; i++) {
		in[i] = is_short(node->inputs[i]) ? NULL : c->in[i];
		if ((read >> i & 1u) != 0) {
			convert(node->inputs[i], true, c->in[i], room);
			in[i] = room;
			room += room_of(node->inputs[i]);
		}
		if (w->in[i] == &w->widened[i])
			w->in[i]->data = in[i];
	}
	for (size_t i = 0; i < node->n_outputs; i++) {
		out[i] = c->out[i];
		if (is_short(node->outputs[i]) && c->out[i] != NULL) {
			out[i] = room;
			room += room_of(node->outputs[i]);
		}
	}
	const msd_err err = claim->run(
		&(struct msd_kernel_call){.node = &w->node, .in = in, .out = out},
		packed, d);
	for (size_t i = 0; err == MSD_OK && i < node->n_outputs; i++) {
		if (out[i] != c->out[i])
			convert(node->outputs[i], false, out[i], c->out[i]);
	}
	return err;
}

static msd_err run_with(const struct msd_native_claim *claim,
			const struct msd_kernel_call *c, unsigned read,
			const struct msd_native_packed *packed, struct msd_diag *d)
{
	const modser_sg_node *node = c->node;
	size_t n = 1;
	struct wide w;

	if (!set(node, &w))
		return msd_diag_set(d, MSD_INTERNAL, "too many inputs");
	for (size_t i = 0; i < node->n_inputs; i++)
		n += (read >> i & 1u) != 0 ? room_of(node->inputs[i]) : 0;
	for (size_t i = 0; i < node->n_outputs; i++)
		n += is_short(node->outputs[i]) ? room_of(node->outputs[i]) : 0;
	float *room = msd_native_scratch_take(n);
	if (room == NULL)
		return msd_diag_no_memory(d);
	const msd_err err = run(claim, c, &w, read, packed, d, room);
	msd_native_scratch_give(room);
	return err;
}

msd_err msd_native_wide_run(const struct msd_native_claim *claim,
			    const struct msd_kernel_call *c,
			    const struct msd_native_packed *packed, struct msd_diag *d)
{
	unsigned read = 0;
	unsigned all = 0;

	for (size_t i = 0; i < c->node->n_inputs; i++) {
		read |= is_read(claim, packed, c->node, i) ? 1u << i : 0;
		all |= is_read(claim, NULL, c->node, i) ? 1u << i : 0;
	}
	const msd_err err = run_with(claim, c, read, packed, d);
	return err == MSD_NATIVE_NEEDS_CONSTANTS ? run_with(claim, c, all, packed, d)
						 : err;
}
