/*
 * Many concurrent calls on one connection, in the program's own loop:
 *
 *   cc poll.c $(pkg-config --cflags --libs modser) -o poll
 *   ./poll add:addone 100
 *
 * The function takes a float32 vector and an output of the same length. All calls
 * start before the first reply; on_done() receives each reply.
 */
#include <errno.h>
#include <modser.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#define LENGTH 16

struct count {
	long done, failed;
};

static void complain(const modser_error *e)
{
	(void)fprintf(stderr, "%s: %s\n%s\n", e->name, e->message, e->hint);
}

/* Called by modser_process(). This function owns the result. */
static void on_done(void *ctx, modser_result *result)
{
	struct count *count = ctx;

	if (modser_result_value(result) == NULL) {
		complain(modser_result_error(result));
		count->failed++;
	}
	count->done++;
	modser_result_free(result);
}

/* Queue the calls. The library reads @x until they finish: it must stay valid. */
static modser_err start_all(modser_client *client, const char *function, long n,
			    const float *x, struct count *count)
{
	const modser_options options = {.done = on_done, .ctx = count};
	const int64_t length = LENGTH;
	modser_dtype float32;
	modser_err err = MODSER_OK;

	if (!modser_dtype_parse("float32", &float32))
		return MODSER_INTERNAL;
	const modser_value params[] = {
		modser_str(function), modser_tensor_arg(float32, &length, 1, x),
		modser_out_arg(float32, &length, 1,
			       NULL)}; /* the result's own memory */
	for (long i = 0; i < n && err == MODSER_OK; i++)
		err = modser_start(client, "call", params, 3, &options, NULL);
	return err;
}

/* Send and receive until every call has finished. */
static modser_err run(modser_client *client)
{
	modser_err err = MODSER_OK;

	while (err == MODSER_OK && modser_in_flight(client) > 0) {
		const unsigned wanted = modser_events(client);
		struct pollfd watched = {.fd = modser_fd(client)};

		if ((wanted & MODSER_READABLE) != 0)
			watched.events |= POLLIN;
		if ((wanted & MODSER_WRITABLE) != 0)
			watched.events |= POLLOUT;
		if (poll(&watched, 1, modser_timeout_ms(client)) < 0 && errno != EINTR)
			return MODSER_IO;
		err = modser_process(client);
	}
	return err;
}

int main(int argc, char **argv)
{
	static float x[LENGTH];
	struct count count = {0};
	modser_client *client = NULL;
	modser_result *why = NULL;
	const long n = argc == 3 ? strtol(argv[2], NULL, 10) : 0;

	if (n < 1 || n > 10000) {
		(void)fprintf(stderr, "usage: poll NAME:FUNC CALLS\n");
		return 2;
	}
	if (modser_open(NULL, 5000, &client, &why) != MODSER_OK) {
		complain(modser_result_error(why));
		modser_result_free(why);
		return 1;
	}
	if (start_all(client, argv[1], n, x, &count) != MODSER_OK ||
	    run(client) != MODSER_OK) {
		complain(modser_why(client));
		count.failed++;
	}
	modser_close(client);
	(void)printf("%ld calls, %ld failed\n", count.done, count.failed);
	return count.failed > 0;
}
