#ifndef MSD_GRAPH_PASS_PASS_H
#define MSD_GRAPH_PASS_PASS_H
/*
 * Passes: each makes a graph that computes the same with less, before it is planned. A
 * pass is a file and a row of MSD_PASSES; they run in that order, once each, on the
 * graph and on those within its nodes. Constants stay where the file has them: what a
 * pass makes is small, and bounded by what it says.
 */
#include "graph/modser_graph.h"
#include "proto/bytes.h"
#include "proto/err.h"

/**
 * Compute @node, whose inputs are constants and whose outputs have their shapes: from
 * the bytes @in, one for each input, into @out. False: nobody can, or it fails, and the
 * node stays as it is.
 */
typedef bool msd_pass_compute(const modser_sg_node *node, const void *const *in,
			      void *const *out);

/**
 * May @node, as the file has it, become part of an operator @made that no file has?
 * False: somebody computes it who does not know that one.
 */
typedef bool msd_pass_may_make(const modser_sg_node *node, const char *made);

/* Who knows what a pass cannot: NULL: nothing is folded, everything may be made. */
struct msd_pass_host {
	msd_pass_compute *compute;
	msd_pass_may_make *may_make;
};

struct msd_pass_job {
	modser_graph *g;
	const size_t *order; /* of its nodes */
	bool is_within;      /* a node's graph: a run alone knows its inputs' shapes */
	struct msd_pass_host host;
	uint64_t *room; /* bytes that may still be folded in this model */
};

struct msd_pass {
	const char *what; /* it has done so often, for people */
	const char *made; /* an operator that no file has; NULL: it makes none */
	/* Returns 0, or -1 with the graph's error: memory is short. */
	int (*run)(const struct msd_pass_job *job, size_t *ret_n);
};

#define MSD_PASSES(X)                                                                  \
	X(fold)                                                                        \
	X(identity)                                                                    \
	X(batch_norm)

#define MSD_PASS_NUMBER(name) MSD_PASS_##name,
enum { MSD_PASSES(MSD_PASS_NUMBER) MSD_PASS_COUNT };
#undef MSD_PASS_NUMBER
#define MSD_PASS_DECLARE(name) extern const struct msd_pass msd_pass_##name;
MSD_PASSES(MSD_PASS_DECLARE)
#undef MSD_PASS_DECLARE

/* How often each pass did its work. */
struct msd_passed {
	size_t n[MSD_PASS_COUNT];
};

/** Is @op one that no file has, but a pass makes? */
bool msd_passes_make(const char *op);
/** Run all passes on @g. -1 with the
 * graph's error: memory is short, or its nodes go in a circle; the graph can only be
 * destroyed then. */
MSD_MUST_CHECK int msd_passes_run(modser_graph *g, struct msd_pass_host host,
				  struct msd_passed *ret);
/** Append what they did as a line; nothing when that is nothing. */
void msd_passed_text(const struct msd_passed *p, struct msd_buf *out);

#endif
