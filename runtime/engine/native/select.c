#include "runtime/engine/native/select.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/engine/native/kernels.h"
#include "runtime/engine/native/targets.h"

#define DECLARE(name, lanes, rows, vectors)                                            \
	extern const struct msd_native_kernels msd_native_##name##_kernels;
MSD_NATIVE_TARGETS(DECLARE)
#undef DECLARE

#define ROW(name, lanes, rows, vectors) &msd_native_##name##_kernels,
static const struct msd_native_kernels *const levels[] = {MSD_NATIVE_TARGETS(ROW)};
#undef ROW
#define N_LEVELS (sizeof(levels) / sizeof(levels[0]))

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct msd_native_kernels *chosen;

static bool has(const char *level)
{
#if defined(__x86_64__)
	if (strcmp(level, "vnni") == 0 && !__builtin_cpu_supports("avx512vnni"))
		return false;
	if (strcmp(level, "avx512") == 0 || strcmp(level, "vnni") == 0) {
		return __builtin_cpu_supports("avx512f") &&
		       __builtin_cpu_supports("avx512bw") &&
		       __builtin_cpu_supports("avx512dq") &&
		       __builtin_cpu_supports("avx512vl") &&
		       __builtin_cpu_supports("fma");
	}
	if (strcmp(level, "avx2") == 0) {
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
	}
#endif
	(void)level;
	return true;
}

const struct msd_native_kernels *msd_native_level(const char *name)
{
	for (size_t i = 0; i < N_LEVELS; i++) {
		if (strcmp(levels[i]->name, name) == 0)
			return has(name) ? levels[i] : NULL;
	}
	return NULL;
}

bool msd_native_knows(const char *name)
{
	for (size_t i = 0; i < N_LEVELS; i++) {
		if (strcmp(levels[i]->name, name) == 0)
			return true;
	}
	return false;
}

/* A limit that no level has is none. */
static void choose(void)
{
	const char *limit = getenv("MODSERD_SIMD");
	const bool is_limited = limit != NULL && msd_native_knows(limit);
	size_t i = 0;

	while (is_limited && i + 1 < N_LEVELS && strcmp(levels[i]->name, limit) != 0)
		i++;
	while (i + 1 < N_LEVELS && !has(levels[i]->name)) /* the last needs nothing */
		i++;
	chosen = levels[i];
}

const struct msd_native_kernels *msd_native_kernels(void)
{
	(void)pthread_once(&once, choose);
	return chosen;
}
