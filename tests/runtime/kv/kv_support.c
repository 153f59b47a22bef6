#include "tests/runtime/kv/kv_support.h"

#include <criterion/criterion.h>
#include <string.h>

#include "runtime/kv/attend.h"
#include "runtime/value/error.h"

static uint32_t hash = 2166136261u;
static enum msd_kv_kernel failing = MSD_KV_N_KERNELS;
static struct msd_function kernels[MSD_KV_N_KERNELS];

static void hash_add(int64_t v)
{
	for (int i = 0; i < 8; i++)
		hash = (hash ^ (uint8_t)((uint64_t)v >> (8 * i))) * 16777619u;
}

static void hash_tensor(const struct msd_dltensor *t)
{
	const int32_t *v = (const void *)((const char *)t->data + t->byte_offset);
	uint64_t n;

	hash_add(t->ndim);
	for (int32_t i = 0; i < t->ndim; i++)
		hash_add(t->shape[i]);
	cr_assert(msd_shape_elements(t->shape, (size_t)t->ndim, &n));
	for (uint64_t i = 0; t->dtype.code == MSD_DT_INT && i < n; i++)
		hash_add(v[i]);
}

static int kernel_call(void *self, const struct msd_any *args, int32_t n,
		       struct msd_any *ret)
{
	const struct msd_function *fn = self;

	(void)ret;
	if (fn - kernels == (ptrdiff_t)failing)
		return msd_abi_raise("RuntimeError", "the kernel fails");
	hash_add(fn - kernels);
	for (int32_t i = 0; i < n; i++) {
		const struct msd_dltensor *t = msd_any_dltensor(&args[i]);

		if (t != NULL) {
			hash_tensor(t);
		} else {
			hash_add(args[i].as.i); /* a float by its bits */
		}
	}
	return 0;
}

uint32_t kernels_hash(void)
{
	const uint32_t h = hash;

	hash = 2166136261u;
	return h;
}

void kernels_fail(enum msd_kv_kernel kernel)
{
	failing = kernel;
}

void kernels_set(struct msd_kv_config *config)
{
	for (size_t i = 0; i < MSD_KV_N_KERNELS; i++) {
		msd_function_init(&kernels[i], "kernel", kernel_call);
		config->kernels[i] = &kernels[i];
	}
	config->kernels[MSD_KV_PREFILL_MLA] = NULL;
	failing = MSD_KV_N_KERNELS;
	(void)kernels_hash();
}

void cache_open(struct test_cache *t)
{
	t->config = (struct msd_kv_config){.max_sequences = 4,
					   .max_total = 64,
					   .max_tokens = 16,
					   .page_size = 4,
					   .layer_window = 1024,
					   .n_layers = 2,
					   .q_heads = TEST_HEADS,
					   .kv_heads = TEST_KV_HEADS,
					   .qk_dim = TEST_SIZE,
					   .v_dim = TEST_SIZE,
					   .kinds = t->kinds,
					   .n_kinds = 2,
					   .rope = MSD_KV_ROPE_NORMAL,
					   .rope_scale = 1,
					   .rope_theta = 10000,
					   .dtype = {MSD_DT_FLOAT, 32, 1}};
	kernels_set(&t->config);
	t->c = msd_kv_cache_new(&t->config);
	cr_assert_not_null(t->c);
}

void cache_close(struct test_cache *t)
{
	msd_obj_unref(&t->c->state.obj);
}

struct msd_any zeros(const int64_t *dim, size_t n)
{
	struct msd_tensor *t =
		msd_tensor_new((struct msd_dtype){MSD_DT_FLOAT, 32, 1}, dim, n);

	cr_assert_not_null(t);
	memset(t->dl.data, 0, msd_dltensor_bytes(&t->dl));
	return msd_of_obj(&t->obj);
}

struct msd_shape *shape_of(const int64_t *dim, size_t n)
{
	struct msd_shape *s = msd_shape_new(dim, n);

	cr_assert_not_null(s);
	return s;
}

int cache_attend(struct msd_kv_cache *c, int64_t layer, int64_t n)
{
	struct msd_any qkv = ZEROS(n, TEST_HEADS + 2 * TEST_KV_HEADS, TEST_SIZE);
	struct msd_any out = ZEROS(n, TEST_HEADS, TEST_SIZE);
	const int rc = msd_kv_attend_fused(c, layer, 0.5, &qkv, &out);

	msd_any_drop(&qkv);
	msd_any_drop(&out);
	return rc;
}

int cache_begin_with(struct msd_kv_cache *c, const int64_t *ids, const int64_t *lengths,
		     size_t n, const int64_t *parents, size_t n_parents)
{
	struct msd_kv_request r = {.ids = shape_of(ids, n),
				   .lengths = shape_of(lengths, n)};

	if (parents != NULL)
		r.parents = shape_of(parents, n_parents);
	const int rc = c->state.ops->begin(&c->state, &r);
	msd_obj_unref((struct msd_obj *)(uintptr_t)&r.ids->obj);
	msd_obj_unref((struct msd_obj *)(uintptr_t)&r.lengths->obj);
	if (r.parents != NULL)
		msd_obj_unref((struct msd_obj *)(uintptr_t)&r.parents->obj);
	return rc;
}

void cache_grow(struct test_cache *t, int64_t id, int64_t n)
{
	cr_assert_eq(cache_begin_with(t->c, &id, &n, 1, NULL, 0), 0);
	for (int64_t i = 0; i < t->config.n_layers; i++)
		cr_assert_eq(cache_attend(t->c, i, n), 0);
	cr_assert_eq(t->c->state.ops->end(&t->c->state), 0);
}

void expect_refused(int rc, const char *text)
{
	struct msd_diag d = {0};

	cr_assert_eq(rc, -1, "no error: %s", text);
	(void)msd_abi_fetch_error(&d);
	cr_assert_not_null(strstr(msd_diag_text(&d), text), "\"%s\" has no \"%s\"",
			   msd_diag_text(&d), text);
	msd_diag_finish(&d);
}
