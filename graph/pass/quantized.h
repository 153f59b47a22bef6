#ifndef MSD_GRAPH_PASS_QUANTIZED_H
#define MSD_GRAPH_PASS_QUANTIZED_H
/* Quantized numbers in a graph: tensors that a DequantizeLinear made of bytes, and
 * values that a QuantizeLinear makes bytes of. Scales and zero points are constants. */
#include "graph/pass/links.h"
#include "proto/dtype.h"

/* Bytes with their numbers. */
struct msd_quantized {
	modser_sg_tensor *x;
	modser_sg_tensor *scale; /* float32, all positive */
	modser_sg_tensor *zero;  /* NULL: 0 */
	struct msd_dtype dtype;  /* of x */
	int64_t axis;            /* that several scales belong to */
};

/* The nodes after a value, up to its QuantizeLinear. */
struct msd_quantized_tail {
	modser_sg_tensor *y;      /* their output */
	struct msd_quantized to;  /* scale is NULL: there is no QuantizeLinear */
	float low, high;          /* limits of the value */
	modser_sg_node *nodes[3]; /* to be taken out */
	size_t n;
};

/** True if @t is a constant of @bits, an integer or, with @is_float, a float. */
bool msd_quantized_is_const(const modser_sg_tensor *t, bool is_float, unsigned bits);
size_t msd_quantized_count(const struct msd_quantized *q); /* of its scales */
float msd_quantized_scale(const struct msd_quantized *q, size_t i);
int32_t msd_quantized_zero(const struct msd_quantized *q, size_t i);
/** True if @t is made of bytes by a DequantizeLinear. */
bool msd_quantized_from(const modser_sg_tensor *t, struct msd_quantized *ret);
/** The same with one scale. */
bool msd_quantized_from_one(const modser_sg_tensor *t, struct msd_quantized *ret);
/** True if @node makes bytes with one scale. */
bool msd_quantized_to(const modser_sg_node *node, struct msd_quantized *ret);
/** True if both have the same bytes for the same numbers. */
bool msd_quantized_is_same(const struct msd_quantized *a,
			   const struct msd_quantized *b);
/** Follow @y: a Relu or Clip, then a QuantizeLinear, each if it is there. */
void msd_quantized_follow(const struct msd_links *l, modser_sg_tensor *y,
			  struct msd_quantized_tail *ret);
/**
 * True if @node is a function of one tensor and constants that a table of bytes
 * expresses. */
bool msd_quantized_has_function(const modser_sg_node *node);
/** Fill @ret with the bytes in @to of @node's function of each byte; NULL: the number
 * stays. */
void msd_quantized_table(const modser_sg_node *node, const struct msd_quantized *from,
			 const struct msd_quantized *to, uint8_t ret[static 256]);

#endif
