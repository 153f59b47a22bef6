#include "artifact/inspect/hash.h"

#include <nettle/base16.h>
#include <nettle/sha2.h>

_Static_assert(MSD_SHA256_TEXT == BASE16_ENCODE_LENGTH(SHA256_DIGEST_SIZE) + 1,
	       "a hash in hexadecimal and its NUL");

static void hash(struct msd_span bytes, char ret[static MSD_SHA256_TEXT])
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx c;

	sha256_init(&c);
	sha256_update(&c, bytes.n, bytes.p);
	sha256_digest(&c, sizeof(digest), digest);
	base16_encode_update(ret, sizeof(digest), digest);
	ret[MSD_SHA256_TEXT - 1] = '\0';
}

void msd_inspect_hash(struct msd_inspect *i, struct msd_span file)
{
	hash(file, i->sha256);
	for (uint32_t k = 0; k < i->n_modules; k++) {
		struct msd_inspect_module *m = &i->modules[k];

		if (m->bytes > 0 && m->offset <= file.n &&
		    m->bytes <= file.n - m->offset) {
			hash((struct msd_span){file.p + m->offset, (size_t)m->bytes},
			     m->sha256);
		}
	}
}
