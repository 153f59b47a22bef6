/*
 * Happy path: a scrape starts the process. Its frames arrive on its standard output
 * and replace the values, which scrapes report. Failures: the process exits, or
 * writes an invalid frame and is killed: no values are known.
 */
#include "daemon/supervisor/facts/device_gauges.h"

#include <stdio.h>
#include <string.h>

#include "daemon/child/child.h"
#include "proto/body.h"
#include "proto/frame.h"
#include "proto/value.h"

#define MAX_FRAME_BYTES 65536u

/* Read a number, or nil if it is not known. */
static bool read_known(struct msd_cur *c, bool *ret_is, uint64_t *ret)
{
	struct msd_wire_value v;

	if (msd_value_read(c, &v, NULL) != MSD_OK)
		return false;
	*ret_is = v.kind == MSD_K_INT;
	*ret = *ret_is ? (uint64_t)v.as.i : 0;
	return v.kind == MSD_K_NIL || (v.kind == MSD_K_INT && v.as.i >= 0);
}

static bool read_number(struct msd_cur *c, uint64_t *ret)
{
	bool is_known;

	return read_known(c, &is_known, ret) && is_known;
}

static bool read_text(struct msd_cur *c, char ret[static MSD_GAUGES_TEXT_MAX])
{
	struct msd_wire_value v;

	if (msd_value_read(c, &v, NULL) != MSD_OK || v.kind != MSD_K_STR ||
	    v.as.str.n >= MSD_GAUGES_TEXT_MAX)
		return false;
	memcpy(ret, v.as.str.p, v.as.str.n);
	ret[v.as.str.n] = '\0';
	return true;
}

static bool read_gpu(struct msd_span row, struct msd_gpu_gauges *ret)
{
	struct msd_cur c;
	uint32_t n;
	uint64_t index;

	if (!msd_array_open(row, &c, &n) || n != 7 || !read_number(&c, &index) ||
	    index >= MSD_GAUGES_GPUS_MAX || !read_text(&c, ret->uuid) ||
	    !read_text(&c, ret->name) || !read_number(&c, &ret->memory_bytes) ||
	    !read_number(&c, &ret->used_bytes) ||
	    !read_known(&c, &ret->has_utilization, &ret->utilization) ||
	    !read_known(&c, &ret->tells_faults, &ret->faults))
		return false;
	(void)snprintf(ret->index, sizeof(ret->index), "%u", (unsigned)index);
	return true;
}

static bool read_frame(struct msd_device_gauges *g, struct msd_span bytes)
{
	struct msd_body body;
	struct msd_cur c;
	struct msd_span row;
	uint32_t n;

	g->n_gpus = 0;
	if (msd_body_read(bytes, NULL, &body, NULL) != MSD_OK ||
	    body.kind != MSD_RESPONSE || !msd_array_open(body.result, &c, &n) ||
	    n > MSD_GAUGES_GPUS_MAX)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (!msd_object_parse(&c, &row) || !read_gpu(row, &g->gpu[i]))
			return false;
	}
	g->n_gpus = n;
	return true;
}

/* Take the first frame if it is complete. Returns false if it is not valid. */
static bool take_frame(struct msd_device_gauges *g, bool *ret_taken)
{
	struct msd_frame head;

	*ret_taken = false;
	if (g->bytes.n < MSD_FRAME_HEADER_BYTES)
		return true;
	if (msd_frame_read(g->bytes.p, MAX_FRAME_BYTES, 0, &head, NULL) != MSD_OK)
		return false;
	const size_t n = MSD_FRAME_HEADER_BYTES + head.body_bytes;
	if (g->bytes.n < n)
		return true;
	*ret_taken = true;
	if (!read_frame(g, (struct msd_span){g->bytes.p + MSD_FRAME_HEADER_BYTES,
					     head.body_bytes}))
		return false;
	memmove(g->bytes.p, g->bytes.p + n, g->bytes.n - n);
	g->bytes.n -= n;
	return true;
}

static void on_output(void *user, const char *bytes, size_t n)
{
	struct msd_device_gauges *g = user;
	bool is_taken = true;
	bool is_right = true;

	if (g->is_absent) /* it is being killed */
		return;
	msd_buf_put(&g->bytes, bytes, n);
	while (is_right && is_taken && !g->bytes.bad)
		is_right = take_frame(g, &is_taken);
	if (is_right && !g->bytes.bad)
		return;
	g->n_gpus = 0;
	g->is_absent = true;
	msd_child_kill(g->child, "it wrote invalid data");
}

static void on_child_exit(void *user)
{
	struct msd_device_gauges *g = user;
	struct msd_child *child = g->child;

	g->child = NULL;
	msd_child_close(child);
	msd_buf_finish(&g->bytes);
	g->is_absent = g->is_absent || g->n_gpus == 0;
	g->n_gpus = 0;
}

static void start(struct msd_device_gauges *g)
{
	static const struct msd_child_ops ops = {.on_output = on_output,
						 .on_exit = on_child_exit};
	char *argv[] = {g->worker_path, (char *)(uintptr_t) "--device-gauges", NULL};
	const struct msd_child_how how = {.argv = argv, .drops_errors = true};

	g->is_absent =
		msd_child_spawn(g->reaper, &how, &ops, g, &g->child, NULL) != MSD_OK;
}

void msd_device_gauges_init(struct msd_device_gauges *g, struct msd_reaper *reaper,
			    char *worker_path)
{
	g->reaper = reaper;
	g->worker_path = worker_path;
}

void msd_device_gauges_close(struct msd_device_gauges *g)
{
	g->is_closed = true;
	if (g->child == NULL)
		return;
	msd_child_close(g->child);
	g->child = NULL;
}

void msd_device_gauges_finish(struct msd_device_gauges *g)
{
	msd_buf_finish(&g->bytes);
}

static uint64_t memory(const struct msd_gpu_gauges *gpu)
{
	return gpu->memory_bytes;
}

static uint64_t used(const struct msd_gpu_gauges *gpu)
{
	return gpu->used_bytes;
}

static uint64_t utilization(const struct msd_gpu_gauges *gpu)
{
	return gpu->utilization;
}

static bool has_utilization(const struct msd_gpu_gauges *gpu)
{
	return gpu->has_utilization;
}

static uint64_t faults(const struct msd_gpu_gauges *gpu)
{
	return gpu->faults;
}

static bool tells_faults(const struct msd_gpu_gauges *gpu)
{
	return gpu->tells_faults;
}

static const struct {
	struct msd_family family;
	uint64_t (*read)(const struct msd_gpu_gauges *gpu);
	bool (*is_known)(const struct msd_gpu_gauges *gpu); /* NULL: always known */
} rows[] = {
	{{"modserd_device_memory_bytes", "Memory of a device.", MSD_GAUGE,
	  MSD_UNIT_NONE},
	 memory,
	 NULL},
	{{"modserd_device_memory_used_bytes",
	  "Used memory of a device, of all processes.", MSD_GAUGE, MSD_UNIT_NONE},
	 used,
	 NULL},
	{{"modserd_device_utilization_ratio",
	  "Part of the last sampling period in which a device ran something.",
	  MSD_GAUGE, MSD_UNIT_PERCENT},
	 utilization,
	 has_utilization},
	{{"modserd_device_faults",
	  "Critical errors of a device (Xid) while it was watched.", MSD_COUNTER,
	  MSD_UNIT_NONE},
	 faults,
	 tells_faults},
};

void msd_device_gauges_put(struct msd_device_gauges *g, struct msd_exposition *x)
{
	if (g->child == NULL && !g->is_absent && !g->is_closed)
		start(g);
	for (size_t i = 0; g->n_gpus > 0 && i < sizeof(rows) / sizeof(rows[0]); i++) {
		msd_exposition_open(x, &rows[i].family);
		for (unsigned k = 0; k < g->n_gpus; k++) {
			const struct msd_gpu_gauges *gpu = &g->gpu[k];
			const struct msd_label labels[] = {{"gpu", gpu->index},
							   {"uuid", gpu->uuid},
							   {"name", gpu->name}};

			if (rows[i].is_known == NULL || rows[i].is_known(gpu)) {
				msd_exposition_put(x, &rows[i].family, labels, 3,
						   rows[i].read(gpu));
			}
		}
	}
}
