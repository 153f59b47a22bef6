/* Store a graph into memory or into files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/serializer.h"

int modser_serializer_store_memory(const modser_serializer *s, modser_graph *graph,
				   modser_part *ret_parts, size_t n)
{
	if (s == NULL || graph == NULL || ret_parts == NULL)
		return msd_sg_null(graph, "the serializer, or ret_parts,");
	if (s->ops->store == NULL) {
		return msd_sg_fail(graph, MSD_UNSUPPORTED, "%s does not write files",
				   s->ops->name);
	}
	if (n != s->ops->n_files) {
		return msd_sg_fail(graph, MSD_BAD_ARGUMENT,
				   "%s writes %u files, %zu given", s->ops->name,
				   s->ops->n_files, n);
	}
	if (msd_const_read_all(graph) != 0 || modser_graph_check(graph) != 0)
		return -1;
	return s->ops->store(s, graph, ret_parts);
}

int modser_serializer_split(const modser_serializer *s, const modser_part *model,
			    const char *name, modser_graph *graph,
			    modser_part *ret_model, modser_part *ret_data)
{
	if (s == NULL || model == NULL || name == NULL || graph == NULL ||
	    ret_model == NULL || ret_data == NULL) {
		return msd_sg_null(
			graph, "the serializer, model, name, ret_model or ret_data");
	}
	if (s->ops->split == NULL) {
		return msd_sg_fail(graph, MSD_UNSUPPORTED,
				   "%s has no files of weights alone", s->ops->name);
	}
	return s->ops->split(model, name, graph, ret_model, ret_data);
}

static int write_part(modser_graph *graph, const char *path, const modser_part *part)
{
	FILE *f = fopen(path, "wbe");

	if (f == NULL)
		return msd_sg_fail(graph, MSD_IO, "%s: %s", path, strerror(errno));
	const bool is_written = fwrite(part->data, 1, part->bytes, f) == part->bytes;
	if (fclose(f) != 0 || !is_written)
		return msd_sg_fail(graph, MSD_IO, "%s: %s", path, strerror(errno));
	return 0;
}

int modser_serializer_store_files(const modser_serializer *s, modser_graph *graph,
				  const char *const *paths, size_t n)
{
	if (s == NULL || graph == NULL || paths == NULL)
		return msd_sg_null(graph, "the serializer, or paths,");
	for (size_t i = 0; i < n; i++) {
		if (paths[i] == NULL)
			return msd_sg_null(graph, "a path");
	}
	modser_part *parts = calloc(n + 1, sizeof(*parts));

	if (parts == NULL)
		return msd_sg_no_memory(graph);
	int result = modser_serializer_store_memory(s, graph, parts, n);
	for (size_t i = 0; result == 0 && i < n; i++)
		result = write_part(graph, paths[i], &parts[i]);
	for (size_t i = 0; i < n; i++)
		free((void *)(uintptr_t)parts[i].data);
	free(parts);
	return result;
}
