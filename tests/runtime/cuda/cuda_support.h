#ifndef MSD_TESTS_CUDA_SUPPORT_H
#define MSD_TESTS_CUDA_SUPPORT_H
/* The stand-in driver and its device for tests. Each test has a process, a driver and a
 * cache of its own. */

/** What the loaded stand-in can be asked. */
const struct stub_cuda_control *stub(void);
/** Device @ordinal of the stand-in, opened. */
struct msd_dev *cuda_open(int ordinal);
/** A cache directory of the test's own, empty. */
const char *cache_fresh(void);
void cache_remove(void);
/** Nothing was done wrong and nothing is left. */
void expect_clean(void);

#endif
