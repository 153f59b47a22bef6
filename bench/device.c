#include "bench/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/turns.h"
#include "runtime/device/launch.h"
#include "runtime/device/memory.h"
#include "runtime/device/pinned.h"

#define MAX_ARGS 3 /* parameters of the kernel */

static const char *const names[BENCH_DEVICE_WHATS] = {
	[BENCH_LAUNCH] = "launch",
	[BENCH_TO_DEVICE] = "host to device",
	[BENCH_TO_HOST] = "device to host",
	[BENCH_TO_DEVICE_PINNED] = "pinned to device",
	[BENCH_TO_HOST_PINNED] = "device to pinned",
};

/* The runtime. */
struct ours {
	const struct bench_backend *backend;
	struct msd_dev *dev;
	struct msd_dtype args[MAX_ARGS];
	struct msd_span tags[2];
	struct msd_kernel kernel;
	struct msd_device_blob blob;
	struct msd_dev_program *program;
	struct msd_launch_plan plan;
	void *mem;
};

static void ours_open(struct ours *o)
{
	const struct bench_backend *b = o->backend;
	struct msd_diag d = {0};

	for (size_t i = 0; i < b->n_buffers; i++)
		o->args[i] = (struct msd_dtype){MSD_DT_HANDLE, 64, 1};
	o->args[b->n_buffers] = (struct msd_dtype){MSD_DT_INT, 64, 1};
	o->tags[0] = msd_span_of("blockIdx.x");
	o->tags[1] = msd_span_of("threadIdx.x");
	o->kernel = (struct msd_kernel){.name = msd_span_of(b->kernel),
					.args = o->args,
					.n_args = b->n_buffers + 1,
					.tags = o->tags,
					.n_tags = 2};
	o->blob = (struct msd_device_blob){.format = msd_span_of(b->format),
					   .code = msd_span_of(b->code),
					   .kernels = &o->kernel,
					   .n_kernels = 1};
	msd_err err = o->dev->ops->load(o->dev, &o->blob, &o->program, &d);
	if (err == MSD_OK)
		err = msd_launch_plan_make(&o->kernel, &o->plan, &d);
	if (err == MSD_OK)
		err = msd_dev_alloc(o->dev, b->copy_bytes, &o->mem, &d);
	bench_must(err == MSD_OK, msd_diag_text(&d));
}

static msd_err launch_all(struct ours *o)
{
	const size_t n_buffers = o->backend->n_buffers;
	struct msd_any args[MAX_ARGS + 2];
	msd_err err = MSD_OK;

	for (size_t i = 0; i < n_buffers; i++)
		args[i] = (struct msd_any){.type = MSD_T_POINTER, .as.p = o->mem};
	args[n_buffers] = msd_int(BENCH_ITEMS);
	args[n_buffers + 1] = msd_int(1);
	args[n_buffers + 2] = msd_int(BENCH_ITEMS);
	for (int i = 0; err == MSD_OK && i < BENCH_LAUNCHES; i++) {
		err = msd_launch_run(&o->plan, o->dev, o->program, 0, args,
				     (int32_t)n_buffers + 3, NULL);
	}
	return err;
}

static double ours_run(void *ctx, int what, void *host)
{
	struct ours *o = ctx;
	const size_t n = o->backend->copy_bytes;
	msd_err err;
	double begin = bench_now_us();

	if (what == BENCH_LAUNCH) {
		err = launch_all(o);
	} else if (what == BENCH_TO_DEVICE || what == BENCH_TO_DEVICE_PINNED) {
		err = msd_dev_copy(o->dev, o->mem, NULL, host, n, NULL);
	} else {
		err = msd_dev_copy(NULL, host, o->dev, o->mem, n, NULL);
	}
	if (err == MSD_OK)
		err = msd_dev_sync(o->dev, NULL);
	bench_must(err == MSD_OK, "the runtime");
	return bench_now_us() - begin;
}

int bench_device(const struct bench_backend *b, int argc, char **argv)
{
	const int rounds = bench_rounds(argc, argv);
	const int n = b->is_pinning ? BENCH_DEVICE_WHATS : BENCH_TO_DEVICE_PINNED;
	struct msd_diag d = {0};
	struct ours o = {.backend = b};
	void *host = aligned_alloc(4096, b->copy_bytes);

	bench_must(host != NULL, "out of memory");
	memset(host, 1, b->copy_bytes);
	if (msd_dev_open((struct msd_device){b->type, 0}, &o.dev, &d) != MSD_OK) {
		(void)printf("skip: %s\n", msd_diag_text(&d));
		return 77;
	}
	b->open(b->ctx);
	ours_open(&o);
	for (int i = 0; i < n; i++) {
		if (i == BENCH_TO_DEVICE_PINNED) {
			bench_must(msd_pinned_add(host, b->copy_bytes, &d),
				   msd_diag_text(&d));
		}
		bench_take_turns(&(struct bench_turn){.what = names[i],
						      .per = i == BENCH_LAUNCH
								     ? BENCH_LAUNCHES
								     : 1,
						      .plain = b->run,
						      .ours = ours_run,
						      .plain_ctx = b->ctx,
						      .ours_ctx = &o,
						      .which = i,
						      .host = host},
				 rounds);
	}
	return 0; /* the process exits: drivers clean up by themselves */
}
