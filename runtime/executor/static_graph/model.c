/*
 * Happy path: the serializer for the file's format reads a graph, its inputs and
 * outputs are checked, passes optimise it, the engine plans it. A run points at the
 * inputs' bytes, creates fresh outputs and lets the plan compute them. Failures leave
 * no partly built model and no outputs.
 *
 * Defaults are constants for passes and engines. The first call that gives another
 * value for one reads the file once more, now with its defaults as inputs, and that
 * graph runs all such calls.
 */
#include "runtime/executor/static_graph/model.h"

#include <stdlib.h>
#include <string.h>

#include "graph/inspect/inspect.h"
#include "graph/inspect/tally.h"
#include "graph/ir/defaults.h"
#include "graph/pass/pass.h"
#include "graph/serializer/choose.h"
#include "proto/words/model_words.h"
#include "runtime/engine/engine.h"
#include "runtime/kernel/kernel.h"
#include "runtime/module/instance.h"
#include "runtime/plan/ahead.h"
#include "runtime/plan/plan.h"

/* An input or output as in the file. */
struct end {
	struct msd_model_tensor about;
	int64_t dims[MSD_MAX_NDIM];
	struct msd_dltensor tensor; /* the value of a default */
	struct msd_any value;       /* its address; else None */
};

struct msd_static_model {
	modser_graph *graph;
	struct msd_sg_tally tally; /* counts of the file's contents */
	struct msd_passed passed;
	struct msd_plan *plan;
	struct end *inputs;
	struct end *outputs;
	struct msd_plan_input *in; /* during a run: one per input of the graph */
	/* The same file with its defaults as inputs; NULL until a call gives one. */
	struct msd_static_model *open;
	bool is_open;         /* it is such a one */
	struct msd_span file; /* for it */
	struct msd_load_options options;
};

/* One run of a model. */
struct run {
	const struct msd_static_model *m;
	msd_make_tensor *make;
	struct msd_any *outputs;
};

static msd_err take_error(const modser_graph *g, struct msd_diag *d)
{
	return msd_diag_set(d, msd_err_from_name(modser_graph_error_name(g)), "%s",
			    modser_graph_error(g));
}

static msd_err load(struct msd_static_model *m, struct msd_span file,
		    const struct msd_load_options *how, bool opens, struct msd_diag *d)
{
	static const modser_fill fills[] = {[MSD_FILL_UNSAID] = MODSER_FILL_REFUSE,
					    [MSD_FILL_ZERO] = MODSER_FILL_ZERO,
					    [MSD_FILL_SEEDED] = MODSER_FILL_SEEDED};
	const struct msd_model_words *words = &how->run.words;
	const modser_model_options options = {.fill = fills[how->run.fill],
					      .outputs = msd_model_word(words->outputs),
					      .signature =
						      msd_model_word(words->signature),
					      .inputs = msd_model_word(words->input)};
	const char *format = how->run.words.format;
	struct msd_model_files files;
	modser_serializer *s = NULL;

	m->graph = modser_graph_create("");
	if (m->graph == NULL)
		return msd_diag_no_memory(d);
	if (opens)
		msd_sg_open_defaults(m->graph);
	msd_err err = msd_model_files_of(file, how->files, &files, d);
	if (err != MSD_OK)
		return err;
	err = msd_serializer_choose(format, &files, &s, d);
	if (err == MSD_OK && msd_model_files_load(s, &files, &options, m->graph) != 0)
		err = msd_serializer_blame(format, &files, take_error(m->graph, d), d);
	modser_serializer_unref(s);
	msd_model_files_finish(&files);
	return err;
}

/* Set the input shapes before other shapes are inferred from those in the file. */
static msd_err fix_inputs(struct msd_static_model *m,
			  const struct msd_load_options *how, struct msd_diag *d)
{
	if (*how->run.words.input == '\0' ||
	    modser_graph_fix_inputs(m->graph, how->run.words.input) == 0)
		return MSD_OK;
	return take_error(m->graph, d);
}

/* If off, the file's own nodes are run one by one, for comparison of results. */
static bool wants_passes(void)
{
	const char *said = secure_getenv("MODSERD_PASSES");

	return said == NULL || strcmp(said, "off") != 0;
}

static msd_err pass(struct msd_static_model *m, struct msd_diag *d)
{
	const struct msd_pass_host host = {msd_kernel_compute, msd_engine_may_make};

	if (!msd_sg_tally_count(m->graph, &m->tally))
		return msd_diag_no_memory(d);
	if (wants_passes() && msd_passes_run(m->graph, host, &m->passed) != 0)
		return take_error(m->graph, d);
	return MSD_OK;
}

/* An unknown extent is -1. The rank of an output may be unknown before a run; an
 * input of unknown rank is rejected because it could not be checked. */
static msd_err end_init(struct end *e, const modser_sg_tensor *t, bool is_output,
			struct msd_diag *d)
{
	const char *dtype = modser_sg_tensor_dtype(t);
	const int ndim = modser_sg_tensor_ndim(t);

	if (ndim < 0 && !is_output) {
		return msd_diag_set(
			d, MSD_UNSUPPORTED,
			"the number of dimensions of input \"%s\" is unknown; load the "
			"model with input NAME=DTYPE[EXTENTS]",
			modser_sg_tensor_name(t));
	}
	e->about = (struct msd_model_tensor){.name = modser_sg_tensor_name(t),
					     .shape = e->dims,
					     .ndim = ndim > 0 ? (uint32_t)ndim : 0,
					     .is_unranked = ndim < 0};
	if (!msd_dtype_parse(dtype, strlen(dtype), &e->about.dtype)) {
		return msd_diag_set(d, MSD_UNSUPPORTED, "\"%s\" is %s", e->about.name,
				    dtype);
	}
	for (int i = 0; i < ndim; i++)
		e->dims[i] = modser_sg_tensor_dims(t)[i];
	return MSD_OK;
}

static msd_err default_init(struct end *e, const struct msd_sg_default *f,
			    struct msd_diag *d)
{
	const modser_sg_tensor *t = f->value;
	const msd_err err = end_init(e, f->declared, false, d);
	uint64_t bytes;

	e->tensor = (struct msd_dltensor){
		.data = (void *)(uintptr_t)modser_sg_tensor_data(t, &bytes),
		.device = {MSD_DEV_CPU, 0},
		.ndim = modser_sg_tensor_ndim(t),
		.dtype = e->about.dtype,
		.shape = (int64_t *)(uintptr_t)modser_sg_tensor_dims(t)};
	e->value = (struct msd_any){.type = MSD_T_DLTENSOR, .as.dl = &e->tensor};
	return err;
}

static msd_err ends_init(struct msd_static_model *m, struct msd_diag *d)
{
	const size_t n_in = modser_graph_input_count(m->graph);
	const size_t n_out = modser_graph_output_count(m->graph);
	const size_t n_defaults = msd_static_model_n_defaults(m);
	msd_err err = MSD_OK;

	m->inputs = calloc(n_in + n_defaults + 1, sizeof(*m->inputs));
	m->outputs = calloc(n_out + 1, sizeof(*m->outputs));
	m->in = calloc(n_in + 1, sizeof(*m->in));
	if (m->inputs == NULL || m->outputs == NULL || m->in == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; err == MSD_OK && i < n_in; i++) {
		err = end_init(&m->inputs[i], modser_graph_input(m->graph, i), false,
			       d);
	}
	for (size_t i = 0; err == MSD_OK && i < n_defaults; i++) {
		err = default_init(&m->inputs[n_in + i], msd_sg_default_at(m->graph, i),
				   d);
	}
	for (size_t i = 0; err == MSD_OK && i < n_out; i++) {
		err = end_init(&m->outputs[i], modser_graph_output(m->graph, i), true,
			       d);
	}
	return err;
}

static msd_err create(struct msd_span file, const struct msd_load_options *options,
		      bool opens, struct msd_static_model **ret, struct msd_diag *d)
{
	struct msd_static_model *m = calloc(1, sizeof(*m));

	if (m == NULL)
		return msd_diag_no_memory(d);
	m->is_open = opens;
	m->file = file;
	m->options = *options;
	msd_engine_choose(options->run.engine);
	msd_err err = load(m, file, options, opens, d);
	if (err == MSD_OK)
		err = fix_inputs(m, options, d);
	if (err == MSD_OK)
		err = pass(m, d);
	if (err == MSD_OK)
		err = msd_plan_create(m->graph, &m->plan, d);
	if (err == MSD_OK)
		msd_plan_pack(m->plan);
	if (err == MSD_OK)
		err = ends_init(m, d);
	if (err != MSD_OK) {
		msd_static_model_destroy(m);
		return err;
	}
	*ret = m;
	return MSD_OK;
}

msd_err msd_static_model_create(struct msd_span file,
				const struct msd_load_options *options,
				struct msd_static_model **ret, struct msd_diag *d)
{
	return create(file, options, false, ret, d);
}

void msd_static_model_destroy(struct msd_static_model *m)
{
	if (m == NULL)
		return;
	msd_static_model_destroy(m->open);
	msd_plan_destroy(m->plan);
	modser_graph_destroy(m->graph);
	msd_sg_tally_finish(&m->tally);
	free(m->inputs);
	free(m->outputs);
	free(m->in);
	free(m);
}

void msd_static_model_text(const struct msd_static_model *m, struct msd_buf *out)
{
	msd_sg_inspect_text_of(m->graph, &m->tally, out);
	msd_passed_text(&m->passed, out);
}

struct msd_plan *msd_static_model_plan(const struct msd_static_model *m)
{
	return m->plan;
}

uint32_t msd_static_model_n_defaults(const struct msd_static_model *m)
{
	return m->is_open ? 0 : (uint32_t)msd_sg_default_count(m->graph);
}

/* Number of inputs of the graph: every call gives them. */
static uint32_t n_needed(const struct msd_static_model *m)
{
	return (uint32_t)modser_graph_input_count(m->graph);
}

uint32_t msd_static_model_n_inputs(const struct msd_static_model *m)
{
	return n_needed(m) + msd_static_model_n_defaults(m);
}

uint32_t msd_static_model_n_outputs(const struct msd_static_model *m)
{
	return (uint32_t)modser_graph_output_count(m->graph);
}

struct msd_model_tensor msd_static_model_input(const struct msd_static_model *m,
					       uint32_t i)
{
	return m->inputs[i].about;
}

const struct msd_any *msd_static_model_default(const struct msd_static_model *m,
					       uint32_t i)
{
	return i < n_needed(m) ? NULL : &m->inputs[i].value;
}

struct msd_model_tensor msd_static_model_output(const struct msd_static_model *m,
						uint32_t i)
{
	return m->outputs[i].about;
}

/* Set the names of all of @about's extents in order, borrowed from the graph. */
static void name_dims(struct msd_model_tensor *about, const modser_sg_tensor *t,
		      const char **names)
{
	about->dim_names = names;
	for (uint32_t i = 0; i < about->ndim; i++)
		names[i] = modser_sg_tensor_dim_name(t, i);
}

static const modser_sg_tensor *input_tensor(const struct msd_static_model *m,
					    uint32_t i)
{
	return i < n_needed(m) ? modser_graph_input(m->graph, i)
			       : msd_sg_default_at(m->graph, i - n_needed(m))->declared;
}

msd_err msd_static_model_signature(const struct msd_static_model *m,
				   struct msd_signature *ret, struct msd_diag *d)
{
	const uint32_t n_in = msd_static_model_n_inputs(m);
	const uint32_t n_out = msd_static_model_n_outputs(m);
	struct msd_model_tensor *tensors =
		calloc((size_t)n_in + n_out + 1, sizeof(*tensors));
	const char *(*names)[MSD_MAX_NDIM] =
		calloc((size_t)n_in + n_out + 1, sizeof(*names));
	const struct msd_model_io io = {tensors, n_in, tensors + n_in, n_out,
					msd_static_model_n_defaults(m)};

	if (tensors == NULL || names == NULL) {
		free(tensors);
		free((void *)names);
		return msd_diag_no_memory(d);
	}
	for (uint32_t i = 0; i < n_in; i++) {
		tensors[i] = msd_static_model_input(m, i);
		name_dims(&tensors[i], input_tensor(m, i), names[i]);
	}
	for (uint32_t i = 0; i < n_out; i++) {
		tensors[n_in + i] = msd_static_model_output(m, i);
		name_dims(&tensors[n_in + i], modser_graph_output(m->graph, i),
			  names[n_in + i]);
	}
	const msd_err err = msd_model_signature("run", &io, ret, d);
	free(tensors);
	free((void *)names);
	return err;
}

/* Make output @i: the plan's last kernel writes into it. */
static void *make_output(void *ctx, size_t i, const modser_sg_tensor *t)
{
	const struct run *run = ctx;
	struct msd_tensor *out =
		run->make(run->m->outputs[i].about.dtype, modser_sg_tensor_dims(t),
			  (uint32_t)modser_sg_tensor_ndim(t));

	if (out == NULL)
		return NULL;
	run->outputs[i] = msd_of_obj(&out->obj);
	return out->dl.data;
}

static struct msd_plan_input given(const struct msd_any *v)
{
	const struct msd_dltensor *t = msd_any_dltensor(v);

	return (struct msd_plan_input){(const char *)t->data + t->byte_offset, t->shape,
				       (size_t)t->ndim, t->dtype};
}

/* Run on the inputs in m->in. */
static int run_plan(struct msd_static_model *m, msd_make_tensor *make,
		    struct msd_any *outputs)
{
	const uint32_t n_out = msd_static_model_n_outputs(m);
	struct run run = {m, make, outputs};
	const struct msd_plan_args args = {m->in, make_output, &run};
	struct msd_diag d = {0};

	for (uint32_t i = 0; i < n_out; i++)
		outputs[i] = msd_none();
	const msd_err err = msd_plan_call(m->plan, &args, &d);
	if (err == MSD_OK)
		return 0;
	for (uint32_t i = 0; i < n_out; i++)
		msd_any_drop(&outputs[i]);
	return msd_instance_raise(&d, err);
}

/* Run with the given values of the defaults of @m, of which at least one is given. */
static int run_open(struct msd_static_model *m, const struct msd_any *inputs,
		    uint32_t n, msd_make_tensor *make, struct msd_any *outputs)
{
	const uint32_t n_all = msd_static_model_n_inputs(m);
	struct msd_static_model *open = m->open;
	struct msd_diag d = {0};
	msd_err err = MSD_OK;

	if (open == NULL)
		err = create(m->file, &m->options, true, &open, &d);
	if (err != MSD_OK || open == NULL) {
		err = msd_diag_wrap(&d, err, "with another value of an initializer");
		return msd_instance_raise(&d, err);
	}
	m->open = open;
	for (uint32_t i = 0; i < n_all; i++) {
		open->in[i] = i < n && inputs[i].type != MSD_T_NONE
				      ? given(&inputs[i])
				      : given(&m->inputs[i].value);
	}
	return run_plan(open, make, outputs);
}

int msd_static_model_run(struct msd_static_model *m, const struct msd_any *inputs,
			 uint32_t n, msd_make_tensor *make, struct msd_any *outputs)
{
	const uint32_t n_in = n_needed(m);

	for (uint32_t i = n_in; i < n; i++) {
		if (inputs[i].type != MSD_T_NONE)
			return run_open(m, inputs, n, make, outputs);
	}
	for (uint32_t i = 0; i < n_in; i++)
		m->in[i] = given(&inputs[i]);
	return run_plan(m, make, outputs);
}
