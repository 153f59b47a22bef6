/*
 * Happy path:
 *   - the first question starts the process, which writes a response body and exits
 *   - on exit the rest of the pipe is read, and on_known is called
 * Failures: the process does not start, dies, writes something else, or is killed
 * after a timeout. The answer then has no devices and says why.
 */
#include "daemon/supervisor/edge/methods/devices.h"

#include <stdlib.h>

#include "daemon/child/child.h"
#include "daemon/loop/list.h"
#include "proto/body.h"
#include "proto/value.h"

#define MAX_ANSWER_BYTES (1u << 20)
#define NOT_STARTED "modserd-worker --devices cannot be started"
#define LOOK_MS 20000 /* drivers may take seconds at their first start */

void msd_devices_init(struct msd_devices *devices, struct msd_reaper *reaper,
		      struct msd_deadlines *deadlines, char *worker_path)
{
	*devices = (struct msd_devices){
		.reaper = reaper, .deadlines = deadlines, .worker_path = worker_path};
}

void msd_devices_close(struct msd_devices *devices)
{
	if (devices->child == NULL)
		return;
	msd_deadline_clear(devices->deadlines, &devices->timeout);
	msd_child_close(devices->child);
	devices->child = NULL;
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

/* The whole answer is one response body and is checked like any other. */
static void read_answer(struct msd_devices *devices)
{
	const struct msd_span bytes = {devices->bytes.p, devices->bytes.n};
	struct msd_body body;

	if (bytes.n == 0 || devices->bytes.bad ||
	    msd_body_read(bytes, NULL, &body, NULL) != MSD_OK ||
	    body.kind != MSD_RESPONSE) {
		found_nothing(devices,
			      "modserd-worker --devices died or wrote invalid data");
		return;
	}
	msd_buf_put(&devices->found, body.result.p, body.result.n);
}

static void on_output(void *user, const char *bytes, size_t n)
{
	struct msd_devices *devices = user;

	if (devices->bytes.n <= MAX_ANSWER_BYTES)
		msd_buf_put(&devices->bytes, bytes, n);
}

static void on_child_exit(void *user)
{
	struct msd_devices *devices = user;
	struct msd_child *child = devices->child;

	msd_child_read_output(child);
	devices->child = NULL;
	msd_child_close(child);
	msd_deadline_clear(devices->deadlines, &devices->timeout);
	if (devices->found.n == 0 && child->start_error != 0)
		found_nothing(devices, NOT_STARTED);
	if (devices->found.n == 0)
		read_answer(devices);
	msd_buf_finish(&devices->bytes);
	if (devices->on_known != NULL)
		devices->on_known(devices->user);
}

static const struct msd_child_ops child_ops = {
	.on_output = on_output,
	.on_exit = on_child_exit,
};

static void on_timeout(struct msd_deadline *node)
{
	struct msd_devices *devices =
		MSD_CONTAINER_OF(node, struct msd_devices, timeout);

	found_nothing(devices, "the drivers did not answer in time");
	msd_child_kill(devices->child, "it took too long");
}

static void start(struct msd_devices *devices)
{
	size_t n = 0;

	while (devices->plugins != NULL && devices->plugins[n] != NULL)
		n++;
	char **argv = calloc(n + 3, sizeof(char *));
	const struct msd_child_how how = {.argv = argv, .drops_errors = true};

	if (argv == NULL) {
		found_nothing(devices, NOT_STARTED);
		return;
	}
	argv[0] = devices->worker_path;
	argv[1] = (char *)(uintptr_t) "--devices";
	for (size_t i = 0; i < n; i++)
		argv[2 + i] = (char *)(uintptr_t)devices->plugins[i];
	devices->timeout.on_due = on_timeout;
	if (msd_child_spawn(devices->reaper, &how, &child_ops, devices, &devices->child,
			    NULL) == MSD_OK) {
		msd_deadline_set(devices->deadlines, &devices->timeout, LOOK_MS);
	} else {
		found_nothing(devices, NOT_STARTED);
	}
	free(argv);
}

bool msd_devices_look(struct msd_devices *devices)
{
	if (devices->found.n == 0 && devices->child == NULL)
		start(devices);
	return devices->found.n > 0;
}
