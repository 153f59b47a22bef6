#ifndef MSD_TESTS_BLOCKS_ENGINE_H
#define MSD_TESTS_BLOCKS_ENGINE_H
/*
 * The engine of tests/e2e/plugins/blocks.c in this process, whose layout counts its
 * conversions, and graphs of the operators that it computes.
 */
#include <modserd_plugin.h>

struct msd_plan;

/* What the tests see of the engine, and how they disturb it. */
struct blocks {
	bool is_off;     /* it takes no node */
	int n_from_rows; /* conversions */
	int n_to_rows;
	int n_asked;       /* for layouts */
	bool is_lying;     /* bytes() returns `bytes` */
	size_t bytes;      /* that */
	bool is_broken;    /* conversions fail */
	bool is_scattered; /* convolutions choose by their names, not by the inputs */
	/* The plugin's own, which takes all nodes. */
	int (*take)(const modser_sg_node *node, void **ret_state, char *ret_why,
		    size_t why_bytes);
	modserd_layout layout;
	modserd_engine engine; /* registered: change it before */
};
extern struct blocks blocks;

/** Set up blocks.engine, which the caller registers, and choose the reference engine
 * for all other nodes. */
void blocks_init(void);
/** The same, registered. */
void blocks_register(void);

/** An input of the graph: float32[1, @c, @h, @w]; -1: open. */
modser_sg_tensor *blocks_input(modser_graph *g, const char *name, int64_t c, int64_t h,
			       int64_t w);
/** A constant with small integers. */
modser_sg_tensor *blocks_constant(modser_graph *g, const char *name, int64_t n,
				  int64_t c, int64_t h, int64_t w);
/** The output of a node called @name; @b may be NULL. */
modser_sg_tensor *blocks_node(modser_graph *g, const char *name, const char *op,
			      modser_sg_tensor *a, modser_sg_tensor *b);
/** The same for a convolution of @n to @m channels, @k times @k, of the same extent. */
modser_sg_tensor *blocks_conv(modser_graph *g, const char *name, modser_sg_tensor *x,
			      int64_t n, int64_t m, int64_t k);
/** The mean of each channel. */
modser_sg_tensor *blocks_mean(modser_graph *g, const char *name, modser_sg_tensor *x);

struct msd_plan *blocks_plan(modser_graph *g);
/**
 * Run with small integers as inputs, and append all outputs to @ret. Returns the
 * number of floats. @makes: the caller makes the memory of the outputs.
 */
size_t blocks_run(struct msd_plan *plan, const modser_graph *g, bool makes, float *ret);
/** Run the graph with the engine and without; expect the same outputs. */
void blocks_compare(modser_graph *g);

#define BLOCKS_MOST 65536 /* floats of a tensor, or of all outputs */

#endif
