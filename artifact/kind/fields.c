#include "artifact/kind/fields.h"

#include "artifact/kind/private.h"

/* A function's name, which other modules look up here. */
static msd_err read_symbol(struct msd_cur *c, struct msd_payload_info *info,
			   const char *title, struct msd_diag *d)
{
	struct msd_cur ahead = *c;
	struct msd_span symbol = msd_cur_str64(&ahead);
	msd_err err = msd_payload_str(c, info, title, d);

	if (err == MSD_OK && info != NULL && !msd_payload_info_offer(info, symbol))
		err = msd_diag_no_memory(d);
	return err;
}

msd_err msd_fields_read(const struct msd_kind_field *fields, struct msd_cur *c,
			struct msd_payload_info *info, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (; err == MSD_OK && fields->key != NULL; fields++) {
		if (fields->form == MSD_FIELD_TEXT) {
			err = msd_payload_str(c, info, fields->title, d);
		} else if (fields->form == MSD_FIELD_SYMBOL) {
			err = read_symbol(c, info, fields->title, d);
		} else if (fields->form == MSD_FIELD_NAMES) {
			err = msd_payload_names(c, info, fields->title, d);
		} else {
			err = msd_payload_bytes(c, info, fields->title, d);
		}
	}
	return err;
}
