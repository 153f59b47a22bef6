/* run_graph FILE [fill]: run a model on float32 inputs from standard input, one behind
 * the other, and write its outputs in the same way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/engine/kernel.h"
#include "runtime/engine/plan.h"

static float *read_tensor(const modser_sg_tensor *t, FILE *from)
{
	const size_t n = msd_kernel_elements(t);
	float *p = calloc(n, sizeof(*p));

	if (p == NULL || fread(p, sizeof(*p), n, from) != n)
		abort();
	return p;
}

static int run(modser_graph *g)
{
	const size_t n_in = modser_graph_input_count(g);
	const size_t n_out = modser_graph_output_count(g);
	float **in = calloc(n_in + 1, sizeof(*in));
	float **out = calloc(n_out + 1, sizeof(*out));
	struct msd_plan *plan = NULL;
	struct msd_diag d = {0};
	msd_err err = msd_plan_create(g, &plan, &d);

	for (size_t i = 0; err == MSD_OK && i < n_in; i++)
		in[i] = read_tensor(modser_graph_input(g, i), stdin);
	for (size_t i = 0; err == MSD_OK && i < n_out; i++) {
		out[i] = calloc(msd_kernel_elements(modser_graph_output(g, i)),
				sizeof(float));
	}
	if (err == MSD_OK)
		err = msd_plan_run(plan, (const float *const *)in, out, &d);
	if (err != MSD_OK)
		(void)fprintf(stderr, "%s\n", msd_diag_text(&d));
	for (size_t i = 0; err == MSD_OK && i < n_out; i++) {
		(void)fwrite(out[i], sizeof(float),
			     msd_kernel_elements(modser_graph_output(g, i)), stdout);
	}
	for (size_t i = 0; i < n_in; i++)
		free(in[i]);
	for (size_t i = 0; i < n_out; i++)
		free(out[i]);
	free(in);
	free(out);
	msd_plan_destroy(plan);
	msd_diag_finish(&d);
	return err != MSD_OK;
}

/* An input without a shape gets 1, 3, 112, 112. */
static void give_shapes(modser_graph *g)
{
	const int64_t dims[] = {1, 3, 112, 112};

	for (size_t i = 0; i < modser_graph_input_count(g); i++) {
		modser_sg_tensor *t = modser_graph_input(g, i);

		if (modser_sg_tensor_ndim(t) < 0)
			(void)modser_sg_tensor_set_dims(t, dims, 4);
	}
}

int main(int argc, char **argv)
{
	const bool is_seeded = argc > 2 && strcmp(argv[2], "seeded") == 0;
	const modser_model_options options = {is_seeded ? MODSER_FILL_SEEDED
							: MODSER_FILL_REFUSE};
	const char *const path = argc > 1 ? argv[1] : "";
	modser_serializer *s = modser_serializer_get("tengine");
	modser_graph *g = modser_graph_create("");
	int result = 1;

	if (modser_serializer_load_files(s, &path, 1, &options, g) != 0) {
		(void)fprintf(stderr, "%s\n", modser_graph_error(g));
	} else {
		give_shapes(g);
		result = run(g);
	}
	modser_graph_destroy(g);
	modser_serializer_unref(s);
	return result;
}
