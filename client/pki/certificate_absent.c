/* Build without TLS: creating a certificate always fails. */
#include "client/pki/certificate.h"

static msd_err refuse(struct msd_diag *d)
{
	return msd_diag_set(d, MSD_UNSUPPORTED, "this modser was built without TLS");
}

msd_err msd_certificate_make(const struct msd_certificate_wish *wish,
			     const struct msd_certificate *issuer,
			     struct msd_certificate **ret, struct msd_diag *d)
{
	(void)wish;
	(void)issuer;
	(void)ret;
	return refuse(d);
}

msd_err msd_certificate_read(FILE *cert, FILE *key, struct msd_certificate **ret,
			     struct msd_diag *d)
{
	(void)cert;
	(void)key;
	(void)ret;
	return refuse(d);
}

bool msd_certificate_write(const struct msd_certificate *c, FILE *cert, FILE *key)
{
	(void)c;
	(void)cert;
	(void)key;
	return false;
}

void msd_certificate_destroy(struct msd_certificate *c)
{
	(void)c;
}
