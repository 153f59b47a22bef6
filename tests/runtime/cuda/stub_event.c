/* Events of the stand-in driver, and its clock, which goes on with the work that the
 * device does and not with the host's time. Driver API, "Event Management". */
#include "stub.h"

/* Found by name alone: there is no header that declares them. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { BLOCKING_SYNC = 1, DISABLE_TIMING = 2 };

static uint64_t device_ns;

void clock_advance(const struct work *w)
{
	device_ns += w->task == KERNEL ? STUB_KERNEL_NS : STUB_COPY_NS;
}

uint64_t clock_ns(void)
{
	return device_ns;
}

/* "Context Management", cuCtxSynchronize: all that the current context was asked for,
 * on every stream. */
STUB_API int cuCtxSynchronize(void)
{
	LOCKED;
	const int code = enter_context("cuCtxSynchronize");

	if (context_current() == NULL)
		return code;
	const int ran = context_run(context_current());
	return code != OK ? code : ran;
}

/* "Event Management", cuEventCreate: of the current context; flags of
 * CU_EVENT_BLOCKING_SYNC and CU_EVENT_DISABLE_TIMING (CU_EVENT_INTERPROCESS is not had
 * here). */
STUB_API int cuEventCreate(struct object **ret, unsigned flags)
{
	ENTER(enter_context("cuEventCreate"));
	if ((flags & ~(unsigned)(BLOCKING_SYNC | DISABLE_TIMING)) != 0)
		return INVALID_VALUE;
	*ret = object_new(EVENT, context_current());
	(*ret)->is_timed = (flags & DISABLE_TIMING) == 0;
	return OK;
}

/* "Event Management", cuEventDestroy: it may be pending, and is done all the same. */
STUB_API int cuEventDestroy_v2(struct object *event)
{
	LOCKED;
	const int code = enter_context("cuEventDestroy");

	if (!object_ok(event, EVENT, "cuEventDestroy"))
		return INVALID_HANDLE;
	if (event->stream != NULL && event->stream->is_alive)
		(void)stream_run(event->stream);
	event->is_alive = false;
	return code;
}

/* "Event Management", cuEventRecord: event and stream are of one context; the last
 * record counts. */
STUB_API int cuEventRecord(struct object *event, struct object *stream)
{
	const struct work w = {.task = RECORD, .event = event};

	ENTER(enter_context("cuEventRecord"));
	if (!object_ok(event, EVENT, "cuEventRecord") ||
	    !object_ok(stream, STREAM, "cuEventRecord"))
		return INVALID_HANDLE;
	event->stream = stream;
	event->is_done = false;
	work_add(stream, &w);
	return OK;
}

/* "Stream Management", cuStreamWaitEvent: the stream goes on when what was recorded is
 * done; flags are CU_EVENT_WAIT_DEFAULT or CU_EVENT_WAIT_EXTERNAL. */
STUB_API int cuStreamWaitEvent(struct object *stream, struct object *event,
			       unsigned flags)
{
	const struct work w = {.task = WAIT, .event = event};

	ENTER(enter_context("cuStreamWaitEvent"));
	if (!object_ok(event, EVENT, "cuStreamWaitEvent") ||
	    !object_ok(stream, STREAM, "cuStreamWaitEvent"))
		return INVALID_HANDLE;
	if (flags > 1)
		return INVALID_VALUE;
	work_add(stream, &w);
	return OK;
}

/* "Event Management", cuEventElapsedTime: both were made with timing and recorded (else
 * an invalid handle), and are done (else CUDA_ERROR_NOT_READY). */
STUB_API int cuEventElapsedTime(float *ret_ms, struct object *begin, struct object *end)
{
	ENTER(enter_context("cuEventElapsedTime"));
	if (!object_ok(begin, EVENT, "cuEventElapsedTime") ||
	    !object_ok(end, EVENT, "cuEventElapsedTime") || !begin->is_timed ||
	    !end->is_timed || begin->stream == NULL || end->stream == NULL)
		return INVALID_HANDLE;
	if (!begin->is_done || !end->is_done)
		return NOT_READY;
	*ret_ms = (float)(end->done_ns - begin->done_ns) / 1e6f;
	return OK;
}
