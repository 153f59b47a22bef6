#ifndef MSD_ARTIFACT_TREE_TREE_H
#define MSD_ARTIFACT_TREE_TREE_H
/*
 * The import tree of an artifact: its modules, their imports, and each module's
 * payload bytes. Read from the blob inside a library, in every layout from TVM 0.6 to
 * 0.27. Module 0 is the root. Validated: child indices in range, no cycle.
 */
#include "artifact/elf/era.h"

#define MSD_MAX_MODULES 4096u        /* modules in one tree */
#define MSD_TREE_UNREAD "(not read)" /* the kind of a module after the cut */
#define MSD_TREE_ENTRY UINT32_MAX    /* in msd_tree.entries: the import tree itself */

struct msd_tree_module {
	struct msd_span kind; /* "_lib", "cuda", "relax.VMExecutable", ...; borrowed */
	struct msd_span payload; /* borrowed from the blob; empty for "_lib" */
	const uint32_t *imports; /* module indices, into msd_tree.edges */
	uint32_t n_imports;
};

enum msd_blob_layout {
	MSD_BLOB_NONE,   /* no blob: one library, nothing imported */
	MSD_BLOB_INLINE, /* <= 0.21: payloads are not length-prefixed */
	MSD_BLOB_FRAMED, /* >= 0.22: CSR first, payloads length-prefixed */
};

struct msd_tree {
	struct msd_tree_module *modules;
	uint32_t n_modules;
	uint32_t *edges; /* owned */
	enum msd_blob_layout layout;
	bool has_import_tree; /* false: 0.6 style, or omitted; the default applies */
	bool is_cut; /* msd_tree_show_library(): the end of a payload is not known */
	struct msd_span blob;          /* borrowed, without the size prefix */
	struct msd_span symbol_prefix; /* system library's blob; borrowed */
	/*
	 * The inline layout's entries in file order, each a module's number or
	 * MSD_TREE_ENTRY. Owned. NULL for TVM's usual order: the modules in order,
	 * then the tree; or, without a tree, the modules after the root.
	 */
	uint32_t *entries;
	uint32_t n_entries;
};

/**
 * Read the tree of a library; without a blob it is one "_lib". Several "_lib" (0.7)
 * all mean the library itself. The result is a graph rather than a strict tree: a
 * module may have several importers or none, so mark each module during a walk. The
 * image must outlive *@ret, which the caller owns (finish it). Errors:
 * MSD_BAD_ARTIFACT; MSD_UNSUPPORTED: more than MSD_MAX_MODULES, or an inline-layout
 * blob with a kind whose payload has no known end (the text names it); MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_tree_read_library(const struct msd_elf *elf,
					     enum msd_era era, struct msd_tree *ret,
					     struct msd_diag *d);
/**
 * The same only for display, never for loading or writing: an inline-layout blob with
 * the tree at its end may contain a module of an unknown kind. Its payload is then
 * everything before the tree, and the modules after it are MSD_TREE_UNREAD.
 */
MSD_MUST_CHECK msd_err msd_tree_show_library(const struct msd_elf *elf,
					     enum msd_era era, struct msd_tree *ret,
					     struct msd_diag *d);
/**
 * The same as msd_tree_read_library() for a bare blob with its size prefix; @era
 * selects the layout.
 */
MSD_MUST_CHECK msd_err msd_tree_read_blob(struct msd_span blob, enum msd_era era,
					  struct msd_tree *ret, struct msd_diag *d);
void msd_tree_finish(struct msd_tree *tree); /* NULL and zeroed are allowed */

#endif
