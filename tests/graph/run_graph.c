/* run_graph FILE [seeded] [plain]: run a model on inputs from standard input, one
 * behind the other, each after those of its extents that the file leaves open (int64),
 * and write its outputs in the same way. plain: without passes, whose work is told on
 * standard error else. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/pass/pass.h"
#include "runtime/engine/engine.h"
#include "runtime/kernel/kernel.h"
#include "runtime/plan/plan.h"

static void read_bytes(void *to, size_t n)
{
	if (n > 0 && fread(to, 1, n, stdin) != n)
		abort();
}

static size_t bytes_of(const modser_sg_tensor *t)
{
	uint64_t n = 0;

	if (!msd_sg_tensor_bytes(t, &n))
		abort();
	return (size_t)n;
}

static void *read_tensor(modser_sg_tensor *t)
{
	for (int i = 0; i < t->ndim; i++) {
		if (t->dims[i] < 0)
			read_bytes(&t->dims[i], sizeof(t->dims[i]));
	}
	const size_t n = bytes_of(t);
	void *p = calloc(n + 1, 1);
	if (p == NULL)
		abort();
	read_bytes(p, n);
	return p;
}

static void pass(modser_graph *g)
{
	const struct msd_pass_host host = {msd_kernel_compute, msd_engine_may_make};
	struct msd_passed passed;
	struct msd_buf text = {0};

	if (msd_passes_run(g, host, &passed) != 0 || modser_graph_check(g) != 0)
		abort();
	msd_passed_text(&passed, &text);
	if (text.n > 0)
		(void)fwrite(text.p, 1, text.n, stderr);
	msd_buf_finish(&text);
}

static int run(modser_graph *g, bool is_plain)
{
	void **in = calloc(g->n_inputs + 1, sizeof(*in));
	struct msd_plan *plan = NULL;
	struct msd_diag d = {0};

	if (!is_plain)
		pass(g);
	msd_err err = msd_plan_create(g, &plan, &d);
	for (size_t i = 0; err == MSD_OK && i < g->n_inputs; i++)
		in[i] = read_tensor(g->inputs[i]);
	if (err == MSD_OK)
		err = msd_plan_run(plan, (const void *const *)in, &d);
	if (err != MSD_OK)
		(void)fprintf(stderr, "%s\n", msd_diag_text(&d));
	for (size_t i = 0; err == MSD_OK && i < g->n_outputs; i++) {
		(void)fwrite(msd_plan_output(plan, i), 1,
			     bytes_of(msd_plan_output_tensor(plan, i)), stdout);
	}
	for (size_t i = 0; i < g->n_inputs; i++)
		free(in[i]);
	free(in);
	msd_plan_destroy(plan);
	msd_diag_finish(&d);
	return err != MSD_OK;
}

/* By what it holds. */
static modser_serializer *find(const char *path)
{
	uint8_t head[4096];
	FILE *f = fopen(path, "rbe");

	if (f == NULL)
		return NULL;
	const size_t n = fread(head, 1, sizeof(head), f);
	(void)fclose(f);
	return modser_serializer_probe(head, n);
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

static bool is_said(char **words, const char *word)
{
	while (*words != NULL && strcmp(*words, word) != 0)
		words++;
	return *words != NULL;
}

int main(int argc, char **argv)
{
	const modser_model_options options = {.fill = is_said(argv, "seeded")
							      ? MODSER_FILL_SEEDED
							      : MODSER_FILL_REFUSE};
	const char *const path = argc > 1 ? argv[1] : "";
	modser_serializer *s = find(path);
	modser_graph *g = modser_graph_create("");
	int result = 1;

	if (s == NULL) {
		(void)fprintf(stderr, "%s: no model\n", path);
	} else if (modser_serializer_load_files(s, &path, 1, &options, g) != 0) {
		(void)fprintf(stderr, "%s\n", modser_graph_error(g));
	} else {
		give_shapes(g);
		result = run(g, is_said(argv, "plain"));
	}
	modser_graph_destroy(g);
	modser_serializer_unref(s);
	return result;
}
