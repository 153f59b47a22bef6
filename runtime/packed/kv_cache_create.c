/*
 * vm.builtin.paged_attention_kv_cache_create: 28 or 29 arguments, most of them the
 * model's kernels. A kernel is a function, or a tuple of the name of what made it and
 * its functions; an empty tuple means that there is none.
 */
#include "artifact/provides/packed.h"
#include "runtime/kv/cache.h"
#include "runtime/packed/args.h"
#include "runtime/packed/global.h"

/* Positions of the arguments. */
enum {
	AT_SIZES,
	AT_LAYERS,
	AT_Q_HEADS,
	AT_KV_HEADS,
	AT_QK_DIM,
	AT_V_DIM,
	AT_KINDS,
	AT_TRANSFER,
	AT_ROPE,
	AT_ROPE_SCALE,
	AT_ROPE_THETA,
	AT_ROPE_FACTORS,
	AT_INIT,
	AT_STORE,
	AT_STORE_MLA,
	AT_PREFILL_NEW, /* eight tuples from here on */
	AT_MERGE = AT_PREFILL_NEW + 8,
	AT_SPLIT_ROTARY,
	AT_COPY_PAGE,
	AT_DEBUG_READ,
	AT_COMPACT,
	N_ARGS
};

/* (sequences, tokens, tokens of a batch, page size, windows[, window of layers]) */
static bool read_sizes(struct msd_args a, struct msd_kv_config *g)
{
	struct msd_shape *s;

	if (!msd_args_shape(a, AT_SIZES, &s))
		return false;
	if (s->ndim != 5 && s->ndim != 6) {
		(void)msd_abi_raise("ValueError",
				    "argument %d: expected 5 or 6 sizes but got %zu",
				    AT_SIZES, s->ndim);
		return false;
	}
	g->max_sequences = s->dim[0];
	g->max_total = s->dim[1];
	g->max_tokens = s->dim[2];
	g->page_size = s->dim[3];
	g->has_windows = s->dim[4] != 0;
	g->layer_window = s->ndim == 6 ? s->dim[5] : 1024;
	return true;
}

static bool read_layers(struct msd_args a, struct msd_kv_config *g)
{
	struct msd_shape *layers;
	struct msd_shape *kinds;
	int64_t transfer;

	if (!msd_args_shape(a, AT_LAYERS, &layers) ||
	    !msd_args_shape(a, AT_KINDS, &kinds) ||
	    !msd_args_int(a, AT_TRANSFER, &transfer))
		return false;
	if (layers->ndim != 2 ||
	    __builtin_sub_overflow(layers->dim[1], layers->dim[0], &g->n_layers)) {
		(void)msd_abi_raise("ValueError",
				    "argument %d: expected the first layer and the one "
				    "behind the last but got %zu numbers",
				    AT_LAYERS, layers->ndim);
		return false;
	}
	if (transfer != 0) {
		(void)msd_abi_raise_code(
			MSD_UNSUPPORTED,
			"argument %d: pages are not transferred between "
			"machines here: that needs NVSHMEM",
			AT_TRANSFER);
		return false;
	}
	g->first_layer = layers->dim[0];
	g->kinds = kinds->dim;
	g->n_kinds = kinds->ndim;
	return true;
}

static bool read_rope(struct msd_args a, struct msd_kv_config *g)
{
	struct msd_dltensor *init;

	if (!msd_args_int(a, AT_ROPE, &g->rope) ||
	    !msd_args_float(a, AT_ROPE_SCALE, &g->rope_scale) ||
	    !msd_args_float(a, AT_ROPE_THETA, &g->rope_theta) ||
	    !msd_args_host_tensor(a, AT_INIT, &init))
		return false;
	if (a.v[AT_ROPE_FACTORS].type == MSD_T_TENSOR)
		g->rope_factors = a.v[AT_ROPE_FACTORS].as.obj;
	g->dtype = init->dtype;
	return true;
}

/* A tuple (maker, function...), or an empty one. */
static bool read_kernel(struct msd_args a, int32_t i, struct msd_function **ret)
{
	struct msd_array *t;
	struct msd_span maker;

	*ret = NULL;
	if (!msd_args_tuple(a, i, &t))
		return false;
	if (t->size == 0)
		return true;
	if (!msd_any_str(&t->items[0], &maker)) {
		(void)msd_abi_raise(
			"TypeError",
			"argument %d: expected the name of a kernel's maker "
			"but got %s",
			(int)i, msd_type_name(t->items[0].type));
		return false;
	}
	if (!msd_span_is(maker, "tirx") && !msd_span_is(maker, "tir")) {
		(void)msd_abi_raise_code(MSD_UNSUPPORTED,
					 "argument %d: kernels of \"%.*s\" do not run "
					 "here, only those of "
					 "\"tirx\"",
					 (int)i, (int)(maker.n < 64 ? maker.n : 64),
					 (const char *)maker.p);
		return false;
	}
	if (t->size != 2 || t->items[1].type != MSD_T_FUNCTION) {
		(void)msd_abi_raise(
			"TypeError",
			"argument %d: expected one function behind \"%.*s\"", (int)i,
			(int)maker.n, (const char *)maker.p);
		return false;
	}
	*ret = (struct msd_function *)(void *)t->items[1].as.obj;
	return true;
}

static struct msd_function *function_or_null(const struct msd_any *v)
{
	return v->type == MSD_T_FUNCTION ? (struct msd_function *)(void *)v->as.obj
					 : NULL;
}

static bool read_kernels(struct msd_args a, struct msd_kv_config *g)
{
	struct msd_array *merge;

	for (int32_t i = 0; i < AT_MERGE - AT_PREFILL_NEW; i++) {
		if (!read_kernel(a, AT_PREFILL_NEW + i, &g->kernels[i]))
			return false;
	}
	if (!msd_args_tuple(a, AT_MERGE, &merge))
		return false;
	if (merge->size < 1 || function_or_null(&merge->items[0]) == NULL) {
		(void)msd_abi_raise(
			"ValueError",
			"argument %d: expected a function that merges results",
			AT_MERGE);
		return false;
	}
	g->kernels[MSD_KV_MERGE] = function_or_null(&merge->items[0]);
	if (merge->size > 1)
		g->kernels[MSD_KV_MERGE_SECOND] = function_or_null(&merge->items[1]);
	g->kernels[MSD_KV_STORE] = function_or_null(&a.v[AT_STORE]);
	g->kernels[MSD_KV_STORE_MLA] = function_or_null(&a.v[AT_STORE_MLA]);
	return msd_args_function(a, AT_SPLIT_ROTARY,
				 &g->kernels[MSD_KV_SPLIT_ROTARY]) &&
	       msd_args_function(a, AT_COPY_PAGE, &g->kernels[MSD_KV_COPY_PAGE]) &&
	       msd_args_function(a, AT_DEBUG_READ, &g->kernels[MSD_KV_DEBUG_READ]) &&
	       msd_args_function(a, AT_COMPACT, &g->kernels[MSD_KV_COMPACT]);
}

static int create(void *self, const struct msd_any *args, int32_t n,
		  struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_kv_config g = {0};
	struct msd_kv_cache *c;

	(void)self;
	if (!msd_args_count(a, N_ARGS, N_ARGS + 1) || !read_sizes(a, &g) ||
	    !read_layers(a, &g) || !msd_args_int(a, AT_Q_HEADS, &g.q_heads) ||
	    !msd_args_int(a, AT_KV_HEADS, &g.kv_heads) ||
	    !msd_args_int(a, AT_QK_DIM, &g.qk_dim) ||
	    !msd_args_int(a, AT_V_DIM, &g.v_dim) || !read_rope(a, &g) ||
	    !read_kernels(a, &g))
		return -1;
	c = msd_kv_cache_new(&g);
	if (c == NULL)
		return -1;
	*ret = msd_of_obj(&c->state.obj);
	return 0;
}

const struct msd_global msd_globals_kv_cache_create[] =
	MSD_GLOBAL_TABLE(MSD_PACKED_KV_CACHE_CREATE);
