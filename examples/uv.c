/*
 * libmodser in a libuv loop, which may watch other descriptors of the program, too:
 *
 *   cc uv.c $(pkg-config --cflags --libs modser libuv) -o uv
 *   ./uv
 *
 * Requests the daemon's modules and prints their number. After every call of the
 * library, watch() updates the events to wait for.
 */
#include <modser.h>
#include <stdio.h>
#include <uv.h>

struct app {
	modser_client *client;
	uv_poll_t socket;
	uv_timer_t timer; /* for deadlines */
	int status;
};

static void watch(struct app *app);

static void complain(const modser_error *e)
{
	(void)fprintf(stderr, "%s: %s\n%s\n", e->name, e->message, e->hint);
}

static void process(struct app *app)
{
	if (modser_process(app->client) != MODSER_OK)
		complain(modser_why(app->client));
	watch(app);
}

static void on_socket(uv_poll_t *socket, int status, int events)
{
	(void)status;
	(void)events;
	process(socket->data);
}

static void on_timer(uv_timer_t *timer)
{
	process(timer->data);
}

/* Wait for the client's events. With nothing in flight the loop ends. */
static void watch(struct app *app)
{
	const unsigned wanted = modser_events(app->client);
	const int timeout_ms = modser_timeout_ms(app->client);

	if (modser_fd(app->client) < 0 || modser_in_flight(app->client) == 0) {
		(void)uv_poll_stop(&app->socket);
		(void)uv_timer_stop(&app->timer);
		return;
	}
	(void)uv_poll_start(&app->socket,
			    ((wanted & MODSER_READABLE) != 0 ? UV_READABLE : 0) |
				    ((wanted & MODSER_WRITABLE) != 0 ? UV_WRITABLE : 0),
			    on_socket);
	(void)uv_timer_stop(&app->timer);
	if (timeout_ms >= 0)
		(void)uv_timer_start(&app->timer, on_timer, (uint64_t)timeout_ms, 0);
}

static void on_list(void *ctx, modser_result *result)
{
	const modser_value *list = modser_result_value(result);
	struct app *app = ctx;

	if (list == NULL) {
		complain(modser_result_error(result));
		app->status = 1;
	} else {
		(void)printf("%zu modules\n", list->as.tuple.n);
	}
	modser_result_free(result);
}

static int run(struct app *app)
{
	const modser_options options = {
		.deadline_ms = 10000, .done = on_list, .ctx = app};
	uv_loop_t *loop = uv_default_loop();

	if (uv_poll_init(loop, &app->socket, modser_fd(app->client)) != 0 ||
	    uv_timer_init(loop, &app->timer) != 0)
		return 1;
	app->socket.data = app->timer.data = app;
	if (modser_start(app->client, "module.list", NULL, 0, &options, NULL) !=
	    MODSER_OK) {
		complain(modser_why(app->client));
		return 1;
	}
	watch(app);
	(void)uv_run(loop, UV_RUN_DEFAULT); /* runs until there is no active handle */
	uv_close((uv_handle_t *)&app->socket, NULL);
	uv_close((uv_handle_t *)&app->timer, NULL);
	(void)uv_run(loop, UV_RUN_DEFAULT);
	return app->status;
}

int main(void)
{
	struct app app = {0};
	modser_result *why = NULL;

	if (modser_open(NULL, 5000, &app.client, &why) != MODSER_OK) {
		complain(modser_result_error(why));
		modser_result_free(why);
		return 1;
	}
	const int status = run(&app);
	modser_close(app.client); /* after the loop: the loop no longer watches its
				     descriptor */
	return status;
}
