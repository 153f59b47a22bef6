#include "daemon/worker/gauges.h"

#include <stdio.h>

#include "proto/body.h"
#include "proto/frame.h"
#include "proto/value.h"
#include "runtime/device/captures.h"
#include "runtime/device/nvml.h"

#define EVERY_MS 1000u

static void put_known(struct msd_buf *out, bool is_known, uint64_t value)
{
	if (is_known) {
		msd_pack_uint(out, value);
	} else {
		msd_pack_nil(out);
	}
}

static void put_gpu(struct msd_buf *out, unsigned index, const struct msd_nvml_gpu *gpu)
{
	struct msd_nvml_reading now;

	msd_nvml_read(gpu, &now);
	msd_pack_array(out, 7);
	msd_pack_uint(out, index);
	msd_pack_cstr(out, gpu->uuid);
	msd_pack_cstr(out, gpu->name);
	msd_pack_uint(out, now.memory_bytes);
	msd_pack_uint(out, now.used_bytes);
	put_known(out, now.has_utilization, now.utilization);
	put_known(out, gpu->tells_faults, gpu->faults);
}

static bool write_frame(const struct msd_buf *body)
{
	uint8_t head[MSD_FRAME_HEADER_BYTES];

	msd_frame_write((struct msd_frame){.body_bytes = (uint32_t)body->n}, head);
	return !body->bad && fwrite(head, 1, sizeof(head), stdout) == sizeof(head) &&
	       fwrite(body->p, 1, body->n, stdout) == body->n && fflush(stdout) == 0;
}

int msd_gauges_print(void)
{
	static struct msd_nvml nvml;
	struct msd_buf body = {0};
	struct msd_diag d = {0};
	bool is_read;

	msd_err err = msd_nvml_open(&nvml, &d);
	if (err == MSD_OK && nvml.n_gpus == 0)
		err = msd_diag_set(&d, MSD_UNSUPPORTED, "NVML reports no device");
	if (err != MSD_OK) {
		(void)fprintf(stderr, "modserd-worker: %s\n", msd_diag_text(&d));
		msd_diag_finish(&d);
		return 1;
	}
	do {
		body.n = 0;
		msd_body_begin_response(&body, 0, false);
		msd_pack_nil(&body);
		msd_pack_array(&body, nvml.n_gpus);
		for (unsigned i = 0; i < nvml.n_gpus; i++)
			put_gpu(&body, i, &nvml.gpu[i]);
		is_read = write_frame(&body);
		if (is_read)
			msd_nvml_wait(&nvml, EVERY_MS);
	} while (is_read);
	msd_buf_finish(&body);
	return 0;
}

void msd_cuda_graphs_report(struct msd_worker *w)
{
	struct msd_captures_count n;

	if (w->has_told_graphs || !msd_captures_has_failed())
		return;
	msd_captures_counted(&n);
	w->has_told_graphs = true;
	(void)fprintf(stderr,
		      "modserd-worker: a part of the model cannot be a CUDA graph, so "
		      "its kernels are launched one by one: %s\n",
		      n.why);
}
