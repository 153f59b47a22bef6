#ifndef MSD_GRAPH_SERIALIZER_OPERATORS_H
#define MSD_GRAPH_SERIALIZER_OPERATORS_H
/* Which operators a serializer can read and write. */
#include "graph/modser_graph.h"
#include "proto/err.h"

/* Names in the order of their bytes, each once. */
struct msd_operators {
	char **names;
	size_t n;
};

/**
 * The operators that models of the format of @s may have, by the names that these have
 * in its files, or those of a graph that can be stored, by the graph's. Of a serializer
 * that is not the project's only those are known that have a method of their own.
 * False: memory is short. Finish *@ret in any case.
 */
MSD_MUST_CHECK bool msd_operators_loaded(const modser_serializer *s,
					 struct msd_operators *ret);
MSD_MUST_CHECK bool msd_operators_stored(const modser_serializer *s,
					 struct msd_operators *ret);
void msd_operators_finish(struct msd_operators *o);
/** Add @name to @o for a format that lists its own; twice is fine. */
MSD_MUST_CHECK bool msd_operators_add(struct msd_operators *o, const char *name);

/* Those of the project's formats, methods apart. */
MSD_MUST_CHECK bool msd_tmfile_operators(struct msd_operators *ret);
MSD_MUST_CHECK bool msd_onnx_operators_loaded(struct msd_operators *ret);
MSD_MUST_CHECK bool msd_onnx_operators_stored(struct msd_operators *ret);

#endif
