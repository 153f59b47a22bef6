#ifndef MSD_GRAPH_OP_RECURRENT_H
#define MSD_GRAPH_OP_RECURRENT_H
#include "graph/modser_graph.h"
#include "graph/op/params.h"

/* The parameters that LSTM, RNN and GRU have; borrowed. */
struct msd_op_recurrent {
	const char *direction; /* "": Tengine's form, which is only read */
	const char *activations;
	struct msd_floats alpha; /* of the activations */
	struct msd_floats beta;
	int64_t layout; /* 1: the batch is the first axis */
	bool has_clip;
	float clip;
};

struct msd_op_recurrent msd_op_recurrent_of(const modser_sg_node *node);

#endif
