#ifndef MSD_PROTO_PLUGIN_LIST_H
#define MSD_PROTO_PLUGIN_LIST_H
/*
 * The list of what a plugin brings (MODSERD_PLUGIN_BRINGS in graph/modserd_plugin.h):
 * text with a line "WORD NAME" for each entry.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

#define MSD_PLUGIN_LIST_SYMBOL "modserd_plugin_brings"
#define MSD_PLUGIN_LIST_BYTES (64u << 10) /* maximum, with the NUL */
#define MSD_PLUGIN_LIST_NAME_MAX 512u     /* bytes of a name */

/* The plugin adds the first three through struct modserd_host, which compares. */
enum msd_plugin_word {
	MSD_PLUGIN_FUNCTION,
	MSD_PLUGIN_KIND,
	MSD_PLUGIN_SYMBOL,
	MSD_PLUGIN_FORMAT,
	MSD_PLUGIN_OPERATOR,
	MSD_PLUGIN_KERNEL,
	MSD_PLUGIN_ENGINE,
};

struct msd_plugin_item {
	enum msd_plugin_word word;
	char *name; /* owned */
	bool is_added;
};

struct msd_plugin_list {
	struct msd_plugin_item *items; /* in the order of the text */
	size_t n;
};

/** "function", "kind", ... */
const char *msd_plugin_word_name(enum msd_plugin_word word);
/**
 * Read @text, which ends with its first NUL. Errors: MSD_BAD_ARTIFACT (no NUL in it, an
 * unknown word, a name that is empty, too long, unprintable, or there twice),
 * MSD_TOO_LARGE, MSD_NOMEM. *@ret is the caller's (finish it), written on success only.
 */
MSD_MUST_CHECK msd_err msd_plugin_list_read(struct msd_span text,
					    struct msd_plugin_list *ret,
					    struct msd_diag *d);
/** The entry, or NULL. */
struct msd_plugin_item *msd_plugin_list_find(const struct msd_plugin_list *list,
					     enum msd_plugin_word word,
					     const char *name);
void msd_plugin_list_finish(struct msd_plugin_list *list); /* zeroed is allowed */

#endif
