#ifndef MSD_ARTIFACT_KIND_PRIVATE_H
#define MSD_ARTIFACT_KIND_PRIVATE_H
/* Readers of payloads, one per family of kinds, and their helpers. Each consumes its
 * bytes from the cursor and, if @info is not NULL, adds facts. */
#include "artifact/kind/kinds.h"
#include "artifact/kind/payload.h"

/* read.c: fields that many formats share. @key NULL: read without a fact. */
MSD_MUST_CHECK msd_err msd_payload_str(struct msd_cur *c, struct msd_payload_info *info,
				       const char *key, struct msd_diag *d);
/** A string whose fact is only its size. */
MSD_MUST_CHECK msd_err msd_payload_bytes(struct msd_cur *c,
					 struct msd_payload_info *info, const char *key,
					 struct msd_diag *d);
/** vec<str>; the fact is a list of names. */
MSD_MUST_CHECK msd_err msd_payload_names(struct msd_cur *c,
					 struct msd_payload_info *info, const char *key,
					 struct msd_diag *d);
/** @n saved tensors; the fact is their number and bytes. */
MSD_MUST_CHECK msd_err msd_payload_tensors(struct msd_cur *c, uint64_t n,
					   struct msd_payload_info *info,
					   const char *key, struct msd_diag *d);
/** map<str, str>; the fact is the number of entries. */
MSD_MUST_CHECK msd_err msd_payload_texts(struct msd_cur *c,
					 struct msd_payload_info *info, const char *key,
					 struct msd_diag *d);
/** Report that the payload ends within @where; returns MSD_BAD_ARTIFACT. */
msd_err msd_payload_truncated(struct msd_diag *d, const char *where);

/* msd_payload_<name>, for every PARTS and WHOLE of the table. */
#define FIELDS(name)
#define PARTS(name) msd_payload_reader msd_payload_##name;
#define WHOLE(name) msd_payload_reader msd_payload_##name;
#define ROW(kind, title, format, look, params, run) format
MSD_KIND_MAP(ROW)
#undef FIELDS
#undef PARTS
#undef WHOLE
#undef ROW

#endif
