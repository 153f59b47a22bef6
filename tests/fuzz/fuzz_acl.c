#include <stdlib.h>
#include <string.h>

#include "daemon/stream/tls.h"
#include "daemon/supervisor/rights/acl_read.h"
#include "tests/fuzz/fuzz.h"

static const uint32_t gids[] = {4, 44};

/* Whoever it is, whatever is asked for: an answer, in bounded time. */
static void ask(const struct msd_acl *a, const struct msd_identity *who)
{
	static const struct msd_span names[] = {
		{(const uint8_t *)"", 0},
		{(const uint8_t *)"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", 32},
		{(const uint8_t *)"digits", 6}};
	const struct msd_grant g = msd_acl_grant(a, who);

	for (unsigned r = 0; r <= MSD_RIGHT_NONE; r++) {
		for (unsigned i = 0; i < 9; i++) {
			const struct msd_acl_target t = {names[i / 3], names[i % 3]};
			const enum msd_right right = (enum msd_right)r;
			const bool allowed = msd_acl_allows(a, &g, right, &t);
			MUST(!allowed || right != MSD_RIGHT_NONE);
			MUST(allowed || right != MSD_RIGHT_ANY);
			MUST(!allowed || right == MSD_RIGHT_ANY ||
			     msd_acl_why(a, &g, right, &t) != NULL);
		}
	}
	MUST(strlen(msd_grant_name(a, &g)) > 0);
}

/* A part of a file is no file. */
static void refuse_part(const uint8_t *data, size_t n)
{
	struct msd_acl *a = NULL;
	struct msd_diag d = {0};

	MUST(msd_acl_parse("file", (struct msd_span){data, n}, &a, &d) != MSD_OK);
	MUST(a == NULL);
	msd_diag_finish(&d);
}

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	struct msd_tls_peer cert = {.is_verified = true, .n_sans = 1};
	struct msd_digest token;
	struct msd_acl *a = NULL;
	struct msd_diag d = {0};

	memcpy(cert.cn, data, n < 8 ? n : 8);
	memcpy(cert.sans, data, n < 64 ? n : 64);
	msd_err err = msd_acl_parse("file", (struct msd_span){data, n}, &a, &d);
	MUST((err == MSD_OK) == (a != NULL));
	if (err == MSD_OK) {
		refuse_part(data, n - 1);
		refuse_part(data, n / 2);
		refuse_part(data, data[n / 2] % n);
		struct msd_identity who = {.has_user = true,
					   .uid = 1000,
					   .gids = (uint32_t *)(uintptr_t)gids,
					   .n_gids = 2};
		ask(a, &who);
		who.certificate = &cert;
		ask(a, &who);
		msd_digest_of((struct msd_span){data, n}, &token);
		who.token = &token;
		ask(a, &who);
	}
	msd_acl_destroy(a);
	msd_diag_finish(&d);
	return err == MSD_OK;
}
