/*
 * Happy path:
 *  - the first question starts the process; it writes a response body and exits
 *  - its exit, the pipe's end and the timer's close come in any order; then all who
 *    wait are answered
 * Failures: it cannot be started, it dies, it writes something else, it takes too long
 * (killed): the answer has no devices and says why.
 */
#include "daemon/supervisor/devices.h"

#include <signal.h>

#include "daemon/supervisor/edge/methods.h"
#include "daemon/supervisor/module/module.h"
#include "proto/body.h"
#include "proto/value.h"

#define MAX_ANSWER_BYTES (1u << 20)
#define LOOK_MS 20000 /* drivers may take seconds for their first start */

void msd_devices_init(struct msd_devices *devices)
{
	*devices = (struct msd_devices){0};
	msd_list_init(&devices->waiters);
}

void msd_devices_finish(struct msd_devices *devices)
{
	msd_buf_finish(&devices->bytes);
	msd_buf_finish(&devices->found);
}

static void found_nothing(struct msd_devices *devices, const char *why)
{
	struct msd_buf *b = &devices->found;

	b->n = 0;
	msd_pack_map(b, 2);
	msd_pack_cstr(b, "devices");
	msd_pack_array(b, 0);
	msd_pack_cstr(b, "absent");
	msd_pack_array(b, 1);
	msd_pack_cstr(b, why);
}

/* The whole answer is one response body: scanned like every other. */
static void read_answer(struct msd_devices *devices)
{
	const struct msd_span bytes = {devices->bytes.p, devices->bytes.n};
	struct msd_body body;

	if (bytes.n == 0 || devices->bytes.bad ||
	    msd_body_read(bytes, NULL, &body, NULL) != MSD_OK ||
	    body.kind != MSD_RESPONSE) {
		found_nothing(devices,
			      "modserd-worker --devices died or wrote nonsense");
		return;
	}
	msd_buf_put(&devices->found, body.result.p, body.result.n);
}

static struct msd_server *server_of(struct msd_devices *devices)
{
	return MSD_CONTAINER_OF(devices, struct msd_server, devices);
}

static void answer_all(struct msd_devices *devices)
{
	struct msd_list *it;

	while ((it = msd_list_first(&devices->waiters)) != NULL) {
		struct msd_req *r = MSD_CONTAINER_OF(it, struct msd_req, link);
		struct msd_buf b = {0};
		msd_method_put_info(server_of(devices), &b);
		msd_req_answer(r, &b);
		msd_buf_finish(&b);
		msd_req_free(r);
	}
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct msd_devices *devices = handle->data;

	if (--devices->open_handles > 0)
		return;
	devices->is_running = false;
	if (devices->found.n == 0)
		read_answer(devices);
	msd_buf_finish(&devices->bytes);
	answer_all(devices);
}

static void close_once(uv_handle_t *handle)
{
	if (!uv_is_closing(handle))
		uv_close(handle, on_handle_closed);
}

static void on_process_exit(uv_process_t *process, int64_t status, int term_signal)
{
	struct msd_devices *devices = process->data;

	(void)status;
	(void)term_signal;
	close_once((uv_handle_t *)&devices->timer);
	close_once((uv_handle_t *)process);
}

static void on_timeout(uv_timer_t *timer)
{
	struct msd_devices *devices = timer->data;

	found_nothing(devices, "the drivers did not answer in time");
	(void)uv_process_kill(&devices->process, SIGKILL);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret)
{
	struct msd_devices *devices = handle->data;
	struct msd_buf *b = &devices->bytes;

	if (b->n > MAX_ANSWER_BYTES || !msd_buf_reserve(b, suggested)) {
		*ret = uv_buf_init(NULL, 0);
		return;
	}
	*ret = uv_buf_init((char *)b->p + b->n, (unsigned)suggested);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *ignored)
{
	struct msd_devices *devices = stream->data;

	(void)ignored;
	if (n > 0)
		devices->bytes.n += (size_t)n;
	else if (n < 0)
		close_once((uv_handle_t *)stream);
}

static int spawn(struct msd_devices *devices)
{
	struct msd_server *s = server_of(devices);
	char *argv[] = {s->worker_path, (char *)(uintptr_t) "--devices", NULL};
	uv_stdio_container_t stdio[3] = {
		{.flags = UV_IGNORE},
		{.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE,
		 .data.stream = (uv_stream_t *)&devices->pipe},
		{.flags = UV_IGNORE},
	};
	uv_process_options_t options = {
		.file = s->worker_path,
		.args = argv,
		.exit_cb = on_process_exit,
		.stdio = stdio,
		.stdio_count = 3,
	};

	return uv_spawn(&s->loop, &devices->process, &options);
}

static void start(struct msd_devices *devices)
{
	struct msd_server *s = server_of(devices);

	devices->is_running = true;
	devices->open_handles = 3;
	devices->process.data = devices->pipe.data = devices->timer.data = devices;
	(void)uv_pipe_init(&s->loop, &devices->pipe, 0);
	(void)uv_timer_init(&s->loop, &devices->timer);
	if (spawn(devices) != 0) {
		found_nothing(devices, "modserd-worker --devices cannot be started");
		close_once((uv_handle_t *)&devices->process);
		close_once((uv_handle_t *)&devices->pipe);
		close_once((uv_handle_t *)&devices->timer);
		return;
	}
	(void)uv_timer_start(&devices->timer, on_timeout, LOOK_MS, 0);
	(void)uv_read_start((uv_stream_t *)&devices->pipe, on_alloc, on_read);
}

void msd_devices_answer(struct msd_server *s, struct msd_req *r)
{
	struct msd_devices *devices = &s->devices;

	msd_list_append(&devices->waiters, &r->link);
	if (devices->found.n > 0)
		answer_all(devices);
	else if (!devices->is_running)
		start(devices);
}
