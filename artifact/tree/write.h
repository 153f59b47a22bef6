#ifndef MSD_ARTIFACT_TREE_WRITE_H
#define MSD_ARTIFACT_TREE_WRITE_H
/*
 * Write the import tree in TVM's format. Reading a blob and writing it again gives
 * the same bytes, whatever release wrote it. A new tree gets its modules numbered
 * first, as the release does.
 */
#include "artifact/tree/tree.h"

/* Styles of the releases. */
enum msd_tree_style {
	MSD_TREE_06, /* no library, no tree: all are imports of the library */
	MSD_TREE_07, /* every host module is a "_lib" of its own */
	MSD_TREE_08, /* 0.8 to 0.21: one "_lib"; payloads inline, the tree last */
	MSD_TREE_022 /* 0.22 and later: the tree first, payloads framed */
};

/**
 * Append the blob of @tree, with its size prefix, in the layout of the tree; nothing
 * for MSD_BLOB_NONE. Errors: MSD_UNSUPPORTED: the layout cannot express the tree;
 * MSD_TOO_LARGE; MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_tree_write(const struct msd_tree *tree, struct msd_buf *out,
				      struct msd_diag *d);
/**
 * Number the modules of @from, whose root is module 0, as @style does. Merge its
 * libraries if @style has only one, sort imports, and drop modules that the root does
 * not reach. *@ret has the layout of @style and borrows kinds and payloads of @from;
 * the caller owns it (finish it). Errors: MSD_UNSUPPORTED: @style cannot express the
 * tree, or libraries import each other through other modules; MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_tree_order(const struct msd_tree *from,
				      enum msd_tree_style style, struct msd_tree *ret,
				      struct msd_diag *d);

#endif
