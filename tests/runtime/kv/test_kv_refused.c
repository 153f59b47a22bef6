/* Bad input of paged caches: each is refused by name and changes nothing. */
#include <criterion/criterion.h>

#include "runtime/kv/attend.h"
#include "runtime/kv/window.h"
#include "runtime/value/error.h"
#include "tests/runtime/kv/kv_support.h"
#include "tests/support/fail_alloc.h"

#define SEQUENCE(id)                                                                   \
	(const int64_t[])                                                              \
	{                                                                              \
		id                                                                     \
	}

static struct test_cache t;

static void open_one(void)
{
	cache_open(&t);
	cr_assert_eq(t.c->state.ops->add(&t.c->state, 0), 0);
	cache_grow(&t, 0, 10);
}

static void close_one(void)
{
	cache_close(&t);
}

TestSuite(kv_refused, .init = open_one, .fini = close_one);

static int begin(int64_t id, int64_t n)
{
	return cache_begin_with(t.c, &id, &n, 1, NULL, 0);
}

static int end(void)
{
	return t.c->state.ops->end(&t.c->state);
}

Test(kv_refused, unknown_and_repeated_sequences)
{
	struct msd_kv_state *s = &t.c->state;

	expect_refused(s->ops->remove(s, 7), "sequence 7 is not in the cache");
	expect_refused(s->ops->pop(s, 7, 1), "sequence 7 is not in the cache");
	expect_refused(s->ops->fork(s, 7, 8, -1), "sequence 7 is not in the cache");
	expect_refused(s->ops->add(s, 0), "sequence 0 is already in the cache");
	expect_refused(s->ops->fork(s, 0, 0, -1), "sequence 0 is already in the cache");
	expect_refused(begin(7, 1), "sequence 7 is not in the cache");
	expect_refused(cache_begin_with(t.c, (const int64_t[]){0, 0},
					(const int64_t[]){1, 1}, 2, NULL, 0),
		       "sequence 0 is twice in the batch");
}

Test(kv_refused, positions_outside_of_a_sequence)
{
	struct msd_kv_state *s = &t.c->state;

	expect_refused(s->ops->pop(s, 0, 11), "has 10 tokens: 11 cannot be removed");
	expect_refused(s->ops->pop(s, 0, -1), "has 10 tokens: -1 cannot be removed");
	expect_refused(s->ops->fork(s, 0, 1, 11),
		       "has 10 tokens: it cannot be forked at");
	expect_refused(s->ops->fork(s, 0, 1, -2),
		       "has 10 tokens: it cannot be forked at");
	cr_assert_eq(msd_kv_total(&t.c->table), 10);
	cr_assert_eq(t.c->table.n, 1);
}

Test(kv_refused, more_sequences_than_there_are)
{
	struct msd_kv_state *s = &t.c->state;

	for (int64_t i = 1; i < 4; i++)
		cr_assert_eq(s->ops->add(s, i), 0);
	expect_refused(s->ops->add(s, 4), "created for 4 sequences");
	expect_refused(s->ops->fork(s, 0, 4, -1), "created for 4 sequences");
}

Test(kv_refused, more_tokens_or_pages_than_there_are)
{
	const int32_t free_pages = msd_kv_pages_free(&t.c->table.pages);

	expect_refused(begin(0, 17), "more tokens than the 16");
	expect_refused(begin(0, 0), "cannot grow by 0 tokens");
	expect_refused(begin(0, INT64_MIN), "cannot grow by");
	expect_refused(begin(0, INT64_MAX), "more tokens than");
	for (int i = 0; i < 3; i++)
		cache_grow(&t, 0, 16);
	cr_assert_eq(free_pages, 14);
	cache_grow(&t, 0, 10);
	expect_refused(begin(0, 1), "the cache has 0 free");
	cr_assert_eq(msd_kv_total(&t.c->table), 68);
	cr_assert_eq(t.c->state.ops->pop(&t.c->state, 0, 1), 0);
	cache_grow(&t, 0, 1);
}

Test(kv_refused, batches_of_another_size)
{
	const int64_t ids[] = {0, 1, 2, 3, 4};
	struct msd_kv_request r = {.ids = shape_of(ids, 2),
				   .lengths = shape_of(ids, 1)};

	expect_refused(cache_begin_with(t.c, ids, ids, 5, NULL, 0), "from 1 to 4");
	expect_refused(cache_begin_with(t.c, ids, ids, 0, NULL, 0), "from 1 to 4");
	expect_refused(t.c->state.ops->begin(&t.c->state, &r),
		       "2 sequences with 1 lengths");
	msd_obj_unref((struct msd_obj *)(uintptr_t)&r.ids->obj);
	msd_obj_unref((struct msd_obj *)(uintptr_t)&r.lengths->obj);
}

Test(kv_refused, forwards_that_are_open_or_not)
{
	expect_refused(cache_attend(t.c, 0, 1), "no forward is open");
	expect_refused(end(), "no forward is open");
	cr_assert_eq(begin(0, 1), 0);
	expect_refused(begin(0, 1), "a forward is open");
	cr_assert_eq(end(), 0);
	expect_refused(end(), "no forward is open");
}

Test(kv_refused, layers_and_tensors_that_do_not_fit)
{
	struct msd_any qkv = ZEROS(3, 4, 4);
	struct msd_any out = ZEROS(3, 3, 4);

	cr_assert_eq(begin(0, 3), 0);
	expect_refused(cache_attend(t.c, 2, 3),
		       "layer 2: the cache has the layers 0 to 1");
	expect_refused(cache_attend(t.c, -1, 3), "layer -1");
	expect_refused(cache_attend(t.c, INT64_MIN, 3), "the cache has the layers");
	expect_refused(cache_attend(t.c, 0, 2), "qkv has 2 tokens, the forward 3");
	expect_refused(msd_kv_attend_fused(t.c, 0, 1, &qkv, &out), "output: expected");
	expect_refused(msd_kv_attend_fused(t.c, 0, 1, &out, &qkv), "qkv: expected");
	expect_refused(msd_kv_store_mla(t.c, 0, &out), "is not latent attention");
	msd_any_drop(&qkv);
	msd_any_drop(&out);
}

Test(kv_refused, trees_with_cycles)
{
	const int64_t n = 3;
	const int64_t id = 0;

	expect_refused(
		cache_begin_with(t.c, &id, &n, 1, (const int64_t[]){-1, 1, 0}, 3),
		"node 1 of its token tree has the parent 1");
	expect_refused(
		cache_begin_with(t.c, &id, &n, 1, (const int64_t[]){-1, 2, 1}, 3),
		"node 1 of its token tree has the parent 2");
	expect_refused(
		cache_begin_with(t.c, &id, &n, 1, (const int64_t[]){-2, 0, 1}, 3),
		"node 0 of its token tree has the parent -2");
	expect_refused(cache_begin_with(t.c, &id, &n, 1, (const int64_t[]){-1, 0}, 2),
		       "the token trees have 2 nodes");
	cr_assert_eq(msd_kv_total(&t.c->table), 10);
}

static int accept_one(int64_t id, int64_t leaf)
{
	struct msd_shape *ids = shape_of(&id, 1);
	struct msd_shape *leaves = shape_of(&leaf, 1);
	const int rc = msd_kv_cache_accept(t.c, ids, leaves);

	msd_obj_unref(&ids->obj);
	msd_obj_unref(&leaves->obj);
	return rc;
}

Test(kv_refused, nodes_that_a_tree_has_not)
{
	const int64_t n = 3;
	const int64_t id = 0;

	cr_assert_eq(cache_begin_with(t.c, &id, &n, 1, (const int64_t[]){-1, 0, 0}, 3),
		     0);
	expect_refused(accept_one(0, 2), "a forward is open");
	cr_assert_eq(end(), 0);
	expect_refused(begin(0, 1), "whose nodes are not accepted yet");
	expect_refused(t.c->state.ops->fork(&t.c->state, 0, 1, -1),
		       "whose nodes are not accepted yet");
	expect_refused(accept_one(0, 3), "has no node 3");
	expect_refused(accept_one(0, -2), "has no node -2");
	expect_refused(accept_one(1, 0), "sequence 1 is not in the cache");
	cr_assert_eq(accept_one(0, 2), 0);
	cr_assert_eq(msd_kv_total(&t.c->table), 12);
}

Test(kv_refused, windows_that_make_no_sense)
{
	struct msd_kv_table *table = &t.c->table;

	expect_refused(msd_kv_window_enable(table, 0, 0, 0), "a window of 0 tokens");
	expect_refused(msd_kv_window_enable(table, 0, 4, 4), "4 of which stay");
	expect_refused(msd_kv_window_enable(table, 0, 4, -1), "-1 of which stay");
	cr_assert_eq(msd_kv_window_enable(table, 0, 20, 2), 0);
	expect_refused(msd_kv_window_enable(table, 0, 20, 2), "has a window already");
	expect_refused(t.c->state.ops->fork(&t.c->state, 0, 1, -1),
		       "can be cut in its first");
}

Test(kv_refused, a_kernel_that_fails_or_is_missing)
{
	const int32_t free_pages = msd_kv_pages_free(&t.c->table.pages);

	kernels_fail(MSD_KV_COPY_PAGE);
	expect_refused(t.c->state.ops->fork(&t.c->state, 0, 1, 9), "the kernel fails");
	cr_assert_eq(msd_kv_pages_free(&t.c->table.pages), free_pages);
	cr_assert_eq(t.c->table.n, 1);
	kernels_fail(MSD_KV_N_KERNELS);
	t.c->c.kernels[MSD_KV_SPLIT_ROTARY] = NULL;
	cr_assert_eq(begin(0, 1), 0);
	expect_refused(cache_attend(t.c, 0, 1), "the cache has no kernel split_rotary");
	cr_assert_eq(end(), 0);
}

/* A configuration that differs in one number. */
static void expect_config_refused(int64_t *number, int64_t v, const char *text)
{
	const int64_t before = *number;

	*number = v;
	expect_refused(msd_kv_cache_new(&t.config) == NULL ? -1 : 0, text);
	*number = before;
}

Test(kv_refused, sizes_out_of_bounds)
{
	struct msd_kv_config *g = &t.config;

	expect_config_refused(&g->max_sequences, 0, "the number of sequences is 0");
	expect_config_refused(&g->max_sequences, 65537,
			      "the number of sequences is 65537");
	expect_config_refused(&g->max_total, -1, "the number of tokens is -1");
	expect_config_refused(&g->max_total, INT64_MAX, "the number of tokens is");
	expect_config_refused(&g->max_tokens, 0, "the tokens of a batch is 0");
	expect_config_refused(&g->page_size, 0, "the page size is 0");
	expect_config_refused(&g->page_size, INT64_MAX, "the page size is");
	expect_config_refused(&g->layer_window, 0, "the layer window is 0");
	expect_config_refused(&g->n_layers, 3, "but kinds of 2 layers");
	expect_config_refused(&g->n_layers, INT64_MAX, "the number of layers is");
	expect_config_refused(&g->first_layer, -1, "the first layer is -1");
	expect_config_refused(&g->q_heads, 0, "the number of heads is 0");
	expect_config_refused(&g->qk_dim, 1 << 20, "the size of a key is");
	expect_config_refused(&g->rope, 3, "the rope mode is 3");
	g->max_total = INT32_MAX / 2;
	g->kv_heads = g->qk_dim = 65536;
	expect_refused(msd_kv_cache_new(g) == NULL ? -1 : 0,
		       "out of memory for a cache");
}

Test(kv_refused, short_memory_of_a_cache)
{
	struct msd_kv_cache *c = NULL;

	for (long n = 0; c == NULL && n < 200; n++) {
		msd_fail_alloc(n);
		c = msd_kv_cache_new(&t.config);
		(void)msd_fail_alloc_stop();
		msd_abi_clear();
	}
	cr_assert_not_null(c);
	msd_obj_unref(&c->state.obj);
}

Test(kv_refused, short_memory_of_a_fork)
{
	struct msd_kv_state *s = &t.c->state;
	int rc = -1;

	for (long n = 0; rc != 0 && n < 200; n++) {
		msd_fail_alloc(n);
		rc = s->ops->fork(s, 0, 1, 9);
		(void)msd_fail_alloc_stop();
		msd_abi_clear();
		cr_assert_eq(t.c->table.n, rc == 0 ? 2 : 1);
	}
	cr_assert_eq(rc, 0);
}

Test(kv_refused, short_memory_of_a_forward)
{
	const int64_t id = 0;
	const int64_t one = 1;
	struct msd_shape *ids = shape_of(&id, 1);
	struct msd_shape *lengths = shape_of(&one, 1);
	const struct msd_kv_request r = {.ids = ids, .lengths = lengths};
	int rc = -1;

	for (long n = 0; rc != 0 && n < 200; n++) {
		msd_fail_alloc(n);
		rc = t.c->state.ops->begin(&t.c->state, &r);
		(void)msd_fail_alloc_stop();
		msd_abi_clear();
		cr_assert_eq(t.c->batch.is_open, rc == 0);
	}
	cr_assert_eq(rc, 0);
	msd_obj_unref(&ids->obj);
	msd_obj_unref(&lengths->obj);
}
