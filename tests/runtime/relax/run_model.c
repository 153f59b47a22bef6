/*
 * run_model LIBRARY FUNCTION [-d DEVICE] [-n RUNS] [-o OUT.npy]... ARG...
 * An ARG is IN.npy, int:V, float:V, shape:V,V, str:T, none, or a tuple of them: (
 * ARG... ). Loads a library, calls one of its functions, writes the tensors of its
 * result (tuples depth first) to the -o files. With -d the module is placed on
 * DEVICE, its tensors too; results come back. With -n it repeats the call and prints
 * the median time. For tests that compile models with TVM, and for measuring the VM
 * without a daemon.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/device/memory.h"
#include "runtime/load/loaded.h"
#include "tests/runtime/relax/npy.h"

#define MAX_ARGS 256

struct job {
	const char *outs[MAX_ARGS];
	size_t n_outs;
	size_t n_written;
	struct msd_any args[MAX_ARGS];
	size_t n_args;
	size_t open[MAX_ARGS]; /* where tuples began */
	size_t n_open;
	int runs;
	struct msd_device device; /* type 0: none was named */
	struct msd_dev *dev;      /* NULL: the host */
};

static struct msd_any shape_read(const char *text)
{
	int64_t dim[MSD_MAX_NDIM];
	size_t n = 0;

	while (*text != '\0' && n < MSD_MAX_NDIM) {
		char *end;

		dim[n++] = strtoll(text, &end, 10);
		text = end + (*end == ',');
	}
	return msd_of_obj(&msd_shape_new(dim, n)->obj);
}

/* What stands behind "(": the arguments since then become one tuple. */
static bool tuple_close(struct job *j)
{
	if (j->n_open == 0)
		return false;
	size_t first = j->open[--j->n_open];
	struct msd_array *t = msd_array_new(j->n_args - first);

	for (size_t i = first; i < j->n_args; i++)
		t->items[i - first] = j->args[i]; /* moved */
	j->n_args = first;
	j->args[j->n_args++] = msd_of_obj(&t->obj);
	return true;
}

static bool npy_arg(struct job *j, const char *path)
{
	struct msd_buf b = file_read(path);
	struct msd_tensor *t = npy_read((struct msd_span){b.p, b.n});

	msd_buf_finish(&b);
	if (t == NULL) {
		(void)fprintf(stderr, "%s: not a .npy that this reads\n", path);
		return false;
	}
	j->args[j->n_args++] = msd_of_obj(&t->obj);
	return true;
}

static bool arg_read(struct job *j, const char *word)
{
	struct msd_any v = msd_none();

	if (strcmp(word, "(") == 0) {
		j->open[j->n_open++] = j->n_args;
		return true;
	}
	if (strcmp(word, ")") == 0)
		return tuple_close(j);
	if (strncmp(word, "int:", 4) == 0) {
		v = msd_int(atoll(word + 4));
	} else if (strncmp(word, "float:", 6) == 0) {
		v = msd_float(atof(word + 6));
	} else if (strncmp(word, "shape:", 6) == 0) {
		v = shape_read(word + 6);
	} else if (strncmp(word, "str:", 4) == 0) {
		v = msd_of_obj(
			&msd_str_new(word + 4, strlen(word + 4), MSD_T_STR)->obj);
	} else if (strcmp(word, "none") != 0) {
		return npy_arg(j, word);
	}
	j->args[j->n_args++] = v;
	return true;
}

static bool job_read(struct job *j, int argc, char **argv)
{
	for (int i = 3; i < argc; i++) {
		bool has_next = i + 1 < argc;

		if (j->n_args == MAX_ARGS || j->n_outs == MAX_ARGS ||
		    j->n_open == MAX_ARGS)
			return false;
		if (strcmp(argv[i], "-o") == 0 && has_next) {
			j->outs[j->n_outs++] = argv[++i];
		} else if (strcmp(argv[i], "-d") == 0 && has_next &&
			   msd_device_parse(argv[i + 1], strlen(argv[i + 1]),
					    &j->device)) {
			i++;
		} else if (strcmp(argv[i], "-n") == 0 && has_next) {
			j->runs = atoi(argv[++i]);
		} else if (!arg_read(j, argv[i])) {
			return false;
		}
	}
	return true;
}

static void value_print(const struct msd_any *v)
{
	struct msd_span text;

	if (v->type == MSD_T_INT || v->type == MSD_T_BOOL) {
		(void)printf("%lld\n", (long long)v->as.i);
	} else if (v->type == MSD_T_SHAPE) {
		const struct msd_shape *s = v->as.p;
		for (size_t i = 0; i < s->ndim; i++)
			(void)printf("%s%lld", i > 0 ? "," : "", (long long)s->dim[i]);
		(void)printf("\n");
	} else if (msd_any_str(v, &text)) {
		(void)printf("%.*s\n", (int)text.n, (const char *)text.p);
	} else {
		(void)printf("%s\n", msd_type_name(v->type));
	}
}

static bool tensor_put(struct job *j, const struct msd_dltensor *t)
{
	const char *path = j->outs[j->n_written++];
	struct msd_tensor *host;

	if (t->device.type == MSD_DEV_CPU)
		return npy_write(path, t);
	host = msd_tensor_new(t->dtype, t->shape, (size_t)t->ndim);
	bool is_ok = msd_dev_copy(NULL, host->dl.data, j->dev,
				  (char *)t->data + t->byte_offset,
				  msd_dltensor_bytes(t), NULL) == MSD_OK &&
		     msd_dev_sync(j->dev, NULL) == MSD_OK && npy_write(path, &host->dl);
	msd_obj_unref(&host->obj);
	return is_ok;
}

/* Tensors, those in tuples too, go to the device. */
static msd_err value_move(struct msd_dev *dev, struct msd_any *v, struct msd_diag *d)
{
	const struct msd_dltensor *t = msd_any_dltensor(v);
	struct msd_tensor *there = NULL;
	msd_err err = MSD_OK;

	if (v->type == MSD_T_ARRAY) {
		struct msd_array *a = v->as.p;
		for (int64_t i = 0; err == MSD_OK && i < a->size; i++)
			err = value_move(dev, &a->items[i], d);
	}
	if (t == NULL)
		return err;
	err = msd_dev_tensor(dev, t->dtype, t->shape, (size_t)t->ndim, &there, d);
	if (err == MSD_OK) {
		err = msd_dev_copy(dev, there->dl.data, NULL, t->data,
				   msd_dltensor_bytes(t), d);
	}
	if (err == MSD_OK)
		err = msd_dev_sync(dev, d);
	if (err == MSD_OK) {
		msd_any_drop(v);
		*v = msd_of_obj(&there->obj);
	}
	return err;
}

static msd_err place(struct job *j, struct msd_loaded *m, struct msd_diag *d)
{
	msd_err err = msd_loaded_place(m, j->device, d);

	if (err != MSD_OK || j->device.type == MSD_DEV_CPU)
		return err;
	err = msd_dev_open(j->device, &j->dev, d);
	for (size_t i = 0; err == MSD_OK && i < j->n_args; i++)
		err = value_move(j->dev, &j->args[i], d);
	return err;
}

/* Write what goes to a file, print the rest. */
static bool result_put(struct job *j, const struct msd_any *v)
{
	const struct msd_dltensor *t = msd_any_dltensor(v);

	if (v->type == MSD_T_ARRAY) {
		const struct msd_array *a = v->as.p;
		bool is_ok = true;

		for (int64_t i = 0; i < a->size; i++)
			is_ok = result_put(j, &a->items[i]) && is_ok;
		return is_ok;
	}
	if (t != NULL && j->n_written < j->n_outs)
		return tensor_put(j, t);
	value_print(v);
	return true;
}

static double seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(struct msd_loaded *m, struct msd_function *fn, struct job *j)
{
	double *t = calloc((size_t)j->runs, sizeof(*t));

	for (int i = 0; i < j->runs; i++) {
		struct msd_any ret = msd_none();
		double start = seconds();

		if (msd_loaded_call(m, fn, j->args, j->n_args, &ret, NULL) != MSD_OK)
			break;
		t[i] = seconds() - start;
		msd_any_drop(&ret);
	}
	qsort(t, (size_t)j->runs, sizeof(*t), by_value);
	(void)printf("median %.1f us, min %.1f us of %d runs\n", t[j->runs / 2] * 1e6,
		     t[0] * 1e6, j->runs);
	free(t);
}

static msd_err job_run(struct job *j, char **argv, struct msd_span file, int fd,
		       struct msd_diag *d)
{
	struct msd_load_options options = {.label = argv[1], .probe_signatures = true};
	const struct msd_func_info *info;
	struct msd_loaded *m = NULL;
	struct msd_function *fn;
	struct msd_any ret = msd_none();
	msd_err err = msd_loaded_open(fd, file, &options, &m, d);

	if (err == MSD_OK && j->device.type != 0)
		err = place(j, m, d);
	if (err == MSD_OK)
		err = msd_loaded_find(m, argv[2], &info, &fn, d);
	if (err == MSD_OK && j->runs > 0)
		measure(m, fn, j);
	if (err == MSD_OK)
		err = msd_loaded_call(m, fn, j->args, j->n_args, &ret, d);
	if (err == MSD_OK && !result_put(j, &ret))
		err = msd_diag_set(d, MSD_IO, "cannot write the results");
	msd_any_drop(&ret);
	msd_loaded_close(m);
	return err;
}

int main(int argc, char **argv)
{
	struct job j = {.runs = 0};
	struct msd_diag d = {0};

	if (argc < 3 || !job_read(&j, argc, argv)) {
		(void)fprintf(stderr,
			      "usage: run_model LIBRARY FUNCTION [-d DEVICE] [-n RUNS] "
			      "[-o OUT.npy]... ARG...\n");
		return 2;
	}
	struct msd_buf file = file_read(argv[1]);
	int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	msd_err err = job_run(&j, argv, (struct msd_span){file.p, file.n}, fd, &d);
	if (err != MSD_OK)
		(void)fprintf(stderr, "%s: %s\n", msd_err_name(err), msd_diag_text(&d));
	for (size_t i = 0; i < j.n_args; i++)
		msd_any_drop(&j.args[i]);
	msd_dev_close(j.dev);
	(void)close(fd);
	msd_buf_finish(&file);
	msd_diag_finish(&d);
	return err == MSD_OK ? 0 : 1;
}
