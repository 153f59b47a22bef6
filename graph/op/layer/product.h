#ifndef MSD_GRAPH_OP_PRODUCT_H
#define MSD_GRAPH_OP_PRODUCT_H
/* The operator that the pass `fuse` makes of a product with a constant matrix: inputs
 * a, b, a bias of one axis, a residual of the output's shape, then a function as in
 * window.h. */
#define MSD_FUSED_PRODUCT "FusedProduct"
#define MSD_FUSED_PRODUCT_RESIDUAL 3u /* input */

#endif
