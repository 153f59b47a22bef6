/*
 * A call every second in a libuv loop, over restarts of the daemon:
 *
 *   cc reconnect.c $(pkg-config --cflags --libs modser libuv) -o reconnect
 *   ./reconnect unix:/run/modserd/modserd.sock scalars:answer 10
 *
 * A call that ends without an answer is sent again, on a new connection if the old one
 * is lost. modser_retry_next() says whether and when. modser_open() blocks, so a
 * thread of libuv runs it.
 */
#include <modser.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#define EVERY_MS 1000
#define GIVE_UP_MS 60000

struct app {
	const char *address, *function;
	long n_left;
	modser_client *client;
	modser_result *why; /* of a modser_open() that failed */
	modser_retry retry;
	uint64_t began_ms; /* of the first attempt of this call */
	uv_poll_t socket;
	bool is_watching;
	uv_timer_t deadline; /* of the client */
	uv_timer_t next;     /* of the next call or attempt */
	uv_work_t opening;
	int status;
};

static void watch(struct app *app);
static void call(struct app *app);

static void complain(const modser_error *e)
{
	(void)fprintf(stderr, "%s: %s\n", e->name, e->message);
}

static void on_next(uv_timer_t *timer)
{
	call(timer->data);
}

static void begin(struct app *app, uint64_t wait_ms)
{
	app->retry = (modser_retry){.for_ms = GIVE_UP_MS, .idempotent = true};
	app->began_ms = 0;
	if (app->n_left > 0)
		(void)uv_timer_start(&app->next, on_next, wait_ms, 0);
}

/* The attempt that ended with @result has failed. */
static void try_again(struct app *app, const modser_result *result)
{
	const uint64_t elapsed_ms = uv_now(uv_default_loop()) - app->began_ms;
	uint32_t wait_ms;

	complain(result != NULL ? modser_result_error(result)
				: modser_why(app->client));
	if (modser_retry_next(&app->retry, result, (uint32_t)elapsed_ms, &wait_ms)) {
		(void)uv_timer_start(&app->next, on_next, wait_ms, 0);
	} else {
		app->status = 1; /* nothing is left for the loop */
	}
}

static void on_answer(void *ctx, modser_result *result)
{
	const modser_value *value = modser_result_value(result);
	struct app *app = ctx;

	if (value == NULL) {
		try_again(app, result);
	} else {
		(void)printf("%ld to do\n", --app->n_left);
		(void)fflush(stdout);
		begin(app, EVERY_MS);
	}
	modser_result_free(result);
}

static void process(struct app *app)
{
	(void)modser_process(app->client); /* on_answer() gets a failure, too */
	watch(app);
}

static void on_socket(uv_poll_t *socket, int status, int events)
{
	(void)status;
	(void)events;
	process(socket->data);
}

static void on_deadline(uv_timer_t *timer)
{
	process(timer->data);
}

/* Wait for the client's events while a call is in flight. */
static void watch(struct app *app)
{
	const unsigned wanted = modser_events(app->client);
	const int timeout_ms = modser_timeout_ms(app->client);

	(void)uv_timer_stop(&app->deadline);
	if (modser_fd(app->client) < 0 || modser_in_flight(app->client) == 0) {
		(void)uv_poll_stop(&app->socket);
		return;
	}
	(void)uv_poll_start(&app->socket,
			    ((wanted & MODSER_READABLE) != 0 ? UV_READABLE : 0) |
				    ((wanted & MODSER_WRITABLE) != 0 ? UV_WRITABLE : 0),
			    on_socket);
	if (timeout_ms >= 0) {
		(void)uv_timer_start(&app->deadline, on_deadline, (uint64_t)timeout_ms,
				     0);
	}
}

static void open_client(uv_work_t *work)
{
	struct app *app = work->data;

	if (modser_open(app->address, 5000, &app->client, &app->why) != MODSER_OK)
		app->client = NULL;
}

static void on_open(uv_work_t *work, int status)
{
	struct app *app = work->data;

	(void)status;
	if (app->client == NULL) {
		try_again(app, app->why);
		modser_result_free(app->why);
		app->why = NULL;
		return;
	}
	(void)uv_poll_init(uv_default_loop(), &app->socket, modser_fd(app->client));
	app->socket.data = app;
	app->is_watching = true;
	call(app);
}

static void on_closed(uv_handle_t *socket)
{
	struct app *app = socket->data;

	modser_close(app->client); /* the loop no longer watches its descriptor */
	app->client = NULL;
	(void)uv_queue_work(uv_default_loop(), &app->opening, open_client, on_open);
}

static void call(struct app *app)
{
	const modser_options options = {
		.deadline_ms = 10000, .done = on_answer, .ctx = app};
	const modser_value target = modser_str(app->function);

	if (app->began_ms == 0)
		app->began_ms = uv_now(uv_default_loop());
	if (app->client == NULL) {
		(void)uv_queue_work(uv_default_loop(), &app->opening, open_client,
				    on_open);
	} else if (modser_fd(app->client) < 0) {
		app->is_watching = false;
		uv_close((uv_handle_t *)&app->socket, on_closed);
	} else if (modser_start(app->client, "call", &target, 1, &options, NULL) !=
		   MODSER_OK) {
		try_again(app, NULL);
	} else {
		watch(app);
	}
}

int main(int argc, char **argv)
{
	struct app app = {0};
	uv_loop_t *loop = uv_default_loop();

	if (argc != 4) {
		(void)fprintf(stderr, "usage: %s ADDRESS NAME:FUNCTION TIMES\n", *argv);
		return 2;
	}
	app.address = argv[1];
	app.function = argv[2];
	app.n_left = strtol(argv[3], NULL, 10);
	app.opening.data = app.deadline.data = app.next.data = &app;
	(void)uv_timer_init(loop, &app.deadline);
	(void)uv_timer_init(loop, &app.next);
	begin(&app, 0);
	(void)uv_run(loop, UV_RUN_DEFAULT); /* until nothing is active */
	if (app.is_watching)
		uv_close((uv_handle_t *)&app.socket, NULL);
	uv_close((uv_handle_t *)&app.deadline, NULL);
	uv_close((uv_handle_t *)&app.next, NULL);
	(void)uv_run(loop, UV_RUN_DEFAULT);
	modser_close(app.client);
	return app.status;
}
