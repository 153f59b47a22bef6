#ifndef MSD_BENCH_DEVICE_H
#define MSD_BENCH_DEVICE_H
/*
 * Compare launches and copies of a runtime backend with direct calls of its driver,
 * alternating in one process. Each backend supplies the driver half; the runtime half
 * is here.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_ITEMS 64
#define BENCH_LAUNCHES 500 /* launches in one round */

enum bench_device_what {
	BENCH_LAUNCH, /* BENCH_LAUNCHES kernels of BENCH_ITEMS items in one group */
	BENCH_TO_DEVICE,
	BENCH_TO_HOST,
	BENCH_TO_DEVICE_PINNED, /* these two if the backend pins memory */
	BENCH_TO_HOST_PINNED,
	BENCH_DEVICE_WHATS
};

struct bench_backend {
	int32_t type;       /* enum msd_device_type */
	const char *format; /* format of the code, as in a module */
	const char *code;   /* with one kernel: buffers, then an int64 */
	const char *kernel; /* its name */
	size_t n_buffers;  /* number of buffer arguments, 1 or 2; always the same buffer
			    */
	size_t copy_bytes; /* size of one copy */
	bool is_pinning;   /* measure pinned memory, too */
	void (*open)(void *ctx); /* called when the runtime has the device */
	/* Run one operation and wait; returns its microseconds. */
	double (*run)(void *ctx, int what, void *host);
	void *ctx;
};

/** The whole program: prints medians and their ratio; returns 77 without a device. */
int bench_device(const struct bench_backend *b, int argc, char **argv);

#endif
