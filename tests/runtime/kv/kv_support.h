#ifndef MSD_TESTS_RUNTIME_KV_SUPPORT_H
#define MSD_TESTS_RUNTIME_KV_SUPPORT_H
/* Paged caches whose kernels only hash what they are called with. Failures abort the
 * test. */
#include "runtime/kv/cache.h"

#define TEST_HEADS 2
#define TEST_KV_HEADS 1
#define TEST_SIZE 4

/* A cache of float32 with all kernels, in TVM's usual modes. */
struct test_cache {
	struct msd_kv_config config;
	struct msd_kv_cache *c;
	const int64_t kinds[2];
};

/** FNV-1a of the kernel calls since the last time. */
uint32_t kernels_hash(void);
/** Let the calls of a kernel fail; MSD_KV_N_KERNELS: of none. */
void kernels_fail(enum msd_kv_kernel kernel);
/** Set all kernels of @config. */
void kernels_set(struct msd_kv_config *config);
/** A cache of 4 sequences, 64 tokens, batches of 16, pages of 4, and two layers. */
void cache_open(struct test_cache *t);
void cache_close(struct test_cache *t);
/** A forward of one sequence: begin, attention of all layers, end. */
void cache_grow(struct test_cache *t, int64_t id, int64_t n);
/** A zeroed float32 tensor value. */
struct msd_any zeros(const int64_t *dim, size_t n);
#define ZEROS(...)                                                                     \
	zeros((const int64_t[]){__VA_ARGS__},                                          \
	      sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
struct msd_shape *shape_of(const int64_t *dim, size_t n);
/** Attention of layer @layer with tensors of @n tokens. */
int cache_attend(struct msd_kv_cache *c, int64_t layer, int64_t n);
/** Begin with arrays; @parents may be NULL. */
int cache_begin_with(struct msd_kv_cache *c, const int64_t *ids, const int64_t *lengths,
		     size_t n, const int64_t *parents, size_t n_parents);
/** The operation failed: the thread's error has @text in it, and is cleared. */
void expect_refused(int rc, const char *text);

#endif
