#ifndef MSD_ARTIFACT_TREE_IMPORTS_H
#define MSD_ARTIFACT_TREE_IMPORTS_H
/*
 * Who imports whom, of modules that have been read: as the compressed rows of the file
 * say, or, in a file without them, as it goes without saying.
 */
#include "artifact/tree/tree.h"

/* As the file has them: vectors of u64, not aligned. Row i, from row_ptr[i] to
 * row_ptr[i + 1], are the children that module i imports. */
struct msd_import_rows {
	struct msd_span row_ptr;
	struct msd_span children;
};

/** Take them from @c, which is bad when they are not there. */
struct msd_import_rows msd_import_rows_read(struct msd_cur *c);
#define MSD_IMPORT_ROWS_KEY "_import_tree" /* of their entry, in the inline layout */
/** Find the entry that @rest ends with, and write them and what stands before it;
 * false: it ends with none. */
bool msd_import_rows_find(struct msd_span rest, struct msd_import_rows *ret,
			  struct msd_span *ret_before);
/** Check them, and let each module of @tree have its imports. Errors: MSD_BAD_ARTIFACT;
 * MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_imports_set(struct msd_tree *tree,
				       const struct msd_import_rows *rows,
				       struct msd_diag *d);
/** Let the first module, the library, import all the others in their order. */
MSD_MUST_CHECK msd_err msd_imports_imply(struct msd_tree *tree, struct msd_diag *d);
/** MSD_BAD_ARTIFACT when modules import each other; MSD_NOMEM. @n_edges of all. */
MSD_MUST_CHECK msd_err msd_imports_check(const struct msd_tree *tree, size_t n_edges,
					 struct msd_diag *d);

#endif
