/*
 * Load a model file and run the whole model:
 *
 *   cc model.c $(pkg-config --cflags --libs modser) -o model
 *   ./model digits digits.onnx
 *
 * Asks for the functions of the module, fills each parameter of `run` with ones, an
 * extent that may vary with 1, and prints the shapes and the first numbers of the
 * results.
 */
#include <inttypes.h>
#include <modser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PARAMS 8
#define MAX_NDIM 32

static int fail(const modser_error *e)
{
	(void)fprintf(stderr, "%s: %s\n%s\n", e->name, e->message, e->hint);
	return 1;
}

static void *read_file(const char *path, size_t *ret_n)
{
	FILE *f = fopen(path, "rb");
	void *bytes = NULL;
	long n = 0;

	if (f != NULL && fseek(f, 0, SEEK_END) == 0 && (n = ftell(f)) > 0 &&
	    fseek(f, 0, SEEK_SET) == 0)
		bytes = malloc((size_t)n);
	if (bytes != NULL && fread(bytes, 1, (size_t)n, f) != (size_t)n) {
		free(bytes);
		bytes = NULL;
	}
	if (f != NULL)
		(void)fclose(f);
	*ret_n = (size_t)n;
	return bytes;
}

/* The entry of the function called @name in the value of function.list; NULL: none. */
static const modser_value *find_function(const modser_value *list, const char *name)
{
	for (size_t i = 0; i < list->as.tuple.n; i++) {
		const modser_value *one = &list->as.tuple.item[i];
		const modser_value *own = modser_find(one, "name");

		if (own != NULL && strcmp(own->as.str.p, name) == 0)
			return one;
	}
	return NULL;
}

/* A float32 tensor of ones for the parameter @p; its memory is *@ret_data. */
static int fill(const modser_value *p, int64_t shape[MAX_NDIM], float **ret_data,
		modser_value *ret)
{
	const modser_value *dims = modser_find(p, "shape");
	const modser_value *type = modser_find(p, "dtype");
	modser_dtype float32;
	size_t n = 1;

	if (dims == NULL || type == NULL || dims->as.tuple.n > MAX_NDIM ||
	    strcmp(type->as.str.p, "float32") != 0 ||
	    !modser_dtype_parse("float32", &float32))
		return -1;
	for (size_t i = 0; i < dims->as.tuple.n; i++) {
		const modser_value *dim = &dims->as.tuple.item[i];

		shape[i] = dim->kind == MODSER_INT && dim->as.i > 0 ? dim->as.i : 1;
		n *= (size_t)shape[i];
	}
	*ret_data = malloc(n * sizeof(float));
	for (size_t i = 0; *ret_data != NULL && i < n; i++)
		(*ret_data)[i] = 1;
	*ret = modser_tensor_arg(float32, shape, (uint32_t)dims->as.tuple.n, *ret_data);
	return *ret_data != NULL ? 0 : -1;
}

static void print(const modser_value *v)
{
	if (v->kind == MODSER_TUPLE) {
		for (size_t i = 0; i < v->as.tuple.n; i++)
			print(&v->as.tuple.item[i]);
		return;
	}
	if (v->kind != MODSER_TENSOR)
		return;
	for (uint32_t i = 0; i < v->as.tensor.ndim; i++)
		(void)printf("%s%" PRId64, i > 0 ? " x " : "", v->as.tensor.shape[i]);
	(void)printf(":");
	for (uint64_t i = 0; i < 5 && (i + 1) * sizeof(float) <= v->as.tensor.bytes;
	     i++)
		(void)printf(" %g", (double)((const float *)v->as.tensor.data)[i]);
	(void)printf("\n");
}

static int call(modser_client *client, const char *name, const modser_value *function)
{
	const modser_value *params = modser_find(function, "params");
	const size_t n = params != NULL ? params->as.tuple.n : 0;
	const modser_options options = {.deadline_ms = 60000};
	int64_t shapes[MAX_PARAMS][MAX_NDIM];
	float *data[MAX_PARAMS] = {0};
	modser_value args[MAX_PARAMS];
	modser_result *result = NULL;
	char target[128];
	int status = n == 0 || n > MAX_PARAMS;

	for (size_t i = 0; status == 0 && i < n; i++) {
		status = fill(&params->as.tuple.item[i], shapes[i], &data[i], &args[i]);
	}
	(void)snprintf(target, sizeof(target), "%s:run", name);
	if (status != 0) {
		(void)fprintf(stderr, "%s: a parameter is not float32\n", target);
	} else if (modser_call(client, target, args, n, &options, &result) !=
		   MODSER_OK) {
		status = fail(modser_result_error(result));
	} else {
		print(modser_result_value(result));
	}
	modser_result_free(result);
	for (size_t i = 0; i < MAX_PARAMS; i++)
		free(data[i]);
	return status != 0;
}

/* Load the model; *ret is then the list of its functions, else the error. */
static modser_err load(modser_client *client, const char *name, const void *bytes,
		       size_t n, modser_result **ret)
{
	const modser_value names[] = {modser_str(name)};
	modser_err err = modser_load(client, name, bytes, n, NULL, ret);

	if (err == MODSER_OK) {
		modser_result_free(*ret);
		err = modser_request(client, "function.list", names, 1, NULL, ret);
	}
	return err;
}

int main(int argc, char **argv)
{
	modser_client *client = NULL;
	modser_result *reply = NULL;
	size_t n = 0;
	void *bytes = argc == 3 ? read_file(argv[2], &n) : NULL;
	int status = 1;

	if (bytes == NULL) {
		(void)fprintf(stderr, "usage: model NAME FILE\n");
		return 2;
	}
	if (modser_open(NULL, 5000, &client, &reply) != MODSER_OK ||
	    load(client, argv[1], bytes, n, &reply) != MODSER_OK) {
		(void)fail(modser_result_error(reply));
	} else {
		const modser_value *function =
			find_function(modser_result_value(reply), "run");

		if (function != NULL)
			status = call(client, argv[1], function);
		else
			(void)fprintf(stderr, "%s has no function run\n", argv[1]);
	}
	modser_result_free(reply);
	modser_close(client);
	free(bytes);
	return status;
}
