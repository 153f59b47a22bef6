#ifndef MSD_GRAPH_INSPECT_INSPECT_H
#define MSD_GRAPH_INSPECT_INSPECT_H
/* What a graph holds, for people and as a picture. */
#include "graph/modser_graph.h"
#include "proto/bytes.h"
#include "proto/err.h"

/** Append inputs, outputs, operators with their counts, and constants as text. */
void msd_sg_inspect_text(const modser_graph *g, struct msd_buf *out);
/** The same with operators and constants as @tally has them, taken before passes. */
struct msd_sg_tally;
void msd_sg_inspect_text_of(const modser_graph *g, const struct msd_sg_tally *tally,
			    struct msd_buf *out);
/** The nodes and what goes between them for Graphviz, without constants. */
void msd_sg_inspect_dot(const modser_graph *g, struct msd_buf *out);

/** The bytes of the arena that a run of @g needs for what it computes, beside
 * constants, inputs and copies of outputs. The shapes of @g's tensors become those of a
 * run as far as they follow. Returns 0; 1 when they follow in a run alone, where each
 * tensor has memory of its own; -1 with @g's error: they cannot be, or memory is short.
 */
MSD_MUST_CHECK int msd_sg_inspect_run(modser_graph *g, uint64_t *ret);
/** Append that as a line of the text; what is not known is said so. */
void msd_sg_inspect_run_text(modser_graph *g, struct msd_buf *out);

/** Number @i of what the file says of itself (its opset, who wrote it): a number or a
 * text, and its name in *@ret_name; others are left out. NULL: there are fewer. */
const modser_sg_attr *msd_sg_inspect_attr(const modser_graph *g, size_t i,
					  const char **ret_name);

#endif
