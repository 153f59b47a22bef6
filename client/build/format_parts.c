/* Files of a model that are not modules: a graph executor's graph and parameters. The
 * client loads them together with their library, and can inspect them separately. */
#include <string.h>

#include "artifact/inspect/companion.h"
#include "artifact/json.h"
#include "artifact/kind/look.h"
#include "artifact/params/params.h"
#include "artifact/params/tensor_blob.h"
#include "artifact/printable.h"
#include "client/build/formats.h"
#include "proto/type_text.h"

static bool is_graph(const char *path, struct msd_span file)
{
	(void)path;
	return msd_companion_of(file) == MSD_COMPANION_GRAPH;
}

static bool is_params(const char *path, struct msd_span file)
{
	(void)path;
	return msd_companion_of(file) == MSD_COMPANION_PARAMS;
}

/* The reader of a factory's payload also reads a graph without parameters. */
static msd_err read_graph(struct msd_span file, struct msd_model *m, struct msd_diag *d)
{
	static const char kind[] = "GraphExecutorFactory";
	const struct msd_look *look = msd_look_find(
		(struct msd_span){(const uint8_t *)kind, sizeof(kind) - 1});
	static const uint8_t
		no_params[2 * sizeof(uint64_t)]; /* number of names and of tensors */
	struct msd_gpu_code none = {0};
	struct msd_buf payload = {0};
	msd_err err;

	uint8_t n[sizeof(uint64_t)];

	msd_put_le64(n, file.n);
	msd_buf_put(&payload, n, sizeof(n));
	msd_buf_put(&payload, file.p, file.n);
	msd_buf_put(&payload, no_params, sizeof(no_params));
	if (payload.bad) {
		err = msd_diag_no_memory(d);
	} else {
		err = look->read((struct msd_span){payload.p, payload.n},
				 MSD_ERA_CLASSIC, &none, m, d);
	}
	msd_buf_finish(&payload);
	msd_gpu_code_finish(&none);
	return err;
}

static msd_err inspect_graph(const struct msd_cli *cli, struct msd_span file,
			     struct msd_buf *out, struct msd_diag *d)
{
	struct msd_model m = {0};
	msd_err err = read_graph(file, &m, d);

	m.has_params = false; /* a graph does not tell which inputs are parameters */
	if (err == MSD_OK && cli->json) {
		msd_json_put(out, msd_model_json(&m), JSON_COMPACT);
	} else if (err == MSD_OK) {
		msd_buf_printf(out, "graph executor's graph, inputs and parameters:\n");
		msd_model_text(&m, 0, out);
	}
	msd_model_finish(&m);
	return err;
}

static json_t *tensor_json(struct msd_span name, const struct msd_tensor_blob *t)
{
	char dtype[MSD_DTYPE_NAME_MAX];
	json_t *map = json_object();
	json_t *shape = json_array();

	for (size_t i = 0; i < t->ndim; i++)
		msd_json_add(&shape, json_integer(t->shape[i]));
	msd_json_set(&map, "name", msd_json_text(name));
	msd_json_set(&map, "dtype", msd_json_string(msd_dtype_format(t->dtype, dtype)));
	msd_json_set(&map, "shape", shape);
	msd_json_set(&map, "bytes", json_integer((json_int_t)t->data.n));
	return map;
}

static void tensor_text(struct msd_span name, const struct msd_tensor_blob *t,
			struct msd_buf *out)
{
	char dtype[MSD_DTYPE_NAME_MAX];

	msd_printable_put(out, name);
	msd_buf_printf(out, "  %s", msd_dtype_format(t->dtype, dtype));
	msd_shape_put(out, t->shape, (uint32_t)t->ndim, ", ");
	msd_buf_printf(out, "\n");
}

static msd_err inspect_params(const struct msd_cli *cli, struct msd_span file,
			      struct msd_buf *out, struct msd_diag *d)
{
	struct msd_params params = {0};
	json_t *list = cli->json ? json_array() : NULL;
	msd_err err = msd_params_read_file(file, &params, d);

	if (err == MSD_OK && !cli->json)
		msd_buf_printf(out, "parameters: %zu\n", params.n);
	for (size_t i = 0; err == MSD_OK && i < params.n; i++) {
		if (cli->json) {
			msd_json_add(&list,
				     tensor_json(params.names[i], &params.tensors[i]));
		} else {
			tensor_text(params.names[i], &params.tensors[i], out);
		}
	}
	if (err == MSD_OK && cli->json) {
		msd_json_put(out, list, JSON_COMPACT);
	} else {
		json_decref(list);
	}
	msd_params_finish(&params);
	return err;
}

const struct msd_file_format msd_format_graph = {
	.name = "a graph executor's graph",
	.is = is_graph,
	.prepare = msd_format_refuse,
	.inspect = inspect_graph,
};
const struct msd_file_format msd_format_params = {
	.name = "parameters",
	.is = is_params,
	.prepare = msd_format_refuse,
	.inspect = inspect_params,
};
