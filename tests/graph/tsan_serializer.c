/*
 * Eight threads load models through one serializer, while others add, get, replace and
 * remove serializers: under ThreadSanitizer, which Criterion does not start under.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph/modser_graph.h"

#define N_THREADS 8
#define N_LOADS 50

static const char *const paths[] = {
	MSD_SOURCE_DIR "/tests/corpus/tmfile/accept_net.bin",
	MSD_SOURCE_DIR "/tests/corpus/tmfile/accept_attributes_and_scales.bin",
	MSD_SOURCE_DIR "/tests/graph/golden/vgg16_benchmark.tmfile",
};
static modser_graph *wanted[3];

static modser_graph *load(const modser_serializer *s, size_t i)
{
	const modser_model_options options = {MODSER_FILL_LEAVE};
	modser_graph *g = modser_graph_create("");

	if (g == NULL || modser_serializer_load_files(s, &paths[i], 1, &options, g))
		abort();
	return g;
}

static void *load_many(void *arg)
{
	modser_serializer *s = arg;

	for (size_t i = 0; i < N_LOADS; i++) {
		modser_graph *g = load(s, i % 3);

		if (!modser_graph_equal(g, wanted[i % 3]))
			abort();
		modser_graph_destroy(g);
		modser_serializer *found = modser_serializer_get("tengine");
		if (found != NULL)
			(void)modser_serializer_replace("tengine", found);
		modser_serializer_unref(found);
		if (i == N_LOADS / 2)
			(void)modser_serializer_remove("tengine");
	}
	return NULL;
}

int main(void)
{
	modser_serializer *s = modser_serializer_get("tengine");
	pthread_t threads[N_THREADS];

	for (size_t i = 0; i < 3; i++)
		wanted[i] = load(s, i);
	for (int i = 0; i < N_THREADS; i++) {
		if (pthread_create(&threads[i], NULL, load_many, s) != 0)
			abort();
	}
	for (int i = 0; i < N_THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	for (size_t i = 0; i < 3; i++)
		modser_graph_destroy(wanted[i]);
	modser_serializer_unref(s);
	(void)printf("%d loads\n", N_THREADS * N_LOADS);
	return 0;
}
