/*
 * Call a function of a module and read its output:
 *
 *   cc call.c $(pkg-config --cflags --libs modser) -o call
 *   ./call add:addone 1000
 *
 * The function takes a float32 vector and an output of the same length.
 */
#include <inttypes.h>
#include <modser.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const modser_result *why)
{
	const modser_error *e = modser_result_error(why);

	(void)fprintf(stderr, "%s: %s\n%s\n", e->name, e->message, e->hint);
	return 1;
}

static int call(modser_client *client, const char *function, int64_t n)
{
	float *x = calloc((size_t)n + 1, sizeof(*x));
	float *y = calloc((size_t)n + 1, sizeof(*y));
	modser_result *result = NULL;
	modser_dtype float32;
	int status = 1;

	if (x == NULL || y == NULL || !modser_dtype_parse("float32", &float32))
		goto end;
	for (int64_t i = 0; i < n; i++)
		x[i] = (float)i;
	/* The library receives the daemon's reply directly into y. */
	const modser_value args[] = {modser_tensor_arg(float32, &n, 1, x),
				     modser_out_arg(float32, &n, 1, y)};
	const modser_options options = {.deadline_ms = 5000};
	if (modser_call(client, function, args, 2, &options, &result) != MODSER_OK) {
		status = fail(result);
		goto end;
	}
	for (int64_t i = 0; i < n && i < 5; i++)
		(void)printf("%" PRId64 ": %g -> %g\n", i, (double)x[i], (double)y[i]);
	status = 0;
end:
	modser_result_free(result);
	free(x);
	free(y);
	return status;
}

int main(int argc, char **argv)
{
	modser_client *client = NULL;
	modser_result *why = NULL;
	long n = argc == 3 ? strtol(argv[2], NULL, 10) : 0;

	if (n < 1 || n > 1000000) {
		(void)fprintf(stderr, "usage: call NAME:FUNC LENGTH\n");
		return 2;
	}
	if (modser_open(NULL, 5000, &client, &why) != MODSER_OK) {
		int status = fail(why);

		modser_result_free(why);
		return status;
	}
	int status = call(client, argv[1], n);
	modser_close(client);
	return status;
}
