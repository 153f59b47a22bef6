#ifndef MSD_GRAPH_PASS_PASS_H
#define MSD_GRAPH_PASS_PASS_H
/*
 * Passes: each simplifies a graph without changing its results, before planning. A
 * pass is a file and a row of MSD_PASSES. Passes run in that order, once each, on the
 * graph and its subgraphs. Constants stay in the file; the data that a pass creates
 * has a fixed limit, which is small except for weights that are dequantized.
 */
#include "graph/modser_graph.h"
#include "proto/base/bytes.h"
#include "proto/base/err.h"

/**
 * Compute @node, whose inputs are constants and whose outputs have known shapes, from
 * the bytes @in, one for each input, into @out. False: no kernel computes it, or it
 * fails; the node stays.
 */
typedef bool msd_pass_compute(const modser_sg_node *node, const void *const *in,
			      void *const *out);

/**
 * True if @node may become part of an operator @made that no file has. False: an
 * engine without that operator computes the node.
 */
typedef bool msd_pass_may_make(const modser_sg_node *node, const char *made);

/* Callbacks of the host. NULL: nothing is folded, everything may be created. */
struct msd_pass_host {
	msd_pass_compute *compute;
	msd_pass_may_make *may_make;
};

struct msd_pass_job {
	modser_graph *g;
	const size_t *order; /* of its nodes */
	bool is_within;      /* a subgraph: its input shapes are known only in a run */
	struct msd_pass_host host;
	uint64_t *room;         /* bytes that may still be folded in this model */
	uint64_t *weights_room; /* the same of weights in another form */
};

/* The most operators that a pass creates and no file has. */
#define MSD_PASS_MADE 5u

struct msd_pass {
	const char *what; /* description of the count, for users */
	/* The operators that it creates and no file has; NULL: no more. */
	const char *made[MSD_PASS_MADE];
	/* Returns 0, or -1 with the graph's error: memory is short. */
	int (*run)(const struct msd_pass_job *job, size_t *ret_n);
};

#define MSD_PASSES(X)                                                                  \
	X(quantize)                                                                    \
	X(fold)                                                                        \
	X(identity)                                                                    \
	X(batch_norm)                                                                  \
	X(attention)                                                                   \
	X(compose)                                                                     \
	X(fuse)

#define MSD_PASS_NUMBER(name) MSD_PASS_##name,
enum { MSD_PASSES(MSD_PASS_NUMBER) MSD_PASS_COUNT };
#undef MSD_PASS_NUMBER
#define MSD_PASS_DECLARE(name) extern const struct msd_pass msd_pass_##name;
MSD_PASSES(MSD_PASS_DECLARE)
#undef MSD_PASS_DECLARE

/* How often each pass changed the graph. */
struct msd_passed {
	size_t n[MSD_PASS_COUNT];
};

/** True if only a pass creates @op. */
bool msd_passes_make(const char *op);
/**
 * Run all passes on @g. -1 with the graph's error: memory is short, or its nodes form
 * a cycle; the graph can then only be destroyed.
 */
MSD_MUST_CHECK int msd_passes_run(modser_graph *g, struct msd_pass_host host,
				  struct msd_passed *ret);
/** Append the counts as a line; nothing if all are 0. */
void msd_passed_text(const struct msd_passed *p, struct msd_buf *out);

#endif
