/*
 * Attention. Normal path: split the model's q, k and v; attention among the new tokens
 * by one kernel, to the cached tokens of each depth by another, and merge the results;
 * store k and v. If each sequence appends one token, k and v are stored first and the
 * cached part is all of it. Failures: no forward is open, a layer that does not exist,
 * tensors of another shape or type, a kernel that is missing or fails.
 */
#include "runtime/kv/attend.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "runtime/value/error.h"

/* The index of @layer among the layers of this cache, or -1 with the error raised. */
static int64_t layer_open(const struct msd_kv_cache *c, int64_t layer)
{
	const int64_t i = layer - c->c.first_layer;

	if (!c->batch.is_open) {
		(void)msd_abi_raise("RuntimeError",
				    "no forward is open: call "
				    "vm.builtin.kv_state_begin_forward first");
		return -1;
	}
	if (i < 0 || i >= c->c.n_layers) {
		(void)msd_abi_raise(
			"ValueError",
			"layer %" PRId64 ": the cache has the layers %" PRId64
			" to %" PRId64,
			layer, c->c.first_layer, c->c.first_layer + c->c.n_layers - 1);
		return -1;
	}
	return i;
}

static enum msd_kv_kind kind_of(const struct msd_kv_cache *c, int64_t i)
{
	return (enum msd_kv_kind)c->c.kinds[c->c.first_layer + i];
}

static bool is_mha(const struct msd_kv_cache *c, int64_t i)
{
	const enum msd_kv_kind kind = kind_of(c, i);

	if (kind == MSD_KV_MHA || kind == MSD_KV_MHA_WINDOW)
		return true;
	(void)msd_abi_raise("ValueError",
			    "layer %" PRId64 " is not multi-head attention",
			    c->c.first_layer + i);
	return false;
}

/* A shape that a tensor must have; an extent -1 is not checked. */
struct expected {
	const char *name;
	int32_t ndim;
	int64_t dim[3];
};

static bool tensor_check(const struct msd_kv_cache *c, const struct msd_any *v,
			 const struct expected *e, struct msd_dtype dtype)
{
	const struct msd_dltensor *t = msd_any_dltensor(v);
	bool is_good = t != NULL && t->ndim == e->ndim &&
		       t->device.type == MSD_DEV_CPU && msd_dtype_eq(t->dtype, dtype) &&
		       msd_dltensor_is_compact(t);
	(void)c;

	for (int32_t i = 0; is_good && i < e->ndim; i++)
		is_good = e->dim[i] < 0 || t->shape[i] == e->dim[i];
	if (is_good)
		return true;
	char name[MSD_DTYPE_NAME_MAX];
	(void)msd_abi_raise("ValueError",
			    "%s: expected a compact %s tensor on the cpu, [%" PRId64
			    ", %" PRId64 "%s%.0" PRId64 "]",
			    e->name, msd_dtype_format(dtype, name), e->dim[0],
			    e->dim[1], e->ndim == 3 ? ", " : "",
			    e->ndim == 3 ? e->dim[2] : 0);
	return false;
}

static struct msd_any inline_rope(const struct msd_kv_cache *c)
{
	return msd_int(c->c.rope == MSD_KV_ROPE_INLINE);
}

/* The operands of a kernel. */
struct job {
	struct msd_kv_cache *c;
	int64_t layer; /* its index in this cache */
	double scale;
	struct msd_any q;
	struct msd_any k;
	struct msd_any v;
	struct msd_any out;
	struct msd_any lse;
};

/* Attention among the new tokens. */
static int attend_new(const struct job *j, bool is_mla)
{
	const struct msd_kv_batch *b = &j->c->batch;
	const struct msd_kv_depth *d = &b->depths[0];
	const struct msd_any indptr = msd_kv_tensor(b->indptr);
	const struct msd_any theta = msd_float(j->c->c.rope_theta);
	const struct msd_any stretch = msd_float(j->c->c.rope_scale);
	const struct msd_any rope = is_mla ? msd_int(0) : inline_rope(j->c);

	if (d->is_chain) {
		const struct msd_any args[] = {j->q,
					       indptr,
					       j->k,
					       j->v,
					       indptr,
					       msd_kv_tensor(b->q_positions),
					       msd_kv_tensor(b->k_positions),
					       j->out,
					       j->lse,
					       msd_int(1),
					       rope,
					       stretch,
					       theta,
					       msd_float(j->scale)};

		return msd_kv_kernel_call(j->c, MSD_KV_PREFILL_NEW, args, 14);
	}
	if (is_mla) {
		return msd_abi_raise("ValueError",
				     "latent attention takes no token trees");
	}
	const struct msd_any args[] = {j->q,
				       indptr,
				       j->k,
				       j->v,
				       indptr,
				       msd_kv_tensor(b->q_positions),
				       msd_kv_tensor(d->tree_indptr),
				       msd_kv_tensor(d->tree_spans),
				       j->out,
				       j->lse,
				       rope,
				       stretch,
				       theta,
				       msd_float(j->scale)};
	return msd_kv_kernel_call(j->c, MSD_KV_TREE_NEW, args, 14);
}

/* Layers with a window of their own have fixed rotary embedding, as in TVM. */
static struct msd_any theta_of(const struct job *j, bool has_window)
{
	return msd_float(has_window ? 10000 : j->c->c.rope_theta);
}

static struct msd_any stretch_of(const struct job *j, bool has_window)
{
	return msd_float(has_window ? 1 : j->c->c.rope_scale);
}

/* Attention to the cached tokens of one depth. */
static int attend_depth(const struct job *j, const struct msd_kv_depth *d,
			bool is_causal)
{
	const struct msd_kv_batch *b = &j->c->batch;
	const bool has_window = kind_of(j->c, j->layer) == MSD_KV_MHA_WINDOW;
	const bool slides = has_window || j->c->table.slides;
	const struct msd_kv_view *view = has_window ? &d->window : &d->all;
	const struct msd_any pages = msd_kv_tensor(j->c->pages[j->layer]);
	const struct msd_any queries = msd_kv_tensor(d->queries);
	const struct msd_any indptr = msd_kv_tensor(view->indptr);
	const struct msd_any indices = msd_kv_tensor(view->indices);
	const struct msd_any lengths = msd_kv_tensor(view->lengths);
	const struct msd_any k_at = msd_kv_tensor(view->positions);
	const struct msd_any q_at = msd_kv_tensor(b->q_positions);
	const struct msd_any rope = inline_rope(j->c);
	const struct msd_any stretch = stretch_of(j, has_window);
	const struct msd_any theta = theta_of(j, has_window);
	const struct msd_any scale = msd_float(j->scale);

	if (b->append_first && !d->is_chain) {
		const struct msd_any args[] = {j->q,
					       queries,
					       pages,
					       indptr,
					       indices,
					       lengths,
					       k_at,
					       q_at,
					       j->out,
					       j->lse,
					       rope,
					       stretch,
					       theta,
					       scale,
					       msd_kv_tensor(d->tree_indptr),
					       msd_kv_tensor(d->tree_spans)};

		return msd_kv_kernel_call(j->c, MSD_KV_TREE_CACHED, args, 16);
	}
	if (d->use_decode) {
		const struct msd_any args[] = {j->q,    pages, indptr, indices, lengths,
					       k_at,    q_at,  j->out, j->lse,  rope,
					       stretch, theta, scale};

		return msd_kv_kernel_call(
			j->c, slides ? MSD_KV_DECODE_WINDOW : MSD_KV_DECODE, args, 13);
	}
	const struct msd_any args[] = {j->q,
				       queries,
				       pages,
				       indptr,
				       indices,
				       lengths,
				       k_at,
				       q_at,
				       j->out,
				       j->lse,
				       msd_int(is_causal),
				       rope,
				       stretch,
				       theta,
				       scale};
	return msd_kv_kernel_call(j->c, slides ? MSD_KV_PREFILL_WINDOW : MSD_KV_PREFILL,
				  args, 15);
}

static int attend_depth_mla(const struct job *j, const struct msd_kv_depth *d)
{
	const struct msd_any args[] = {j->q,
				       msd_kv_tensor(d->queries),
				       msd_kv_tensor(j->c->pages[j->layer]),
				       msd_kv_tensor(d->all.indptr),
				       msd_kv_tensor(d->all.indices),
				       msd_kv_tensor(d->all.lengths),
				       j->out,
				       j->lse,
				       msd_int(0),
				       msd_float(j->scale)};

	if (!d->is_chain) {
		return msd_abi_raise("ValueError",
				     "latent attention takes no token trees");
	}
	return msd_kv_kernel_call(j->c, MSD_KV_PREFILL_MLA, args, 10);
}

/* Attention to the cached tokens of all depths; the first result replaces @j->out if
 * @is_first, others are merged into it. *@ret_any: a depth had cached tokens. */
static int attend_cached(const struct job *j, bool is_mla, bool is_first,
			 bool is_causal, bool *ret_any)
{
	struct msd_kv_cache *c = j->c;
	int rc = 0;

	*ret_any = false;
	for (int32_t i = 0; rc == 0 && i < c->batch.n_depths; i++) {
		const struct msd_kv_depth *d = &c->batch.depths[i];
		struct job part = *j;

		if (d->all.indices->shape[0] == 0)
			continue;
		if (!is_first) {
			part.out = msd_kv_tensor(c->part);
			part.lse = msd_kv_tensor(c->part_lse);
		}
		rc = is_mla ? attend_depth_mla(&part, d)
			    : attend_depth(&part, d, is_causal);
		if (rc == 0 && !is_first) {
			const struct msd_any args[] = {j->out, j->lse, part.out,
						       part.lse};

			rc = msd_kv_kernel_call(c, MSD_KV_MERGE, args, 4);
		}
		is_first = false;
		*ret_any = true;
	}
	return rc;
}

/* All of the attention of a layer. */
static int attend_all(struct job *j)
{
	const struct msd_kv_batch *b = &j->c->batch;
	const bool is_causal =
		!b->append_first && kind_of(j->c, j->layer) == MSD_KV_MHA_WINDOW;
	bool any;

	j->lse = msd_kv_tensor(j->c->lse);
	if (!b->append_first && attend_new(j, false) != 0)
		return -1;
	if (attend_cached(j, false, b->append_first, is_causal, &any) != 0)
		return -1;
	if (!any && b->append_first) {
		return msd_abi_raise("RuntimeError",
				     "there are no tokens to attend to");
	}
	return 0;
}

static int store(const struct msd_kv_cache *c, int64_t layer, struct msd_any k,
		 struct msd_any v)
{
	const struct msd_any args[] = {msd_kv_tensor(c->pages[layer]), k, v,
				       msd_kv_tensor(c->batch.slots)};

	return msd_kv_kernel_call(c, MSD_KV_STORE, args, 4);
}

/* The first @n rows of @v as a tensor with a reference of its own, NULL with the error
 * raised. */
static struct msd_tensor *rows(const struct msd_any *v, int64_t n)
{
	const struct msd_dltensor *t = msd_any_dltensor(v);
	const int64_t dim[] = {n, t->shape[1], t->shape[2]};
	struct msd_tensor *view = msd_tensor_view(
		(char *)t->data + t->byte_offset, t->device, t->dtype, dim, 3,
		v->type == MSD_T_TENSOR ? v->as.obj : NULL, NULL, NULL);

	if (view == NULL)
		(void)msd_abi_no_memory();
	return view;
}

static int attend_fused(struct job *j, struct msd_any qkv)
{
	struct msd_kv_cache *c = j->c;
	const struct msd_any last =
		c->c.rope_factors != NULL
			? (struct msd_any){.type = MSD_T_TENSOR,
					   .as.obj = c->c.rope_factors}
			: msd_int(c->c.rope == MSD_KV_ROPE_NORMAL);
	const struct msd_any split[] = {
		qkv, msd_kv_tensor(c->batch.q_positions), j->q, j->k, j->v, last};

	if (msd_kv_kernel_call(c, MSD_KV_SPLIT_ROTARY, split, 6) != 0)
		return -1;
	if (c->batch.append_first && store(c, j->layer, j->k, j->v) != 0)
		return -1;
	if (attend_all(j) != 0)
		return -1;
	return c->batch.append_first ? 0 : store(c, j->layer, j->k, j->v);
}

int msd_kv_attend_fused(struct msd_kv_cache *c, int64_t layer, double scale,
			const struct msd_any *qkv, const struct msd_any *out)
{
	const int64_t heads = c->c.q_heads + 2 * c->c.kv_heads;
	const struct msd_dltensor *in = msd_any_dltensor(qkv);
	const int64_t n = in != NULL && in->ndim == 3 ? in->shape[0] : -1;
	struct job j = {.c = c, .layer = layer_open(c, layer), .scale = scale};
	int rc = -1;

	if (j.layer < 0 || !is_mha(c, j.layer) ||
	    !tensor_check(c, qkv, &(struct expected){"qkv", 3, {n, heads, c->c.qk_dim}},
			  c->c.dtype) ||
	    !tensor_check(
		    c, out,
		    &(struct expected){"output", 3, {n, c->c.q_heads, c->c.qk_dim}},
		    c->c.dtype))
		return -1;
	if (n < c->batch.total) {
		return msd_abi_raise("ValueError",
				     "qkv has %" PRId64 " tokens, the forward %" PRId64,
				     n, c->batch.total);
	}
	struct msd_tensor *from = rows(qkv, c->batch.total);
	struct msd_tensor *to = rows(out, c->batch.total);
	if (from != NULL && to != NULL) {
		j.q = msd_kv_tensor(c->q);
		j.k = msd_kv_tensor(c->k);
		j.v = msd_kv_tensor(c->v);
		j.out = msd_kv_tensor(to);
		rc = attend_fused(&j, msd_kv_tensor(from));
	}
	msd_obj_unref(from != NULL ? &from->obj : NULL);
	msd_obj_unref(to != NULL ? &to->obj : NULL);
	return rc;
}

/* Extents of a layer's tensors that -1 leaves to the kernels: a latent layer's own
 * attention has other sizes than its cache. */
static int64_t fixed(bool is_fixed, int64_t n)
{
	return is_fixed ? n : -1;
}

int msd_kv_attend_new(struct msd_kv_cache *c, int64_t layer, double scale,
		      const struct msd_any v[5])
{
	const struct msd_dtype float32 = {MSD_DT_FLOAT, 32, 1};
	struct job j = {.c = c, .layer = layer_open(c, layer), .scale = scale};

	if (j.layer < 0)
		return -1;
	const int64_t n = c->batch.total;
	const bool is_fixed = kind_of(c, j.layer) == MSD_KV_MHA;
	const int64_t q = fixed(is_fixed, c->c.q_heads);
	const int64_t kv = fixed(is_fixed, c->c.kv_heads);
	const int64_t qk_dim = fixed(is_fixed, c->c.qk_dim);
	const int64_t v_dim = fixed(is_fixed, c->c.v_dim);
	if (!tensor_check(c, &v[0], &(struct expected){"q", 3, {n, q, qk_dim}},
			  c->c.dtype) ||
	    !tensor_check(c, &v[1], &(struct expected){"k", 3, {n, kv, qk_dim}},
			  c->c.dtype) ||
	    !tensor_check(c, &v[2], &(struct expected){"v", 3, {n, kv, v_dim}},
			  c->c.dtype) ||
	    !tensor_check(c, &v[3], &(struct expected){"output", 3, {n, q, v_dim}},
			  c->c.dtype) ||
	    !tensor_check(c, &v[4], &(struct expected){"lse", 2, {n, q, 0}}, float32))
		return -1;
	j.q = v[0];
	j.k = v[1];
	j.v = v[2];
	j.out = v[3];
	j.lse = v[4];
	return attend_new(&j, kind_of(c, j.layer) != MSD_KV_MHA);
}

/* Without cached tokens the result has no weight in a merge. */
static void result_empty(const struct msd_any *out, const struct msd_any *lse)
{
	const struct msd_dltensor *o = msd_any_dltensor(out);
	const struct msd_dltensor *l = msd_any_dltensor(lse);
	float *v = (float *)(void *)((char *)l->data + l->byte_offset);

	memset((char *)o->data + o->byte_offset, 0, msd_dltensor_bytes(o));
	for (int64_t i = 0; i < l->shape[0] * l->shape[1]; i++)
		v[i] = -INFINITY;
}

int msd_kv_attend_cached(struct msd_kv_cache *c, int64_t layer, double scale,
			 const struct msd_any v[3])
{
	const struct msd_dtype float32 = {MSD_DT_FLOAT, 32, 1};
	struct job j = {.c = c, .layer = layer_open(c, layer), .scale = scale};
	const int64_t n = c->batch.total;
	const int64_t heads = c->c.q_heads;
	bool any;

	if (j.layer < 0 ||
	    !tensor_check(c, &v[0], &(struct expected){"q", 3, {n, heads, c->c.qk_dim}},
			  c->c.dtype) ||
	    !tensor_check(c, &v[1],
			  &(struct expected){"output", 3, {n, heads, c->c.v_dim}},
			  c->c.dtype) ||
	    !tensor_check(c, &v[2], &(struct expected){"lse", 2, {n, heads, 0}},
			  float32))
		return -1;
	j.q = v[0];
	j.out = v[1];
	j.lse = v[2];
	if (attend_cached(&j, kind_of(c, j.layer) != MSD_KV_MHA, true, false, &any) !=
	    0)
		return -1;
	if (!any)
		result_empty(&j.out, &j.lse);
	return 0;
}

int msd_kv_attend_shared(struct msd_kv_cache *c, int64_t layer, double scale,
			 const struct msd_any v[4])
{
	struct job j = {.c = c, .layer = layer_open(c, layer), .scale = scale};
	const int64_t n = c->batch.total;
	const int64_t q = c->c.q_heads;
	const int64_t kv = c->c.kv_heads;

	if (j.layer < 0 || !is_mha(c, j.layer) ||
	    !tensor_check(c, &v[0], &(struct expected){"q", 3, {n, q, c->c.qk_dim}},
			  c->c.dtype) ||
	    !tensor_check(c, &v[1], &(struct expected){"k", 3, {n, kv, c->c.qk_dim}},
			  c->c.dtype) ||
	    !tensor_check(c, &v[2], &(struct expected){"v", 3, {n, kv, c->c.v_dim}},
			  c->c.dtype) ||
	    !tensor_check(c, &v[3], &(struct expected){"output", 3, {n, q, c->c.v_dim}},
			  c->c.dtype))
		return -1;
	j.q = v[0];
	j.k = v[1];
	j.v = v[2];
	j.out = v[3];
	return attend_all(&j);
}

int msd_kv_store_mla(struct msd_kv_cache *c, int64_t layer, const struct msd_any *kv)
{
	const int64_t i = layer_open(c, layer);

	if (i < 0)
		return -1;
	if (kind_of(c, i) != MSD_KV_MLA) {
		return msd_abi_raise("ValueError",
				     "layer %" PRId64 " is not latent attention",
				     layer);
	}
	if (!tensor_check(c, kv,
			  &(struct expected){"kv", 2, {c->batch.total, c->c.qk_dim, 0}},
			  c->c.dtype))
		return -1;
	const struct msd_any args[] = {msd_kv_tensor(c->pages[i]), *kv,
				       msd_kv_tensor(c->batch.slots)};
	return msd_kv_kernel_call(c, MSD_KV_STORE_MLA, args, 3);
}
