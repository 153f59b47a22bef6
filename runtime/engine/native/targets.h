#ifndef MSD_RUNTIME_ENGINE_NATIVE_TARGETS_H
#define MSD_RUNTIME_ENGINE_NATIVE_TARGETS_H
/*
 * The vector levels, the best first: X(name, lanes, rows, vectors). Each source in
 * level/ is compiled once per level, with flags from CMakeLists.txt. A level needs a
 * row here, a row there, and a test in select.c whether the machine has it.
 *
 * A tile of a product has `rows` rows of `vectors` vectors of `lanes` floats. Its sums
 * and operands fit into the level's registers.
 */
#if defined(__x86_64__)
#define MSD_NATIVE_TARGETS(X)                                                          \
	X(vnni, 16, 8, 3)                                                              \
	X(avx512, 16, 8, 3)                                                            \
	X(avx2, 8, 6, 2)                                                               \
	X(base, 4, 6, 2)
#elif defined(__aarch64__)
#define MSD_NATIVE_TARGETS(X) X(neon, 4, 6, 2)
#else
#define MSD_NATIVE_TARGETS(X) X(base, 4, 6, 2)
#endif

#endif
