#ifndef MSD_ARTIFACT_TREE_IMPORTS_H
#define MSD_ARTIFACT_TREE_IMPORTS_H
/* Set the imports of parsed modules: from the compressed rows of the file, or, in a
 * file without them, by the default. */
#include "artifact/tree/tree.h"

/* In the file's form: vectors of u64, not aligned. Row i, from row_ptr[i] to
 * row_ptr[i + 1], are the children that module i imports. */
struct msd_import_rows {
	struct msd_span row_ptr;
	struct msd_span children;
};

/** Read the rows from @c, which becomes bad if they are missing. */
struct msd_import_rows msd_import_rows_read(struct msd_cur *c);
#define MSD_IMPORT_ROWS_KEY "_import_tree" /* entry key, inline layout */
/**
 * Find the entry at the end of @rest, and write its rows and the part before it;
 * false: there is no entry at the end.
 */
bool msd_import_rows_find(struct msd_span rest, struct msd_import_rows *ret,
			  struct msd_span *ret_before);
/**
 * Check the rows, and set the imports of each module of @tree. Errors:
 * MSD_BAD_ARTIFACT; MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_imports_set(struct msd_tree *tree,
				       const struct msd_import_rows *rows,
				       struct msd_diag *d);
/** Let the first module, the library, import all other modules in order. */
MSD_MUST_CHECK msd_err msd_imports_imply(struct msd_tree *tree, struct msd_diag *d);
/** MSD_BAD_ARTIFACT: modules import each other; MSD_NOMEM. @n_edges is the total. */
MSD_MUST_CHECK msd_err msd_imports_check(const struct msd_tree *tree, size_t n_edges,
					 struct msd_diag *d);

#endif
