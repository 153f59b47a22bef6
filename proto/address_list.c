#include "proto/address_list.h"

#include <string.h>

#define TEXT_MAX 320u /* bytes incl. NUL: longer text is not an address */

static const char *const forms[] = {"unix:", "tcp://", "tls://"};

static bool begins_one(const char *text)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (strncmp(text, forms[i], strlen(forms[i])) == 0)
			return true;
	}
	return false;
}

/* End of the address at @text: a comma before another address. */
static const char *end_of(const char *text)
{
	const char *at = strchr(text, ',');

	while (at != NULL && !begins_one(at + 1))
		at = strchr(at + 1, ',');
	return at != NULL ? at : text + strlen(text);
}

size_t msd_address_list_first(const char *text)
{
	return (size_t)(end_of(text) - text);
}

bool msd_address_list_has(const char *text, const char *form)
{
	for (;;) {
		if (strncmp(text, form, strlen(form)) == 0)
			return true;
		text = end_of(text);
		if (*text == '\0')
			return false;
		text++;
	}
}

msd_err msd_address_list_parse(const char *text, struct msd_address_list *ret,
			       struct msd_diag *d)
{
	char one[TEXT_MAX];

	ret->n = 0;
	for (;;) {
		const char *end = end_of(text);
		const size_t n = (size_t)(end - text);

		if (ret->n == MSD_ADDRESS_LIST_MAX) {
			return msd_diag_set(d, MSD_BAD_REQUEST,
					    "a list of more than %u addresses",
					    MSD_ADDRESS_LIST_MAX);
		}
		if (n >= sizeof(one)) {
			return msd_diag_set(d, MSD_BAD_REQUEST,
					    "an address of %zu bytes; expected %u at "
					    "most",
					    n, TEXT_MAX - 1);
		}
		memcpy(one, text, n);
		one[n] = '\0';
		msd_err err = msd_address_parse(one, &ret->at[ret->n], d);
		if (err != MSD_OK)
			return err;
		ret->n++;
		if (*end == '\0')
			return MSD_OK;
		text = end + 1;
	}
}
