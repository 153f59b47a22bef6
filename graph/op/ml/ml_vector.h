#ifndef MSD_GRAPH_OP_ML_VECTOR_H
#define MSD_GRAPH_OP_ML_VECTOR_H
#include "graph/modser_graph.h"

/* The similarity of a row and a support vector. */
enum msd_ml_likeness {
	MSD_ML_LINEAR, /* their product */
	MSD_ML_POLY,
	MSD_ML_RBF,
	MSD_ML_SIGMOID,
	MSD_ML_LIKENESS_COUNT
};

/** The node's parameter kernel_type; MSD_ML_LIKENESS_COUNT if it has another value. */
enum msd_ml_likeness msd_ml_likeness_of(const modser_sg_node *node);

#endif
