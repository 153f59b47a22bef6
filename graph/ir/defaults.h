#ifndef MSD_GRAPH_IR_DEFAULTS_H
#define MSD_GRAPH_IR_DEFAULTS_H
/* Constants of a graph that a caller may replace: default values of inputs. */
#include "graph/modser_graph.h"

struct msd_sg_default {
	modser_sg_tensor *value;    /* the graph's; no pass removes it */
	modser_sg_tensor *declared; /* owned; no tensor of the graph: the type that
				       other values must have */
};

/** Let the load of @g read its defaults as the last inputs; call it before the load. */
void msd_sg_open_defaults(modser_graph *g);
/**
 * Note that a caller may replace the constant @value, and return a tensor that has its
 * type, for the caller to change. NULL: memory is short.
 */
modser_sg_tensor *msd_sg_add_default(modser_graph *g, modser_sg_tensor *value);
size_t msd_sg_default_count(const modser_graph *g);
/** The default @i, in the order of the file. */
const struct msd_sg_default *msd_sg_default_at(const modser_graph *g, size_t i);

#endif
