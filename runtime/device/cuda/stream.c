/*
 * The stream for queued work, and the device's own time.
 *
 * Happy path: all work goes to the device's own stream. A library may set another
 * stream for its thread: the new one waits for the work on the old one. So all work
 * of the thread stays in order, including the library's own launches. Two events on
 * the stream measure the time between them.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "proto/base/clock.h"
#include "runtime/device/cuda/cuda.h"

/* By ordinal: the stream that this thread has set, and the opening of the device at
 * that time. A device that was closed and reopened may have the same address. */
static _Thread_local struct chosen {
	uint64_t opening; /* 0: none */
	struct cu_stream *stream;
} chosen[MSD_MAX_DEVICES];

static _Atomic uint64_t openings;

struct cu_stream *msd_cuda_stream(const struct msd_cuda *cuda)
{
	const struct chosen *c = &chosen[cuda->dev.device.id];

	return c->opening == cuda->opening ? c->stream : cuda->own_stream;
}

msd_err msd_cuda_stream_open(struct msd_cuda *cuda, struct msd_diag *d)
{
	const struct msd_cuda_api *api = cuda->api;
	int code = api->stream_create(&cuda->own_stream, MSD_CU_STREAM_DEFAULT);

	if (code != MSD_CU_SUCCESS)
		return msd_cuda_error(d, "cuStreamCreate", code);
	cuda->opening = atomic_fetch_add(&openings, 1) + 1;
	/* Without them a call's time is measured on the host. */
	for (size_t i = 0; i < MSD_DEV_MARKS; i++) {
		if (api->event_create(&cuda->marks[i], MSD_CU_EVENT_DEFAULT) !=
		    MSD_CU_SUCCESS)
			cuda->marks[i] = NULL;
	}
	return MSD_OK;
}

static void event_finish(const struct msd_cuda *cuda, struct cu_event *event)
{
	if (event != NULL)
		(void)cuda->api->event_destroy(event);
}

void msd_cuda_stream_close(struct msd_cuda *cuda)
{
	(void)cuda->api->context_sync();
	for (size_t i = 0; i < MSD_DEV_MARKS; i++)
		event_finish(cuda, cuda->marks[i]);
	event_finish(cuda, cuda->order);
	if (cuda->own_stream != NULL)
		(void)cuda->api->stream_destroy(cuda->own_stream);
}

static pthread_mutex_t order_lock = PTHREAD_MUTEX_INITIALIZER;

/* Order later work on @to after the work on @from. The caller holds the lock: all
 * threads share one event. */
static msd_err order(struct msd_cuda *cuda, struct cu_stream *from,
		     struct cu_stream *to, struct msd_diag *d)
{
	const struct msd_cuda_api *api = cuda->api;
	const char *function = "cuEventCreate";
	int code = MSD_CU_SUCCESS;

	if (cuda->order == NULL)
		code = api->event_create(&cuda->order, MSD_CU_EVENT_DISABLE_TIMING);
	if (code == MSD_CU_SUCCESS) {
		function = "cuEventRecord";
		code = api->event_record(cuda->order, from);
	}
	if (code == MSD_CU_SUCCESS) {
		function = "cuStreamWaitEvent";
		code = api->stream_wait(to, cuda->order, 0);
	}
	return code == MSD_CU_SUCCESS ? MSD_OK : msd_cuda_error(d, function, code);
}

msd_err msd_cuda_set_stream(struct msd_dev *dev, void *stream, struct msd_diag *d)
{
	struct msd_cuda *cuda = msd_cuda_of(dev);
	struct cu_stream *before = msd_cuda_stream(cuda);
	msd_err err = msd_cuda_enter_uncaptured(
		cuda, "a graph is being captured on the stream before", d);

	if (err == MSD_OK && stream != before) {
		(void)pthread_mutex_lock(&order_lock);
		err = order(cuda, before, stream, d);
		(void)pthread_mutex_unlock(&order_lock);
	}
	if (err == MSD_OK)
		chosen[dev->device.id] = (struct chosen){cuda->opening, stream};
	return err;
}

void msd_cuda_mark(struct msd_dev *dev, enum msd_dev_mark which)
{
	const struct msd_cuda *cuda = msd_cuda_of(dev);

	if (cuda->marks[which] == NULL)
		return;
	/* The next wait on the stream reports an error. */
	msd_cuda_reenter(cuda);
	(void)cuda->api->event_record(cuda->marks[which], msd_cuda_stream(cuda));
}

bool msd_cuda_elapsed(struct msd_dev *dev, uint64_t *ret_ns)
{
	const struct msd_cuda *cuda = msd_cuda_of(dev);
	float ms = 0;

	if (cuda->marks[MSD_DEV_BEGIN] == NULL || cuda->marks[MSD_DEV_END] == NULL)
		return false;
	msd_cuda_reenter(cuda);
	if (cuda->api->event_elapsed(&ms, cuda->marks[MSD_DEV_BEGIN],
				     cuda->marks[MSD_DEV_END]) != MSD_CU_SUCCESS ||
	    !(ms >= 0))
		return false;
	*ret_ns = (uint64_t)((double)ms * MSD_NS_PER_MS);
	return true;
}
