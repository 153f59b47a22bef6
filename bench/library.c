/*
 * bench_library: the overhead of the client library, as bench_call but through
 * libmodser.
 *
 *   bench_library ADDRESS latency TARGET N
 *   bench_library ADDRESS rate TARGET DEPTH N
 *   bench_library ADDRESS lent TARGET BYTES N
 *
 * `lent`: latency, with one tensor of BYTES in a client segment. ADDRESS may be
 * direct:ADDRESS: through an explicitly opened channel to the worker of TARGET's
 * module.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/net.h"
#include "client/modser.h"

struct run {
	modser_client *client;
	modser_value target;
	modser_value arg; /* of latency; nil if absent */
};

static const char direct[] = "direct:";

static void check(modser_client *c, modser_err err)
{
	if (err == MODSER_OK)
		return;
	(void)fprintf(stderr, "bench_library: %s\n",
		      c != NULL ? modser_why(c)->message : "cannot connect");
	exit(1);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void latency(struct run *r, const char *target, size_t n)
{
	uint64_t *ns = calloc(n, sizeof(*ns));

	if (ns == NULL)
		exit(1);
	for (size_t i = 0; i < n; i++) {
		modser_result *result;
		uint64_t begin = bench_now_ns();
		check(r->client, modser_call(r->client, target, &r->arg,
					     r->arg.kind != MODSER_NIL, NULL, &result));
		modser_result_free(result);
		ns[i] = bench_now_ns() - begin;
	}
	qsort(ns, n, sizeof(*ns), by_value);
	(void)printf("p50_ns=%llu p99_ns=%llu min_ns=%llu\n",
		     (unsigned long long)ns[n / 2],
		     (unsigned long long)ns[n * 99 / 100], (unsigned long long)ns[0]);
	free(ns);
}

static uint64_t start(struct run *r)
{
	uint64_t id;

	check(r->client, modser_start(r->client, "call", &r->target, 1, NULL, &id));
	return id;
}

/* A window of @depth: wait for the oldest, start another. */
static void rate(struct run *r, size_t depth, size_t n)
{
	uint64_t *ids = calloc(depth, sizeof(*ids));
	uint64_t begin = bench_now_ns();

	if (ids == NULL)
		exit(1);
	for (size_t i = 0; i < n + depth; i++) {
		uint64_t *id = &ids[i % depth];
		modser_result *result;
		if (i >= depth) {
			check(r->client, modser_wait(r->client, *id, &result));
			modser_result_free(result);
		}
		if (i < n)
			*id = start(r);
	}
	(void)printf("per_s=%.0f\n",
		     (double)n * 1e9 / (double)(bench_now_ns() - begin));
	free(ids);
}

static void lent(struct run *r, const char *target, int64_t bytes, size_t n)
{
	modser_dtype dtype = {.code = 2, .bits = 32, .lanes = 1};
	const int64_t floats = bytes / 4;
	modser_segment *segment;

	check(r->client,
	      modser_segment_new(r->client, (uint64_t)bytes, &segment, NULL));
	memset(modser_segment_data(segment), 1, (size_t)bytes);
	r->arg = modser_tensor_arg(dtype, &floats, 1, modser_segment_data(segment));
	latency(r, target, n);
	modser_segment_free(segment);
}

/* Connect to the daemon at @address, or directly to the worker of @target's module.
 * The daemon's connection owns the channel and stays open until the process exits. */
static modser_client *open_one(const char *address, const char *target)
{
	const bool is_direct = strncmp(address, direct, strlen(direct)) == 0;
	modser_client *c = NULL, *channel = NULL;
	char module[64];

	check(NULL, modser_open(is_direct ? address + strlen(direct) : address, 2000,
				&c, NULL));
	if (!is_direct)
		return c;
	(void)snprintf(module, sizeof(module), "%.*s", (int)strcspn(target, ":"),
		       target);
	check(c, modser_open_direct(c, module, &channel, NULL));
	return channel;
}

int main(int argc, char **argv)
{
	struct run r = {0};
	const bool is_rate = argc > 2 && strcmp(argv[2], "rate") == 0;
	const bool is_lent = argc > 2 && strcmp(argv[2], "lent") == 0;

	if (argc < 5 || (is_rate || is_lent) != (argc == 6)) {
		(void)fprintf(stderr,
			      "usage: bench_library ADDRESS latency TARGET N\n"
			      "       bench_library ADDRESS rate TARGET DEPTH N\n"
			      "       bench_library ADDRESS lent TARGET BYTES N\n");
		return 2;
	}
	r.client = open_one(argv[1], argv[3]);
	r.target = modser_str(argv[3]);
	if (is_lent) {
		lent(&r, argv[3], strtol(argv[4], NULL, 10),
		     strtoul(argv[5], NULL, 10));
	} else if (is_rate) {
		rate(&r, strtoul(argv[4], NULL, 10), strtoul(argv[5], NULL, 10));
	} else {
		latency(&r, argv[3], strtoul(argv[4], NULL, 10));
	}
	modser_close(r.client);
	return 0;
}
