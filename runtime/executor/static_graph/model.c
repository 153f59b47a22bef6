/*
 * Happy path: the serializer that knows the file's bytes reads a graph, its ends are
 * checked to be float32, the engine plans it; a run points at the inputs' bytes, makes
 * fresh outputs and has the plan compute them. Failures leave no half-made model and no
 * outputs.
 */
#include "runtime/executor/static_graph/model.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/engine/plan.h"
#include "runtime/module/instance.h"

struct msd_static_model {
	modser_graph *graph;
	struct msd_plan *plan;
	const float **in; /* of a run: one for each input and output */
	float **out;
};

static msd_err load(struct msd_static_model *m, struct msd_span file,
		    enum msd_fill_word fill, struct msd_diag *d)
{
	static const modser_fill fills[] = {[MSD_FILL_UNSAID] = MODSER_FILL_REFUSE,
					    [MSD_FILL_ZERO] = MODSER_FILL_ZERO,
					    [MSD_FILL_SEEDED] = MODSER_FILL_SEEDED};
	const modser_model_options options = {fills[fill]};
	const modser_part part = {file.p, file.n};
	modser_serializer *s = modser_serializer_probe(file.p, file.n);

	m->graph = modser_graph_create("");
	if (s == NULL || m->graph == NULL) {
		modser_serializer_unref(s);
		return msd_diag_no_memory(d);
	}
	const int rc = modser_serializer_load_memory(s, &part, 1, &options, m->graph);
	modser_serializer_unref(s);
	if (rc == 0)
		return MSD_OK;
	return msd_diag_set(d, msd_err_from_name(modser_graph_error_name(m->graph)),
			    "%s", modser_graph_error(m->graph));
}

/* What no kernel reads or writes may still be handed in and out. */
static msd_err check_float32(const modser_sg_tensor *t, struct msd_diag *d)
{
	if (strcmp(modser_sg_tensor_dtype(t), "float32") == 0)
		return MSD_OK;
	return msd_diag_set(d, MSD_UNSUPPORTED,
			    "\"%s\" is %s; inputs and outputs are float32",
			    modser_sg_tensor_name(t), modser_sg_tensor_dtype(t));
}

static msd_err check_ends(const modser_graph *g, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (size_t i = 0; err == MSD_OK && i < modser_graph_input_count(g); i++)
		err = check_float32(modser_graph_input(g, i), d);
	for (size_t i = 0; err == MSD_OK && i < modser_graph_output_count(g); i++)
		err = check_float32(modser_graph_output(g, i), d);
	return err;
}

msd_err msd_static_model_create(struct msd_span file, enum msd_fill_word fill,
				struct msd_static_model **ret, struct msd_diag *d)
{
	struct msd_static_model *m = calloc(1, sizeof(*m));

	if (m == NULL)
		return msd_diag_no_memory(d);
	msd_err err = load(m, file, fill, d);
	if (err == MSD_OK)
		err = check_ends(m->graph, d);
	if (err == MSD_OK)
		err = msd_plan_create(m->graph, &m->plan, d);
	if (err == MSD_OK) {
		m->in = calloc(modser_graph_input_count(m->graph) + 1, sizeof(*m->in));
		m->out = calloc(modser_graph_output_count(m->graph) + 1,
				sizeof(*m->out));
		if (m->in == NULL || m->out == NULL)
			err = msd_diag_no_memory(d);
	}
	if (err != MSD_OK) {
		msd_static_model_destroy(m);
		return err;
	}
	*ret = m;
	return MSD_OK;
}

void msd_static_model_destroy(struct msd_static_model *m)
{
	if (m == NULL)
		return;
	msd_plan_destroy(m->plan);
	modser_graph_destroy(m->graph);
	free(m->in);
	free(m->out);
	free(m);
}

const modser_graph *msd_static_model_graph(const struct msd_static_model *m)
{
	return m->graph;
}

uint32_t msd_static_model_n_inputs(const struct msd_static_model *m)
{
	return (uint32_t)modser_graph_input_count(m->graph);
}

uint32_t msd_static_model_n_outputs(const struct msd_static_model *m)
{
	return (uint32_t)modser_graph_output_count(m->graph);
}

static struct msd_model_tensor describe(const modser_sg_tensor *t)
{
	return (struct msd_model_tensor){.name = modser_sg_tensor_name(t),
					 .dtype = {MSD_DT_FLOAT, 32, 1},
					 .shape = modser_sg_tensor_dims(t),
					 .ndim = (uint32_t)modser_sg_tensor_ndim(t)};
}

struct msd_model_tensor msd_static_model_input(const struct msd_static_model *m,
					       uint32_t i)
{
	return describe(modser_graph_input(m->graph, i));
}

struct msd_model_tensor msd_static_model_output(const struct msd_static_model *m,
						uint32_t i)
{
	return describe(modser_graph_output(m->graph, i));
}

msd_err msd_static_model_signature(const struct msd_static_model *m,
				   struct msd_signature *ret, struct msd_diag *d)
{
	const uint32_t n_in = msd_static_model_n_inputs(m);
	const uint32_t n_out = msd_static_model_n_outputs(m);
	struct msd_model_tensor *tensors =
		calloc((size_t)n_in + n_out + 1, sizeof(*tensors));
	const struct msd_model_io io = {tensors, n_in, tensors + n_in, n_out};

	if (tensors == NULL)
		return msd_diag_no_memory(d);
	for (uint32_t i = 0; i < n_in; i++)
		tensors[i] = msd_static_model_input(m, i);
	for (uint32_t i = 0; i < n_out; i++)
		tensors[n_in + i] = msd_static_model_output(m, i);
	msd_err err = msd_model_signature("run", &io, ret, d);
	free(tensors);
	return err;
}

static msd_err outputs_create(struct msd_static_model *m, struct msd_any *outputs)
{
	for (uint32_t i = 0; i < msd_static_model_n_outputs(m); i++) {
		const struct msd_model_tensor o = msd_static_model_output(m, i);
		struct msd_tensor *t = msd_tensor_new(o.dtype, o.shape, o.ndim);

		if (t == NULL)
			return MSD_NOMEM;
		outputs[i] = msd_of_obj(&t->obj);
		m->out[i] = t->dl.data;
	}
	return MSD_OK;
}

int msd_static_model_run(struct msd_static_model *m, const struct msd_any *inputs,
			 struct msd_any *outputs)
{
	const uint32_t n_out = msd_static_model_n_outputs(m);
	struct msd_diag d = {0};

	for (uint32_t i = 0; i < msd_static_model_n_inputs(m); i++) {
		const struct msd_dltensor *t = msd_any_dltensor(&inputs[i]);

		m->in[i] = (const float *)(void *)((char *)t->data + t->byte_offset);
	}
	for (uint32_t i = 0; i < n_out; i++)
		outputs[i] = msd_none();
	msd_err err = outputs_create(m, outputs);
	if (err == MSD_OK) {
		err = msd_plan_run(m->plan, m->in, m->out, &d);
	} else {
		(void)msd_diag_no_memory(&d);
	}
	if (err == MSD_OK)
		return 0;
	for (uint32_t i = 0; i < n_out; i++)
		msd_any_drop(&outputs[i]);
	return msd_instance_raise(&d, err);
}
