/*
 * Eight threads load models through one serializer of each format, while others add,
 * get, replace and remove serializers: under ThreadSanitizer, which Criterion does not
 * start under.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph/modser_graph.h"

#define N_THREADS 8
#define N_LOADS 50

#define N_FILES 3

static const struct format {
	const char *key;
	const char *paths[N_FILES];
} formats[] = {
	{"tengine",
	 {MSD_SOURCE_DIR "/tests/corpus/tmfile/accept_net.bin",
	  MSD_SOURCE_DIR "/tests/corpus/tmfile/accept_attributes_and_scales.bin",
	  MSD_SOURCE_DIR "/tests/graph/golden/vgg16_benchmark.tmfile"}},
	{"onnx",
	 {MSD_SOURCE_DIR "/tests/corpus/onnx/accept_conv.bin",
	  MSD_SOURCE_DIR "/tests/corpus/onnx/accept_einsum.bin",
	  MSD_SOURCE_DIR "/tests/corpus/onnx/accept_loop.bin"}},
};

/* What all threads share. */
struct shared {
	const struct format *format;
	modser_serializer *s;
	modser_graph *wanted[N_FILES];
};

static modser_graph *load(const struct shared *all, size_t i)
{
	const modser_model_options options = {.fill = MODSER_FILL_LEAVE};
	modser_graph *g = modser_graph_create("");

	if (g == NULL || modser_serializer_load_files(all->s, &all->format->paths[i], 1,
						      &options, g) != 0)
		abort();
	return g;
}

static void *load_many(void *arg)
{
	const struct shared *all = arg;
	const char *key = all->format->key;

	for (size_t i = 0; i < N_LOADS; i++) {
		modser_graph *g = load(all, i % N_FILES);

		if (!modser_graph_equal(g, all->wanted[i % N_FILES]))
			abort();
		modser_graph_destroy(g);
		modser_serializer *found = modser_serializer_get(key);
		if (found != NULL)
			(void)modser_serializer_replace(key, found);
		modser_serializer_unref(found);
		if (i == N_LOADS / 2)
			(void)modser_serializer_remove(key);
	}
	return NULL;
}

static void run(const struct format *format)
{
	struct shared all = {.format = format, .s = modser_serializer_get(format->key)};
	pthread_t threads[N_THREADS];

	for (size_t i = 0; i < N_FILES; i++)
		all.wanted[i] = load(&all, i);
	for (int i = 0; i < N_THREADS; i++) {
		if (pthread_create(&threads[i], NULL, load_many, &all) != 0)
			abort();
	}
	for (int i = 0; i < N_THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	for (size_t i = 0; i < N_FILES; i++)
		modser_graph_destroy(all.wanted[i]);
	modser_serializer_unref(all.s);
	(void)printf("%s: %d loads\n", format->key, N_THREADS * N_LOADS);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		run(&formats[i]);
	return 0;
}
