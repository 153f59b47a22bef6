/* The blocks, pages and kernel calls of paged caches, as TVM recorded them for random
 * operations (record_structure.py). MSD_KV_STRUCTURE names another recording. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/kv/window.h"
#include "tests/runtime/kv/kv_support.h"

#define MAX_NUMBERS 64

/* A line: a word, up to three groups of numbers, and what TVM answered. */
struct line {
	char word[16];
	int64_t v[3][MAX_NUMBERS];
	size_t n[3];
	int64_t pages;
	int64_t total;
	uint32_t hash;
};

static bool line_read(FILE *f, struct line *ret)
{
	char text[4096];
	char *save = NULL;
	size_t group = 0;
	char *w;

	*ret = (struct line){0};
	if (fgets(text, sizeof(text), f) == NULL)
		return false;
	w = strtok_r(text, " \n", &save);
	cr_assert(w != NULL && strlen(w) < sizeof(ret->word));
	(void)strcpy(ret->word, w);
	for (w = strtok_r(NULL, " \n", &save); w != NULL && strcmp(w, "=") != 0;
	     w = strtok_r(NULL, " \n", &save)) {
		if (strcmp(w, "|") == 0) {
			group++;
		} else {
			cr_assert(group < 3 && ret->n[group] < MAX_NUMBERS);
			ret->v[group][ret->n[group]++] = atoll(w);
		}
	}
	cr_assert_eq(sscanf(save, "%ld %ld %x", &ret->pages, &ret->total, &ret->hash),
		     3);
	return true;
}

static struct msd_kv_cache *cache_of(const struct line *l)
{
	struct msd_kv_config g = {.max_sequences = l->v[0][0],
				  .max_total = l->v[0][1],
				  .max_tokens = l->v[0][2],
				  .page_size = l->v[0][3],
				  .has_windows = l->v[0][4] != 0,
				  .layer_window = l->v[0][5],
				  .rope = l->v[1][0],
				  .kinds = l->v[2],
				  .n_kinds = l->n[2],
				  .n_layers = (int64_t)l->n[2],
				  .q_heads = TEST_HEADS,
				  .kv_heads = TEST_KV_HEADS,
				  .qk_dim = TEST_SIZE,
				  .v_dim = TEST_SIZE,
				  .rope_scale = 1,
				  .rope_theta = 10000,
				  .dtype = {MSD_DT_FLOAT, 32, 1}};
	struct msd_kv_cache *c;

	kernels_set(&g);
	c = msd_kv_cache_new(&g);
	cr_assert_not_null(c);
	return c;
}

static int forward(struct msd_kv_cache *c, const struct line *l)
{
	int64_t n = 0;
	int rc = cache_begin_with(c, l->v[0], l->v[1], l->n[0],
				  l->n[2] > 0 ? l->v[2] : NULL, l->n[2]);

	for (size_t i = 0; i < l->n[1]; i++)
		n += l->v[1][i];
	for (int64_t i = 0; rc == 0 && i < c->c.n_layers; i++)
		rc = cache_attend(c, i, n);
	return rc == 0 ? c->state.ops->end(&c->state) : rc;
}

static int accept(struct msd_kv_cache *c, const struct line *l)
{
	struct msd_shape *ids = shape_of(l->v[0], l->n[0]);
	struct msd_shape *leaves = shape_of(l->v[1], l->n[1]);
	const int rc = msd_kv_cache_accept(c, ids, leaves);

	msd_obj_unref(&ids->obj);
	msd_obj_unref(&leaves->obj);
	return rc;
}

static int apply(struct msd_kv_cache *c, const struct line *l)
{
	const int64_t *v = l->v[0];
	struct msd_kv_state *s = &c->state;

	if (strcmp(l->word, "add") == 0)
		return s->ops->add(s, v[0]);
	if (strcmp(l->word, "remove") == 0)
		return s->ops->remove(s, v[0]);
	if (strcmp(l->word, "fork") == 0)
		return s->ops->fork(s, v[0], v[1], v[2]);
	if (strcmp(l->word, "pop") == 0)
		return s->ops->pop(s, v[0], v[1]);
	if (strcmp(l->word, "window") == 0)
		return msd_kv_window_enable(&c->table, v[0], v[1], v[2]);
	return strcmp(l->word, "accept") == 0 ? accept(c, l) : forward(c, l);
}

Test(kv_structure, blocks_and_kernel_calls_are_those_of_tvm, .timeout = 120)
{
	const char *path = getenv("MSD_KV_STRUCTURE");
	FILE *f = fopen(path != NULL ? path : KV_STRUCTURE, "re");
	struct msd_kv_cache *c = NULL;
	struct line l;
	int n = 0;

	cr_assert_not_null(f);
	for (; line_read(f, &l); n++) {
		if (strcmp(l.word, "cache") == 0) {
			msd_obj_unref(c != NULL ? &c->state.obj : NULL);
			c = cache_of(&l);
		} else {
			cr_assert_eq(apply(c, &l), 0, "line %d: %s", n + 1, l.word);
		}
		cr_assert_eq(msd_kv_pages_free(&c->table.pages), l.pages,
			     "line %d: pages", n + 1);
		cr_assert_eq(msd_kv_total(&c->table), l.total, "line %d: tokens",
			     n + 1);
		cr_assert_eq(kernels_hash(), l.hash, "line %d: kernel calls", n + 1);
	}
	cr_assert_gt(n, 200);
	msd_obj_unref(c != NULL ? &c->state.obj : NULL);
	(void)fclose(f);
}
