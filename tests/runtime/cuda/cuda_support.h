#ifndef MSD_TESTS_CUDA_SUPPORT_H
#define MSD_TESTS_CUDA_SUPPORT_H
/* The stand-in driver and its device for tests. Each test has a process, a driver and a
 * cache of its own. */

#include <stdbool.h>
#include <stdint.h>

/** What the loaded stand-in can be asked. */
const struct stub_cuda_control *stub(void);
/** A function of the stand-in, as a library that calls the driver itself finds it. */
void *stub_symbol(const char *name);
/** Device @ordinal of the stand-in, opened. */
struct msd_dev *cuda_open(int ordinal);
/** A cache directory of the test's own, empty. */
const char *cache_fresh(void);
void cache_remove(void);
/* A call of runtime.cuTensorMapEncodeTiled: rank 2, what else it wants in its order. */
struct map_request {
	void *map;
	const char *dtype;
	void *address;
	int64_t shape[2], stride;
	int64_t box[2], steps[2];
	int64_t interleave, swizzle, promotion, fill;
	int64_t forced; /* the last argument */
	bool has_forced;
};
/** One that the driver takes: 64 x 32 of float16, boxes of 8 x 8. */
struct map_request map_request(void *map, void *address);
/** What the function returned. */
int map_encode(const struct map_request *r);

/** Nothing was done wrong and nothing is left. */
void expect_clean(void);

#endif
