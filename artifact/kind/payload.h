#ifndef MSD_ARTIFACT_KIND_PAYLOAD_H
#define MSD_ARTIFACT_KIND_PAYLOAD_H
/* Payload formats of module kinds: the number of bytes of a payload in the inline
 * layout, and the facts that `inspect` shows. The kinds are the rows of kinds.h. */
#include "artifact/elf/era.h"

/* One fact of a module, shown by inspect and show. Strings owned. */
struct msd_payload_fact {
	char *key;   /* "format", "functions", "kernel" ... */
	char *value; /* printable UTF-8 */
};
struct msd_payload_info {
	struct msd_payload_fact *facts;
	size_t n_facts;
	char **offers; /* functions that other modules look up in it: kernels, for
			  example */
	size_t n_offers;
};

/**
 * Consume exactly one payload from @c: in the inline layouts (classic and 0.21) other
 * modules follow it, in the framed one @c ends with it. If @info is not NULL, add the
 * facts to it. Errors: MSD_BAD_ARTIFACT, MSD_UNSUPPORTED, MSD_NOMEM.
 */
typedef msd_err msd_payload_reader(struct msd_cur *c, enum msd_era era,
				   struct msd_payload_info *info, struct msd_diag *d);

struct msd_kind_field;
struct msd_payload_kind {
	const char *kind;                    /* the tree's kind string */
	const char *title;                   /* for users: "CUDA kernels" */
	msd_payload_reader *read;            /* or NULL: @fields describe it */
	const struct msd_kind_field *fields; /* or NULL (fields.h) */
	bool takes_params; /* its parameters may be in a file next to the library */
	/* A plugin's function for the inline layouts, or NULL: the bytes of the
	 * payload at @p, at most @n; -1: damaged. */
	int64_t (*measure)(const void *p, size_t n);
};

/**
 * Add a plugin's kind, before other threads use the table. @kind and @measure must
 * live as long as the process. False: memory is short.
 */
MSD_MUST_CHECK bool msd_payload_kind_add(const char *kind,
					 int64_t (*measure)(const void *p, size_t n));

/** Row for @kind, or NULL. Lives as long as the process. */
const struct msd_payload_kind *msd_payload_kind_find(struct msd_span kind);
/** Read one payload of @kind, as its msd_payload_reader does. */
MSD_MUST_CHECK msd_err msd_payload_read(const struct msd_payload_kind *kind,
					struct msd_cur *c, enum msd_era era,
					struct msd_payload_info *info,
					struct msd_diag *d);
/**
 * Describe a module's payload. A damaged payload gives the fact "damaged" with the
 * reason; a kind without a row gives nothing. The only error is MSD_NOMEM. The caller
 * owns *@ret (finish it), which is written on success only.
 */
MSD_MUST_CHECK msd_err msd_payload_describe(struct msd_span kind,
					    struct msd_span payload, enum msd_era era,
					    struct msd_payload_info *ret,
					    struct msd_diag *d);
/** Append a fact; printf for the value. False when memory is short. */
bool msd_payload_info_add(struct msd_payload_info *info, const char *key,
			  const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/** The same with bytes from the file, made printable. */
bool msd_payload_info_add_bytes(struct msd_payload_info *info, const char *key,
				struct msd_span value);
/** Append the name of a function that it offers. False when memory is short. */
bool msd_payload_info_offer(struct msd_payload_info *info, struct msd_span name);
void msd_payload_info_finish(struct msd_payload_info *info); /* NULL is allowed */

#endif
