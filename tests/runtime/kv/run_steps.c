/*
 * run_steps LIBRARY: calls functions of a library and packed functions of the runtime
 * as a peer on stdin says, so that objects stay between calls. Values have numbers. A
 * command is a line; a tensor's bytes follow its line:
 *
 *   int NUMBER VALUE           shape NUMBER EXTENT...
 *   tuple NUMBER OF...         item NUMBER OF INDEX
 *   tensor NUMBER DTYPE BYTES EXTENT...
 *   text NUMBER BYTES          the text follows
 *   call NUMBER NAME OF...     answers "ok", or "error TEXT"
 *   get NUMBER                 answers "int VALUE", or "tensor DTYPE BYTES EXTENT..."
 * and the bytes
 *
 * For tests that compare language models with TVM (steps.py).
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/load/loaded.h"
#include "runtime/packed/global.h"
#include "runtime/value/error.h"
#include "tests/runtime/relax/npy.h"

#define MAX_VALUES 4096
#define MAX_WORDS 1024

struct peer {
	struct msd_loaded *m;
	struct msd_any values[MAX_VALUES];
	char *words[MAX_WORDS];
	size_t n_words;
};

static struct msd_any *value_at(struct peer *p, size_t word)
{
	const long i = word < p->n_words ? atol(p->words[word]) : -1;

	if (i < 0 || i >= MAX_VALUES) {
		(void)fprintf(stderr, "no value %ld\n", i);
		exit(2);
	}
	return &p->values[i];
}

static void value_put(struct peer *p, struct msd_any v)
{
	struct msd_any *at = value_at(p, 1);

	msd_any_drop(at);
	*at = v;
}

static size_t extents(struct peer *p, size_t from, int64_t *dim, size_t max)
{
	size_t n = 0;

	for (size_t i = from; i < p->n_words && n < max; i++)
		dim[n++] = atoll(p->words[i]);
	return n;
}

static void put_shape(struct peer *p)
{
	int64_t dim[MAX_WORDS];
	const size_t n = extents(p, 2, dim, MAX_WORDS);

	value_put(p, msd_of_obj(&msd_shape_new(dim, n)->obj));
}

static void put_tensor(struct peer *p)
{
	struct msd_dtype dtype = {0};
	int64_t dim[MSD_MAX_NDIM];
	const size_t n = extents(p, 4, dim, MSD_MAX_NDIM);
	const size_t bytes = (size_t)atoll(p->words[3]);

	if (!msd_dtype_parse(p->words[2], strlen(p->words[2]), &dtype))
		exit(2);
	struct msd_tensor *t = msd_tensor_new(dtype, dim, n);
	if (t == NULL || msd_dltensor_bytes(&t->dl) != bytes ||
	    fread(t->dl.data, 1, bytes, stdin) != bytes)
		exit(2);
	value_put(p, msd_of_obj(&t->obj));
}

static void put_text(struct peer *p)
{
	const size_t n = (size_t)atoll(p->words[2]);
	char *text = malloc(n + 1);

	if (text == NULL || fread(text, 1, n, stdin) != n)
		exit(2);
	value_put(p, msd_of_obj(&msd_str_new(text, n, MSD_T_STR)->obj));
	free(text);
}

static void put_tuple(struct peer *p)
{
	struct msd_array *a = msd_array_new(p->n_words - 2);

	for (size_t i = 2; i < p->n_words; i++) {
		if (!msd_any_copy(value_at(p, i), &a->items[i - 2]))
			exit(2);
	}
	value_put(p, msd_of_obj(&a->obj));
}

static void put_item(struct peer *p)
{
	const struct msd_any *of = value_at(p, 2);
	const struct msd_array *a = of->as.p;
	struct msd_any v;

	if (of->type != MSD_T_ARRAY || atoll(p->words[3]) >= a->size ||
	    !msd_any_copy(&a->items[atoll(p->words[3])], &v))
		exit(2);
	value_put(p, v);
}

static msd_err call(struct peer *p, struct msd_any *ret, struct msd_diag *d)
{
	const struct msd_func_info *info;
	struct msd_any args[64];
	const size_t n = p->n_words - 3;
	struct msd_function *fn = msd_global_find(p->words[2]);
	msd_err err = MSD_OK;

	if (n > 64)
		exit(2);
	for (size_t i = 0; i < n; i++)
		args[i] = *value_at(p, i + 3);
	if (fn != NULL) {
		return fn->call(fn, args, (int32_t)n, ret) == 0
			       ? MSD_OK
			       : msd_abi_fetch_error(d);
	}
	err = msd_loaded_find(p->m, p->words[2], &info, &fn, d);
	return err == MSD_OK ? msd_loaded_call(p->m, fn, args, n, ret, d) : err;
}

static void do_call(struct peer *p)
{
	struct msd_any ret = msd_none();
	struct msd_diag d = {0};

	if (call(p, &ret, &d) == MSD_OK) {
		value_put(p, ret);
		(void)printf("ok\n");
	} else {
		(void)printf("error ");
		for (const char *c = msd_diag_text(&d); *c != '\0'; c++)
			(void)putchar(*c == '\n' ? ' ' : *c);
		(void)printf("\n");
	}
	msd_diag_finish(&d);
}

static void do_get(struct peer *p)
{
	const struct msd_any *v = value_at(p, 1);
	const struct msd_dltensor *t = msd_any_dltensor(v);
	char name[MSD_DTYPE_NAME_MAX];
	struct msd_span text;

	if (msd_any_str(v, &text)) {
		(void)printf("text %zu\n", text.n);
		(void)fwrite(text.p, 1, text.n, stdout);
		return;
	}
	if (t == NULL) {
		(void)printf("int %lld\n", (long long)v->as.i);
		return;
	}
	const size_t bytes = msd_dltensor_bytes(t);
	(void)printf("tensor %s %zu", msd_dtype_format(t->dtype, name), bytes);
	for (int32_t i = 0; i < t->ndim; i++)
		(void)printf(" %lld", (long long)t->shape[i]);
	(void)printf("\n");
	(void)fwrite((const char *)t->data + t->byte_offset, 1, bytes, stdout);
}

static void command(struct peer *p, char *line)
{
	static const struct {
		const char *name;
		void (*run)(struct peer *p);
	} commands[] = {{"shape", put_shape}, {"tensor", put_tensor},
			{"text", put_text},   {"tuple", put_tuple},
			{"item", put_item},   {"call", do_call},
			{"get", do_get}};
	char *save = NULL;

	p->n_words = 0;
	for (char *w = strtok_r(line, " \n", &save);
	     w != NULL && p->n_words < MAX_WORDS; w = strtok_r(NULL, " \n", &save))
		p->words[p->n_words++] = w;
	if (p->n_words == 3 && strcmp(p->words[0], "int") == 0)
		value_put(p, msd_int(atoll(p->words[2])));
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (p->n_words > 0 && strcmp(p->words[0], commands[i].name) == 0)
			commands[i].run(p);
	}
	(void)fflush(stdout);
}

int main(int argc, char **argv)
{
	static struct peer p;
	struct msd_diag d = {0};
	char *line = NULL;
	size_t cap = 0;

	if (argc != 2)
		return 2;
	struct msd_buf file = file_read(argv[1]);
	const int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	const struct msd_load_options options = {.label = argv[1]};
	if (msd_loaded_open(fd, (struct msd_span){file.p, file.n}, &options, &p.m,
			    &d) != MSD_OK) {
		(void)fprintf(stderr, "%s\n", msd_diag_text(&d));
		return 1;
	}
	while (getline(&line, &cap, stdin) > 0)
		command(&p, line);
	for (size_t i = 0; i < MAX_VALUES; i++)
		msd_any_drop(&p.values[i]);
	free(line);
	msd_loaded_close(p.m);
	(void)close(fd);
	msd_buf_finish(&file);
	msd_diag_finish(&d);
	return 0;
}
