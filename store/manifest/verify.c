#include "store/manifest/verify.h"

#include <string.h>

#include "store/manifest/instant.h"

static msd_err check_name(const struct msd_order *order,
			  const struct msd_edition_manifest *m, struct msd_diag *d)
{
	if (order->name == NULL || order->name[0] == '\0' ||
	    strcmp(order->name, m->name) == 0)
		return MSD_OK;
	return msd_diag_set(d, MSD_NOT_VERIFIED,
			    "manifest: it is of the module %s, not of %s", m->name,
			    order->name);
}

static msd_err check_version(const struct msd_order *order,
			     const struct msd_edition_manifest *m,
			     const struct msd_signers *signers, struct msd_diag *d)
{
	for (uint32_t i = 0; i < order->n_floors; i++) {
		const struct msd_floor *f = &order->floors[i];

		for (uint32_t k = 0; k < signers->n; k++) {
			char id[MSD_KEY_ID_TEXT];

			if (!msd_key_id_equal(&signers->ids[k], &f->id) ||
			    m->version >= f->version)
				continue;
			msd_key_id_format(&f->id, id);
			return msd_diag_set(
				d, MSD_NOT_VERIFIED,
				"manifest: it is version %llu of %s, and the key %s "
				"has signed version %llu",
				(unsigned long long)m->version, m->name, id,
				(unsigned long long)f->version);
		}
	}
	return MSD_OK;
}

static msd_err check_expiry(const struct msd_order *order,
			    const struct msd_edition_manifest *m, struct msd_diag *d)
{
	char text[MSD_INSTANT_TEXT];

	if (m->expires_s == 0 || order->now_s <= m->expires_s)
		return MSD_OK;
	return msd_diag_set(d, MSD_NOT_VERIFIED,
			    "manifest: version %llu of %s expired at %s",
			    (unsigned long long)m->version, m->name,
			    msd_instant_format(m->expires_s, text));
}

msd_err msd_verify(const struct msd_order *order, struct msd_span text,
		   struct msd_span signatures, struct msd_edition_manifest *ret,
		   struct msd_signers *ret_signers, struct msd_diag *d)
{
	const bool is_signed = order->trust.policy == MSD_POLICY_SIGNED;
	struct msd_signers signers = {0};
	msd_err err = MSD_OK;

	*ret = (struct msd_edition_manifest){0};
	if (is_signed)
		err = msd_signature_check(text, signatures, &order->trust, &signers, d);
	if (err == MSD_OK)
		err = msd_edition_manifest_parse(text, ret, d);
	if (err == MSD_OK && is_signed)
		err = check_name(order, ret, d);
	if (err == MSD_OK)
		err = check_version(order, ret, &signers, d);
	if (err == MSD_OK)
		err = check_expiry(order, ret, d);
	if (err == MSD_OK)
		*ret_signers = signers;
	return err;
}
