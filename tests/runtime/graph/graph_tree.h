#ifndef MSD_TEST_GRAPH_TREE_H
#define MSD_TEST_GRAPH_TREE_H
/*
 * A graph executor as a load makes it, without a file: a factory node over a library
 * node whose functions are C functions of the test.
 */
#include "runtime/module/node.h"
#include "runtime/value/value.h"
#include "tests/artifact/byte_writer.h"

#define TREE_MAX_FUNCS 8

struct graph_tree {
	struct msd_node graph;
	struct msd_node lib;
	struct msd_node *imports[1];
	struct msd_function funcs[TREE_MAX_FUNCS]; /* of the library */
	size_t n_funcs;
	struct bw payload;
	struct msd_diag d;
};

/** Add a library function; before graph_tree_open(). */
void graph_tree_add(struct graph_tree *t, const char *name, msd_safe_call call);
/** Open and start the factory: @json, and one float32 parameter [n] when @param is set.
 */
MSD_MUST_CHECK msd_err graph_tree_open(struct graph_tree *t, const char *json,
				       const char *param, const float *data, size_t n);
void graph_tree_close(struct graph_tree *t);
/** Call `run`; on failure the error's text is in t->d. */
MSD_MUST_CHECK msd_err graph_tree_run(struct graph_tree *t, struct msd_any *args,
				      size_t n, struct msd_any *ret);

#endif
