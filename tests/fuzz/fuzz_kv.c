/*
 * A paged cache under operations from bytes: byte 0 has the modes, then each operation
 * is a byte and its numbers. The kernels check that all indices are inside of the
 * pages. Accepted: no operation is refused.
 */
#include <string.h>

#include "runtime/kv/attend.h"
#include "runtime/kv/checkpoint.h"
#include "runtime/kv/window.h"
#include "runtime/value/error.h"
#include "tests/fuzz/fuzz.h"

enum { HEADS = 2, SIZE = 2, PAGE = 4, SEQUENCES = 5, TOKENS = 24 };

static struct msd_function kernels[MSD_KV_N_KERNELS];

static const int32_t *ints_of(const struct msd_any *v, int64_t *ret_n)
{
	const struct msd_dltensor *t = msd_any_dltensor(v);

	MUST(t != NULL && t->ndim >= 1 && t->dtype.code == MSD_DT_INT);
	*ret_n = t->shape[0];
	return t->data;
}

/* Offsets from 0 to the number of elements of the next list. */
static void check_offsets(const struct msd_any *v, int64_t n)
{
	int64_t n_offsets;
	const int32_t *at = ints_of(v, &n_offsets);

	MUST(n_offsets > 0 && at[0] == 0 && at[n_offsets - 1] == n);
	for (int64_t i = 1; i < n_offsets; i++)
		MUST(at[i] >= at[i - 1]);
}

static void check_below(const struct msd_any *v, int64_t least, int64_t most)
{
	int64_t n;
	const int32_t *at = ints_of(v, &n);

	for (int64_t i = 0; i < n; i++)
		MUST(at[i] >= least && at[i] < most);
}

/* @pages stands before the offsets and the pages of a view. */
static void check_view(const struct msd_any *pages)
{
	int64_t n;

	(void)ints_of(&pages[2], &n);
	check_offsets(&pages[1], n);
	check_below(&pages[2], 0, msd_any_dltensor(pages)->shape[0]);
}

static int kernel_call(void *self, const struct msd_any *args, int32_t n,
		       struct msd_any *ret)
{
	const struct msd_function *fn = self;
	const struct msd_dltensor *first = msd_any_dltensor(&args[0]);

	(void)n, (void)ret;
	switch ((enum msd_kv_kernel)(fn - kernels)) {
	case MSD_KV_PREFILL:
	case MSD_KV_PREFILL_WINDOW:
	case MSD_KV_TREE_CACHED:
		check_offsets(&args[1], first->shape[0]);
		check_view(&args[2]);
		break;
	case MSD_KV_DECODE:
	case MSD_KV_DECODE_WINDOW:
		check_view(&args[1]);
		break;
	case MSD_KV_PREFILL_NEW:
	case MSD_KV_TREE_NEW:
		check_offsets(&args[1], first->shape[0]);
		break;
	case MSD_KV_STORE:
		check_below(&args[3], -1, first->shape[0] * PAGE);
		break;
	case MSD_KV_COPY_PAGE:
		MUST(args[1].as.i >= 0 && args[1].as.i < first->shape[0]);
		MUST(args[2].as.i >= 0 && args[2].as.i < first->shape[0]);
		MUST(args[3].as.i > 0 && args[3].as.i < PAGE);
		break;
	case MSD_KV_COMPACT:
		check_below(&args[2], -1, INT32_MAX);
		break;
	case MSD_KV_PREFILL_MLA:
	case MSD_KV_STORE_MLA:
	case MSD_KV_MERGE:
	case MSD_KV_MERGE_SECOND:
	case MSD_KV_SPLIT_ROTARY:
	case MSD_KV_DEBUG_READ:
	case MSD_KV_N_KERNELS:
		break;
	}
	return 0;
}

/* The bytes that are left. */
struct input {
	const uint8_t *p;
	size_t n;
};

static int64_t next(struct input *in)
{
	if (in->n == 0)
		return 0;
	in->n--;
	return (int8_t)*in->p++;
}

static struct msd_kv_cache *cache_new(int64_t modes)
{
	const int64_t kinds[] = {(modes & 2) != 0 ? MSD_KV_MHA_WINDOW : MSD_KV_MHA,
				 MSD_KV_MHA};
	struct msd_kv_config g = {.max_sequences = SEQUENCES,
				  .max_total = 80,
				  .max_tokens = TOKENS,
				  .page_size = PAGE,
				  .has_windows = (modes & 1) != 0,
				  .layer_window = 7,
				  .n_layers = 2,
				  .q_heads = HEADS,
				  .kv_heads = 1,
				  .qk_dim = SIZE,
				  .v_dim = SIZE,
				  .kinds = kinds,
				  .n_kinds = 2,
				  .rope = (modes >> 2) & 1,
				  .rope_scale = 1,
				  .rope_theta = 10000,
				  .dtype = {MSD_DT_FLOAT, 32, 1}};

	for (size_t i = 0; i < MSD_KV_N_KERNELS; i++) {
		msd_function_init(&kernels[i], "kernel", kernel_call);
		g.kernels[i] = &kernels[i];
	}
	return msd_kv_cache_new(&g);
}

static struct msd_shape *shape_read(struct input *in, size_t n)
{
	int64_t v[128];

	for (size_t i = 0; i < n; i++)
		v[i] = next(in);
	return msd_shape_new(v, n);
}

static int attend(struct msd_kv_cache *c)
{
	const struct msd_dtype float32 = {MSD_DT_FLOAT, 32, 1};
	const int64_t n = c->batch.total;
	struct msd_tensor *qkv =
		msd_tensor_new(float32, (const int64_t[]){n, HEADS + 2, SIZE}, 3);
	struct msd_tensor *out =
		msd_tensor_new(float32, (const int64_t[]){n, HEADS, SIZE}, 3);
	int rc = 0;

	MUST(qkv != NULL && out != NULL);
	const struct msd_any in = msd_kv_tensor(qkv);
	const struct msd_any to = msd_kv_tensor(out);
	for (int64_t i = 0; rc == 0 && i < c->c.n_layers; i++)
		rc = msd_kv_attend_fused(c, i, 1, &in, &to);
	msd_obj_unref(&qkv->obj);
	msd_obj_unref(&out->obj);
	return rc;
}

/* (number of sequences, nodes of trees, ids, lengths, parents) */
static int forward(struct msd_kv_cache *c, struct input *in)
{
	const size_t n = (size_t)next(in) % (SEQUENCES + 2);
	const size_t n_parents = (size_t)next(in) % 64;
	struct msd_shape *ids = shape_read(in, n);
	struct msd_shape *lengths = shape_read(in, n);
	struct msd_shape *parents = n_parents > 0 ? shape_read(in, n_parents) : NULL;
	struct msd_kv_request r = {ids, lengths, parents};
	int rc = c->state.ops->begin(&c->state, &r);

	if (rc == 0) {
		rc = attend(c);
		MUST(c->state.ops->end(&c->state) == 0);
	}
	msd_obj_unref(&ids->obj);
	msd_obj_unref(&lengths->obj);
	msd_obj_unref(parents != NULL ? &parents->obj : NULL);
	return rc;
}

/* (number of sequences, ids, nodes) */
static int accept(struct msd_kv_cache *c, struct input *in)
{
	const size_t n = (size_t)next(in) % (SEQUENCES + 2);
	struct msd_shape *ids = shape_read(in, n);
	struct msd_shape *leaves = shape_read(in, n);
	const int rc = msd_kv_cache_accept(c, ids, leaves);

	msd_obj_unref(&ids->obj);
	msd_obj_unref(&leaves->obj);
	return rc;
}

/* The rest is the text of a checkpoint. */
static int import(struct msd_kv_cache *c, struct input *in)
{
	const int rc = msd_kv_import_begin(c, 0, (struct msd_span){in->p, in->n});

	in->n = 0;
	return rc;
}

static int operate(struct msd_kv_cache *c, struct input *in)
{
	struct msd_kv_state *s = &c->state;
	const int64_t op = next(in);
	int64_t v[3];

	if (op >= 5) {
		if (op == 5)
			return forward(c, in);
		if (op == 6)
			return accept(c, in);
		return op == 7 ? import(c, in) : (s->ops->clear(s), 0);
	}
	for (int i = 0; i < 3; i++)
		v[i] = next(in);
	switch (op) {
	case 0:
		return s->ops->add(s, v[0]);
	case 1:
		return s->ops->remove(s, v[0]);
	case 2:
		return s->ops->fork(s, v[0], v[1], v[2]);
	case 3:
		return s->ops->pop(s, v[0], v[1]);
	default:
		return msd_kv_window_enable(&c->table, v[0], v[1], v[2]);
	}
}

/* No page is lost or used twice. */
static void check_pages(const struct msd_kv_cache *c)
{
	const struct msd_kv_table *t = &c->table;
	uint8_t seen[256] = {0};
	int32_t n_used = 0;

	for (size_t i = 0; i < t->blocks.n; i++) {
		const struct msd_ints *pages = &t->blocks.v[i].pages;

		for (size_t j = 0; j < pages->n; j++, n_used++) {
			MUST(pages->v[j] >= 0 && pages->v[j] < t->pages.n_total);
			MUST(seen[pages->v[j]]++ == 0);
		}
	}
	MUST(n_used + msd_kv_pages_free(&t->pages) == t->pages.n_total);
}

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	struct input in = {data, n};
	struct msd_kv_cache *c = cache_new(next(&in));
	int is_accepted = n > 0;

	MUST(c != NULL);
	while (in.n > 0) {
		if (operate(c, &in) != 0)
			is_accepted = 0;
		msd_abi_clear();
		check_pages(c);
	}
	msd_obj_unref(&c->state.obj);
	return is_accepted;
}
