#include "daemon/supervisor/repository/store_index.h"

#include <string.h>

void msd_store_index_set(struct msd_store_index *s, const struct msd_record *r)
{
	memcpy(s->have, r->bad, sizeof(r->bad));
	s->n_bad = r->n_bad;
	msd_store_index_forget_editions(s);
	for (unsigned ref = 0; ref < MSD_REF_COUNT; ref++) {
		s->has_edition[ref] = r->editions[ref] != NULL;
		if (!s->has_edition[ref])
			continue;
		s->editions[ref] = r->editions[ref]->digest;
		s->has_name[ref] = r->editions[ref]->has_name;
		s->names[ref] = r->editions[ref]->name;
		s->have[s->n_have++] = s->editions[ref];
	}
}

void msd_store_index_forget_editions(struct msd_store_index *s)
{
	s->n_have = s->n_bad;
	memset(s->has_edition, 0, sizeof(s->has_edition));
}

bool msd_store_index_is_bad(const struct msd_store_index *s,
			    const struct msd_digest *digest)
{
	for (uint32_t i = 0; i < s->n_bad; i++) {
		if (msd_digest_equal(&s->have[i], digest))
			return true;
	}
	return false;
}

bool msd_store_index_is_edition(const struct msd_store_index *s, enum msd_ref ref,
				const struct msd_digest *digest)
{
	return s->has_edition[ref] && msd_digest_equal(&s->editions[ref], digest);
}

enum msd_ref msd_store_index_find_name(const struct msd_store_index *s,
				       const struct msd_digest *name)
{
	unsigned ref = 0;

	while (ref < MSD_REF_COUNT && !(s->has_edition[ref] && s->has_name[ref] &&
					msd_digest_equal(&s->names[ref], name)))
		ref++;
	return ref;
}
