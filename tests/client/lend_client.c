/*
 * lend_client ADDRESS: libmodser's segments against a daemon that serves `shapes`,
 * `mlp` and `faults` (tests/e2e/test_segments.py). Prints what is wrong and exits with
 * 1, else how many bytes the daemon has read of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/modser.h"

#define N 262144 /* a MiB of floats */

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	(void)fprintf(stderr, "lend_client: %s\n", what);
	exit(1);
}

static modser_value arg(modser_kind kind, int64_t *n, void *data)
{
	modser_dtype dtype;

	check(modser_dtype_parse("float32", &dtype), "dtype");
	return kind == MODSER_OUT ? modser_out_arg(dtype, n, 1, data)
				  : modser_tensor_arg(dtype, n, 1, data);
}

/* shapes:addone from @from to @to. */
static void add_one(modser_client *c, const float *from, float *to, int64_t n)
{
	modser_value args[] = {arg(MODSER_TENSOR, &n, (void *)(uintptr_t)from),
			       arg(MODSER_OUT, &n, to)};
	modser_result *r;

	for (int64_t i = 0; i < n; i++)
		to[i] = -1;
	if (modser_call(c, "shapes:addone", args, 2, NULL, &r) != MODSER_OK)
		check(false, modser_result_error(r)->message);
	const modser_value *outs = &modser_result_value(r)->as.tuple.item[0];
	check(outs->as.tuple.n == 1, "one output");
	check(outs->as.tuple.item[0].as.tensor.data == to, "it is where it was wanted");
	for (int64_t i = 0; i < n; i++)
		check(to[i] == from[i] + 1, "the sum");
	modser_result_free(r);
}

/* mlp:main returns its output: in a place, and in the result's own memory. */
static void return_to_place(modser_client *c, float *lent)
{
	int64_t in[] = {3, 16}, out[] = {3, 4};
	modser_value args[2];
	modser_result *r, *other;

	for (int i = 0; i < 48; i++)
		lent[i] = (float)i / 48;
	args[0] = arg(MODSER_TENSOR, in, lent);
	args[0].as.tensor.ndim = 2;
	check(modser_call(c, "mlp:main", args, 1, NULL, &other) == MODSER_OK, "mlp");
	const modser_tensor *want =
		&modser_result_value(other)->as.tuple.item[1].as.tensor;
	memcpy(out, want->shape, sizeof(out));
	args[1] = arg(MODSER_OUT, out, lent + 1024);
	args[1].as.tensor.ndim = 2;
	if (modser_call(c, "mlp:main", args, 2, NULL, &r) != MODSER_OK)
		check(false, modser_result_error(r)->message);
	const modser_tensor *got = &modser_result_value(r)->as.tuple.item[1].as.tensor;
	check(got->data == lent + 1024, "the result is in its place");
	check(got->bytes == want->bytes &&
		      memcmp(got->data, want->data, want->bytes) == 0,
	      "the same bits");
	modser_result_free(r);
	modser_result_free(other);
}

/* A resident tensor of threes, copied to @to, and to the result's own memory. */
static void copy_out(modser_client *c, float *to)
{
	int64_t n = 64;
	modser_value shape = {.kind = MODSER_SHAPE, .as.shape = {&n, 1}};
	modser_value dtype = {.kind = MODSER_DTYPE};
	modser_result *made, *r;

	check(modser_dtype_parse("float32", &dtype.as.dtype), "dtype");
	modser_value alloc[] = {modser_str("shapes"), dtype, shape};
	check(modser_request(c, "tensor.alloc", alloc, 3, NULL, &made) == MODSER_OK,
	      "alloc");
	modser_value fill[] = {*modser_result_value(made), modser_int(3)};
	check(modser_request(c, "tensor.fill", fill, 2, NULL, &r) == MODSER_OK, "fill");
	modser_result_free(r);
	float *const places[] = {to, NULL};
	for (size_t i = 0; i < 2; i++) {
		modser_value copy[] = {fill[0], arg(MODSER_OUT, &n, places[i])};

		if (modser_request(c, "tensor.copy", copy, 2, NULL, &r) != MODSER_OK)
			check(false, modser_result_error(r)->message);
		const modser_tensor *t = &modser_result_value(r)->as.tensor;
		const float *data = t->data;

		check(i == 1 || data == to, "the copy is in its place");
		for (int k = 0; k < 64; k++)
			check(data[k] == 3, "the copy");
		modser_result_free(r);
	}
	check(modser_request(c, "tensor.free", fill, 1, NULL, &r) == MODSER_OK, "free");
	modser_result_free(r);
	modser_result_free(made);
}

static void ask_too_much(modser_client *c)
{
	modser_segment *none = NULL;
	modser_result *why = NULL;

	check(modser_segment_new(c, 1ull << 60, &none, &why) != MODSER_OK &&
		      none == NULL && why != NULL,
	      "too large a one is refused, and it is said why");
	modser_result_free(why);
	check(modser_segment_new(c, 0, &none, NULL) == MODSER_NO_SPACE, "none of 0");
}

static void print_bytes(modser_client *c)
{
	modser_result *r;

	check(modser_request(c, "client.list", NULL, 0, NULL, &r) == MODSER_OK, "list");
	const modser_value *list = modser_result_value(r);
	const modser_value *mine = &list->as.tuple.item[list->as.tuple.n - 1];
	const modser_value *bytes = modser_find(mine, "in_bytes");
	check(bytes != NULL, "in_bytes");
	(void)printf("%lld\n", (long long)bytes->as.i);
	modser_result_free(r);
}

int main(int argc, char **argv)
{
	static float plain[64];
	modser_client *c = NULL;
	modser_segment *a, *b;

	check(argc == 2 && modser_open(argv[1], 0, &c, NULL) == MODSER_OK, "open");
	check(modser_segment_new(c, 2u << 20, &a, NULL) == MODSER_OK, "segment");
	check(modser_segment_new(c, 1u << 20, &b, NULL) == MODSER_OK, "another");
	float *x = modser_segment_data(a), *y = modser_segment_data(b);
	for (int i = 0; i < N; i++)
		x[i] = (float)i;
	add_one(c, x, y, N);
	add_one(c, x, x + N, N);  /* both in one */
	add_one(c, x + 1, y, 64); /* not where a tensor may begin: it travels */
	add_one(c, x, plain, 64); /* one of both */
	add_one(c, plain, x + 32, 64);
	return_to_place(c, x);
	copy_out(c, plain);
	copy_out(c, x);
	ask_too_much(c);
	print_bytes(c);
	modser_segment_free(b);
	add_one(c, x, x + N, 64);
	modser_close(c);
	x[0] = 1; /* it is there until it is freed */
	modser_segment_free(a);
	return 0;
}
