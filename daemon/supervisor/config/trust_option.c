#include "daemon/supervisor/config/trust_option.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static msd_err read_key(const char *path, struct msd_public_key *ret,
			struct msd_diag *d)
{
	uint8_t text[MSD_PUBLIC_KEY_FILE];
	FILE *file = fopen(path, "re");

	if (file == NULL) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "expected a file: %s",
				    strerror(errno));
	}
	const size_t n = fread(text, 1, sizeof(text), file);
	(void)fclose(file);
	if (n == sizeof(text)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "expected a public key of less than %u bytes",
				    MSD_PUBLIC_KEY_FILE);
	}
	return msd_public_key_parse((struct msd_span){text, n}, ret, d);
}

msd_err msd_trust_option_add(struct msd_trust_option *t, const char *file,
			     struct msd_diag *d)
{
	struct msd_public_key key;
	const msd_err err = read_key(file, &key, d);

	if (err != MSD_OK)
		return err;
	if (t->n == MSD_TRUST_KEYS) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "expected at most %u keys",
				    MSD_TRUST_KEYS);
	}
	if (t->n == 0) /* the first key of a list replaces the earlier list */
		t->trust.n_keys = 0;
	t->files[t->n++] = file;
	if (!t->has_policy)
		t->trust.policy = MSD_POLICY_SIGNED;
	return msd_trust_add(&t->trust, &key, d);
}

msd_err msd_trust_option_policy(struct msd_trust_option *t, const char *word,
				struct msd_diag *d)
{
	const struct msd_span span = msd_span_of(word);

	if (!msd_policy_parse(span, &t->trust.policy)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "expected signed, digest or unsigned");
	}
	t->has_policy = true;
	return MSD_OK;
}
