/* Models of the graph executor and of ahead-of-time compilation, from their payloads.
 * Separate from executor.c, which does not need JSON (look.h). */
#include <string.h>

#include "artifact/graph_json/graph.h"
#include "artifact/kind/look.h"
#include "artifact/params/params.h"
#include "artifact/params/tensor_blob.h"

#define MAX_MODEL_NAME 4096u

static struct msd_span span_of(const char *text)
{
	return (struct msd_span){(const uint8_t *)text,
				 text != NULL ? strlen(text) : 0};
}

static void count_params(const struct msd_params *params, struct msd_model *m)
{
	m->has_params = true;
	m->n_params = params->n;
	for (size_t i = 0; i < params->n; i++)
		m->param_bytes += params->tensors[i].data.n;
}

static msd_err set_entry(const struct msd_graph *g, uint32_t entry,
			 struct msd_model_value *v, struct msd_diag *d)
{
	const struct msd_graph_entry *e = &g->entries[entry];

	return v != NULL ? msd_model_set_tensor(v, e->dtype, e->shape, e->ndim, d)
			 : MSD_OK;
}

/* Inputs are the arguments that are not parameters. */
static msd_err take_run(const struct msd_graph *g, const struct msd_params *params,
			struct msd_model *m, struct msd_diag *d)
{
	struct msd_model_value *v;
	struct msd_model_func *f;
	msd_err err = msd_model_add_func(m, span_of("run"), &f, d);

	for (uint32_t i = 0; err == MSD_OK && f != NULL && i < g->n_args; i++) {
		const struct msd_graph_node *node = &g->nodes[g->args[i]];
		if (msd_params_find(params, node->name) != NULL)
			continue;
		err = msd_model_add_input(f, span_of(node->name), &v, d);
		if (err == MSD_OK)
			err = set_entry(g, node->first_entry, v, d);
	}
	for (uint32_t i = 0; err == MSD_OK && f != NULL && i < g->n_heads; i++) {
		err = msd_model_add_output(f, span_of(""), &v, d);
		if (err == MSD_OK)
			err = set_entry(g, g->heads[i], v, d);
	}
	return err;
}

/* The functions that its nodes call; the executor has two of its own. */
static msd_err take_needs(const struct msd_graph *g, struct msd_model *m,
			  struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (uint32_t i = 0; err == MSD_OK && i < g->n_nodes; i++) {
		const char *func = g->nodes[i].func;
		if (func != NULL && strcmp(func, "__nop") != 0 &&
		    strcmp(func, "__copy") != 0)
			err = msd_model_add_need(m, span_of(func), d);
	}
	return err;
}

static msd_err look_graph(struct msd_span payload, enum msd_era era,
			  struct msd_gpu_code *gpu, struct msd_model *m,
			  struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(payload);
	struct msd_span json = msd_cur_str64(&c);
	struct msd_params params = {0};
	struct msd_graph graph = {0};
	msd_err err = msd_params_read(&c, &params, d);

	(void)era;
	(void)gpu;
	if (err == MSD_OK)
		count_params(&params, m);
	if (err == MSD_OK)
		err = msd_graph_read(json, &graph, d);
	if (err == MSD_OK)
		err = take_run(&graph, &params, m, d);
	if (err == MSD_OK)
		err = take_needs(&graph, m, d);
	msd_graph_finish(&graph);
	msd_params_finish(&params);
	return err;
}

/* The entry function of an ahead-of-time compiled model. */
static msd_err need_main(struct msd_span model, struct msd_model *m, struct msd_diag *d)
{
	struct msd_buf name = {0};

	msd_buf_printf(&name, "tvmgen_%.*s___tvm_main__", (int)model.n,
		       (const char *)model.p);
	msd_err err =
		name.bad ? msd_diag_no_memory(d)
			 : msd_model_add_need(m, (struct msd_span){name.p, name.n}, d);
	msd_buf_finish(&name);
	return err;
}

static msd_err look_aot(struct msd_span payload, enum msd_era era,
			struct msd_gpu_code *gpu, struct msd_model *m,
			struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(payload);
	struct msd_params params = {0};
	msd_err err = msd_params_read(&c, &params, d);

	(void)era;
	(void)gpu;
	if (err == MSD_OK)
		count_params(&params, m);
	msd_params_finish(&params);
	const struct msd_span model = msd_cur_str64(&c);
	if (err == MSD_OK && (c.bad || model.n > MAX_MODEL_NAME))
		err = msd_diag_set(d, MSD_BAD_ARTIFACT, "it has no name");
	return err == MSD_OK ? need_main(model, m, d) : err;
}

const struct msd_look msd_look_graph = {look_graph, NULL};
const struct msd_look msd_look_aot = {look_aot, NULL};
