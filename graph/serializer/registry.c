/* The manager and the factory. One lock guards both lists; a removed serializer lives
 * on until its last reference is released. */
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/serializer.h"
#include "proto/base/grow.h"

struct row {
	char *key;
	modser_serializer *serializer;
};
struct maker {
	char *key;
	modser_serializer_make *make;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct row *rows;
static size_t n_rows;
static struct maker *makers;
static size_t n_makers;
static bool has_own; /* whether the built-in serializers are registered */

static struct row *find_row(const char *key)
{
	for (size_t i = 0; i < n_rows; i++) {
		if (strcmp(rows[i].key, key) == 0)
			return &rows[i];
	}
	return NULL;
}

static int add_row(const char *key, modser_serializer *s)
{
	char *copy = find_row(key) == NULL ? msd_sg_copy(key, strlen(key)) : NULL;

	if (copy == NULL || !msd_grow(&rows, n_rows, sizeof(*rows))) {
		free(copy);
		return -1;
	}
	rows[n_rows++] = (struct row){copy, msd_serializer_ref(s)};
	return 0;
}

/* The built-in serializers by their keys. */
static const struct {
	const char *key;
	const modser_serializer_ops *ops;
} own[] = {
	{"tengine", &msd_tmfile_serializer},
	{"onnx", &msd_onnx_serializer},
	{"caffe", &msd_caffe_serializer},
	{"caffe_single", &msd_caffe_single_serializer},
	{"mxnet", &msd_mxnet_serializer},
	{"tflite", &msd_tflite_serializer},
	{"tensorflow", &msd_tensorflow_serializer},
};
#define N_OWN (sizeof(own) / sizeof(own[0]))

static bool is_own(const char *key)
{
	size_t i = 0;

	while (i < N_OWN && strcmp(own[i].key, key) != 0)
		i++;
	return i < N_OWN;
}

/* Register each built-in format under its key. If memory is short, the next call
 * retries. */
static void enter(void)
{
	(void)pthread_mutex_lock(&lock);
	if (has_own)
		return;
	has_own = true;
	for (size_t i = 0; i < N_OWN; i++) {
		modser_serializer *s = modser_serializer_create(own[i].ops);

		if (find_row(own[i].key) == NULL &&
		    (s == NULL || add_row(own[i].key, s) != 0))
			has_own = false;
		modser_serializer_unref(s);
	}
}

static void leave(void)
{
	(void)pthread_mutex_unlock(&lock);
}

int modser_serializer_add(const char *key, modser_serializer *s)
{
	if (key == NULL || s == NULL)
		return -1;
	enter();
	int result = add_row(key, s);
	leave();
	return result;
}

modser_serializer *modser_serializer_get(const char *key)
{
	if (key == NULL)
		return NULL;
	enter();
	const struct row *row = find_row(key);
	modser_serializer *s = row != NULL ? msd_serializer_ref(row->serializer) : NULL;
	leave();
	return s;
}

modser_serializer *modser_serializer_named(const char *word)
{
	if (word == NULL)
		return NULL;
	static const struct {
		const char *ending, *key;
	} endings[] = {{"tmfile", "tengine"}};
	modser_serializer *s = modser_serializer_get(word);

	for (size_t i = 0; s == NULL && i < sizeof(endings) / sizeof(endings[0]); i++) {
		if (strcmp(endings[i].ending, word) == 0)
			s = modser_serializer_get(endings[i].key);
	}
	return s;
}

int modser_serializer_replace(const char *key, modser_serializer *s)
{
	if (key == NULL || s == NULL)
		return -1;
	modser_serializer *old = NULL;

	enter();
	struct row *row = find_row(key);
	if (row != NULL) {
		old = row->serializer;
		row->serializer = msd_serializer_ref(s);
	}
	leave();
	modser_serializer_unref(old);
	return old != NULL ? 0 : -1;
}

int modser_serializer_remove(const char *key)
{
	if (key == NULL)
		return -1;
	modser_serializer *old = NULL;

	enter();
	struct row *row = find_row(key);
	if (row != NULL) {
		old = row->serializer;
		free(row->key);
		n_rows--;
		memmove(row, row + 1, (size_t)(rows + n_rows - row) * sizeof(*row));
	}
	leave();
	modser_serializer_unref(old);
	return old != NULL ? 0 : -1;
}

modser_serializer *modser_serializer_at(size_t i, char **ret_key)
{
	if (ret_key == NULL)
		return NULL;
	modser_serializer *s = NULL;

	enter();
	char *key = i < n_rows ? msd_sg_copy(rows[i].key, strlen(rows[i].key)) : NULL;
	if (key != NULL) {
		s = msd_serializer_ref(rows[i].serializer);
		*ret_key = key;
	}
	leave();
	return s;
}

modser_serializer *modser_serializer_probe(const void *head, size_t bytes)
{
	if (head == NULL)
		return NULL;
	modser_serializer *s = NULL;

	enter();
	for (size_t i = 0; i < n_rows && s == NULL; i++) {
		if (rows[i].serializer->ops->probe(head, bytes))
			s = msd_serializer_ref(rows[i].serializer);
	}
	leave();
	return s;
}

static struct maker *find_maker(const char *key)
{
	for (size_t i = 0; i < n_makers; i++) {
		if (strcmp(makers[i].key, key) == 0)
			return &makers[i];
	}
	return NULL;
}

int modser_factory_register(const char *key, modser_serializer_make *make)
{
	if (key == NULL || make == NULL)
		return -1;
	int result = -1;

	enter();
	char *copy = find_maker(key) == NULL && !is_own(key)
			     ? msd_sg_copy(key, strlen(key))
			     : NULL;
	if (copy != NULL && msd_grow(&makers, n_makers, sizeof(*makers))) {
		makers[n_makers++] = (struct maker){copy, make};
		copy = NULL;
		result = 0;
	}
	leave();
	free(copy);
	return result;
}

modser_serializer *modser_factory_create(const char *key)
{
	if (key == NULL)
		return NULL;
	enter();
	const struct maker *maker = find_maker(key);
	modser_serializer_make *make = maker != NULL ? maker->make : NULL;
	leave();
	if (make != NULL)
		return make();
	for (size_t i = 0; i < N_OWN; i++) {
		if (strcmp(own[i].key, key) == 0)
			return modser_serializer_create(own[i].ops);
	}
	return NULL;
}
