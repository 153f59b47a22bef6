#ifndef MSD_ARTIFACT_KIND_FIELDS_H
#define MSD_ARTIFACT_KIND_FIELDS_H
/*
 * Payloads that are a sequence of strings and lists of strings. One list of fields
 * describes such a kind completely: how to read it, the output of inspect, and the
 * files of pack/.
 */
#include "artifact/kind/kinds.h"
#include "artifact/kind/payload.h"
#include "artifact/kind/private.h"

struct msd_kind_field {
	const char *key; /* in the manifest of an unpacked library; NULL ends a list */
	const char *title; /* title of the fact */
	enum {
		MSD_FIELD_TEXT,
		MSD_FIELD_SYMBOL, /* a text: a function that other modules look up by
				     name */
		MSD_FIELD_NAMES,
		MSD_FIELD_FILE, /* bytes; only their number is shown */
	} form;
	const char *suffix; /* suffix of the file */
};

/* msd_fields_<name>, for every FIELDS of the table. */
#define FIELDS(name) extern const struct msd_kind_field msd_fields_##name[];
#define PARTS(name)
#define WHOLE(name)
#define ROW(kind, title, format, look, params, run) format
MSD_KIND_MAP(ROW)
#undef FIELDS
#undef PARTS
#undef WHOLE
#undef ROW

/** Read the fields in @fields, as a msd_payload_reader does. */
MSD_MUST_CHECK msd_err msd_fields_read(const struct msd_kind_field *fields,
				       struct msd_cur *c, struct msd_payload_info *info,
				       struct msd_diag *d);

#endif
