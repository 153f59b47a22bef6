#ifndef MSD_GRAPH_PASS_QUANTIZER_H
#define MSD_GRAPH_PASS_QUANTIZER_H
/*
 * The pass `quantize` in parts: each function turns a node of some operators into an
 * integer node if it can. They return 0, also if the node stays, or -1 with the graph's
 * error: memory is short.
 */
#include "graph/pass/quantized.h"

/* The inputs of integer nodes. */
enum {
	MSD_QUANTIZED_A,
	MSD_QUANTIZED_A_SCALE,
	MSD_QUANTIZED_A_ZERO,
	MSD_QUANTIZED_B,
	MSD_QUANTIZED_B_SCALE,
	MSD_QUANTIZED_B_ZERO,
	MSD_QUANTIZED_Y_SCALE,
	MSD_QUANTIZED_Y_ZERO,
	MSD_QUANTIZED_BIAS,
	MSD_QUANTIZED_INPUTS,
	MSD_QUANTIZED_POOL_SCALE = MSD_QUANTIZED_B, /* the output of a pool */
	MSD_QUANTIZED_POOL_ZERO
};

struct msd_quantizer {
	const struct msd_pass_job *job;
	struct msd_links links;
	size_t n;
};

/* The parts of an integer node. */
struct msd_quantizer_made {
	const char *op;
	modser_sg_tensor *inputs[MSD_QUANTIZED_INPUTS];
	struct msd_quantized_tail tail;
	bool has_limits;
	const char *param; /* NULL: none */
	int64_t value;     /* of param */
};

/** True if the native engine computes @node and the nodes of the tail. */
bool msd_quantizer_may(const struct msd_quantizer *q, const modser_sg_node *node,
		       const struct msd_quantizer_made *m);
/** Turn @node into the integer node, if it may be. */
MSD_MUST_CHECK int msd_quantizer_make(struct msd_quantizer *q, modser_sg_node *node,
				      const struct msd_quantizer_made *m);
/** Make @x the operand at input @at. */
void msd_quantizer_operand(struct msd_quantizer_made *m, size_t at,
			   const struct msd_quantized *x);
/** Use the limits and the QuantizeLinear of the tail. */
void msd_quantizer_end(struct msd_quantizer_made *m);

/** The constant table of @function, or of the change from one form to the other. */
MSD_MUST_CHECK int msd_quantizer_table(const struct msd_quantizer *q,
				       const modser_sg_node *function,
				       const struct msd_quantized *from,
				       const struct msd_quantized *to,
				       modser_sg_tensor **ret);
/** A new node that gives @x the numbers of @to. */
MSD_MUST_CHECK int msd_quantizer_change(const struct msd_quantizer *q,
					const struct msd_quantized *x,
					const struct msd_quantized *to,
					modser_sg_tensor **ret);

/* Operators. */
int msd_quantize_convolution(struct msd_quantizer *q, modser_sg_node *node);
int msd_quantize_matrix(struct msd_quantizer *q, modser_sg_node *node);
int msd_quantize_dynamic(struct msd_quantizer *q, modser_sg_node *node);
int msd_quantize_binary(struct msd_quantizer *q, modser_sg_node *node);
int msd_quantize_pooling(struct msd_quantizer *q, modser_sg_node *node);
/** A function of one tensor, or a QuantizeLinear of a DequantizeLinear. */
int msd_quantize_function(struct msd_quantizer *q, modser_sg_node *node);
/** An operator that moves elements moves bytes instead. @all: each input has elements,
 * else only the first. */
int msd_quantize_move(struct msd_quantizer *q, modser_sg_node *node, bool all);
/** A QuantizeLinear of moved elements: they are moved behind it. */
int msd_quantize_hoist(struct msd_quantizer *q, modser_sg_node *node);
/** The Shape of numbers is that of their bytes. */
int msd_quantize_shape(struct msd_quantizer *q, modser_sg_node *node);

#endif
