/*
 * direct_client ADDRESS: libmodser's direct channels against a daemon that serves
 * `calls` and `faults` (tests/e2e/test_direct.py). Prints what is wrong and exits
 * with 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/modser.h"

#define N 4096
#define MANY 1000

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	(void)fprintf(stderr, "direct_client: %s\n", what);
	exit(1);
}

static modser_client *open_for(modser_client *c, const char *module)
{
	modser_client *direct = NULL;
	modser_result *why = NULL;

	if (modser_open_direct(c, module, &direct, &why) != MODSER_OK)
		check(false, modser_result_error(why)->message);
	check(why == NULL, "no reason where there is a channel");
	return direct;
}

static void add_one(modser_client *c)
{
	static float from[N], to[N];
	const int64_t n = N;
	modser_dtype dtype;
	modser_result *r;

	check(modser_dtype_parse("float32", &dtype), "dtype");
	for (int i = 0; i < N; i++)
		from[i] = (float)i;
	const modser_value args[] = {modser_tensor_arg(dtype, &n, 1, from),
				     modser_out_arg(dtype, &n, 1, to)};
	if (modser_call(c, "calls:addone", args, 2, NULL, &r) != MODSER_OK)
		check(false, modser_result_error(r)->message);
	for (int i = 0; i < N; i++)
		check(to[i] == from[i] + 1, "the sum");
	modser_result_free(r);
}

/* All are sent before any is waited for. */
static void pipeline(modser_client *c)
{
	const modser_value target = modser_str("faults:ok");
	static uint64_t ids[MANY];

	for (int i = 0; i < MANY; i++) {
		check(modser_start(c, "call", &target, 1, NULL, &ids[i]) == MODSER_OK,
		      "start");
	}
	for (int i = 0; i < MANY; i++) {
		modser_result *r;
		check(modser_wait(c, ids[i], &r) == MODSER_OK, "one of many");
		modser_result_free(r);
	}
}

static void lose(modser_client *c)
{
	modser_client *direct = open_for(c, "faults");
	modser_result *r;

	check(modser_call(direct, "faults:crash", NULL, 0, NULL, &r) ==
		      MODSER_WORKER_LOST,
	      "the worker has died");
	check(modser_result_error(r)->code == MODSER_WORKER_LOST, "and that is said");
	modser_result_free(r);
	modser_close(direct);
}

static void refuse(modser_client *c)
{
	modser_client *none = NULL;
	modser_result *why = NULL;

	check(modser_open_direct(c, "nothing", &none, &why) == MODSER_NOT_FOUND,
	      "no such module");
	check(strstr(modser_result_error(why)->message, "nothing") != NULL, "its name");
	modser_result_free(why);
	check(modser_open_direct(c, "nothing", &none, NULL) == MODSER_NOT_FOUND,
	      "nobody asks why");
	check(none == NULL, "unchanged");
}

int main(int argc, char **argv)
{
	modser_client *c = NULL;

	check(argc == 2 && modser_open(argv[1], 0, &c, NULL) == MODSER_OK, "connect");
	refuse(c);
	modser_client *direct = open_for(c, "calls");
	add_one(direct);
	add_one(c);
	add_one(direct);
	modser_close(direct);
	direct = open_for(c, "faults");
	pipeline(direct);
	modser_close(direct);
	lose(c);
	add_one(c);
	modser_close(c);
	return 0;
}
