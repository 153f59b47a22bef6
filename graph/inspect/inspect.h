#ifndef MSD_GRAPH_INSPECT_INSPECT_H
#define MSD_GRAPH_INSPECT_INSPECT_H
/* Show the contents of a graph as text and as a picture. */
#include "graph/modser_graph.h"
#include "proto/base/bytes.h"
#include "proto/base/err.h"

/** Append the inputs, outputs, operators with their counts, and constants as text. */
void msd_sg_inspect_text(const modser_graph *g, struct msd_buf *out);
/** The same, with operators and constants from @tally, taken before the passes run. */
struct msd_sg_tally;
void msd_sg_inspect_text_of(const modser_graph *g, const struct msd_sg_tally *tally,
			    struct msd_buf *out);
/** Append the nodes and the tensors between them for Graphviz, without constants. */
void msd_sg_inspect_dot(const modser_graph *g, struct msd_buf *out);

/**
 * Compute the bytes of the arena for a run of @g: intermediate tensors, without
 * constants, inputs and copies of outputs. The tensors of @g get the shapes of a run
 * as far as they can be inferred. Returns 0; 1 if some shapes are known only in a
 * run, where each tensor has memory of its own; -1 with @g's error: the shapes are
 * invalid, or memory is short.
 */
MSD_MUST_CHECK int msd_sg_inspect_run(modser_graph *g, uint64_t *ret);
/** Append these bytes as a line of the text; the line says what is not known. */
void msd_sg_inspect_run_text(modser_graph *g, struct msd_buf *out);

/**
 * Attribute @i of the file (its opset, its producer): a number or a text, with its
 * name in *@ret_name. Other kinds are skipped. NULL if there are fewer.
 */
const modser_sg_attr *msd_sg_inspect_attr(const modser_graph *g, size_t i,
					  const char **ret_name);
/**
 * Input @i of those that have a default value, with the type of other values; NULL if
 * there are fewer.
 */
const modser_sg_tensor *msd_sg_inspect_default(const modser_graph *g, size_t i);
/**
 * Operator @i of the file by its name there, with the number of its nodes in *@ret_n.
 * NULL if there are fewer.
 */
const char *msd_sg_inspect_source(const modser_graph *g, size_t i, size_t *ret_n);

#endif
