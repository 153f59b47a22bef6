/* Read and write option values that are addresses. */
#include <stdio.h>
#include <string.h>

#include "daemon/supervisor/config/config_text.h"
#include "daemon/supervisor/config/option_values.h"
#include "proto/limits.h"
#include "proto/name.h"

msd_err msd_option_read_listen(struct msd_options *o, const struct msd_option *row,
			       const char *value, struct msd_diag *d)
{
	(void)row;
	if (o->n_listen == MSD_MAX_LISTEN) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "at most %u addresses",
				    MSD_MAX_LISTEN);
	}
	struct msd_address *a = &o->listen[o->n_listen];
	msd_err err = value != NULL ? msd_address_parse(value, a, d)
				    : msd_address_default(false, a, d);
	if (err == MSD_OK)
		o->n_listen++;
	return err;
}

void msd_option_write_listen(const struct msd_options *o, const struct msd_option *row,
			     struct msd_buf *ret)
{
	char text[MSD_ADDRESS_TEXT_MAX];

	(void)row;
	for (uint32_t i = 0; i < o->n_listen; i++) {
		msd_buf_printf(ret, i == 0 ? "{" : ", ");
		msd_config_quote(msd_address_format(&o->listen[i], text), ret);
	}
	if (o->n_listen > 0)
		msd_buf_put(ret, "}", 1);
}

#define PLAIN_FORMS "HOST:PORT, [IPV6]:PORT or unix:PATH"

/* Read an address without a scheme: the option determines the protocol. */
static msd_err read_plain(const char *value, struct msd_address *ret,
			  struct msd_diag *d)
{
	const bool is_unix = strncmp(value, "unix:", 5) == 0;
	char text[MSD_ADDRESS_TEXT_MAX];

	if (!is_unix && strstr(value, "://") != NULL)
		return msd_option_expected(PLAIN_FORMS, d);
	const int n =
		snprintf(text, sizeof(text), "%s%s", is_unix ? "" : "tcp://", value);
	if (n < 0 || (size_t)n >= sizeof(text) ||
	    msd_address_parse(text, ret, d) != MSD_OK)
		return msd_option_expected(PLAIN_FORMS, d);
	return MSD_OK;
}

static const char *plain_text(const struct msd_address *a,
			      char ret[static MSD_ADDRESS_TEXT_MAX])
{
	(void)msd_address_format(a, ret);
	return a->kind == MSD_ADDRESS_UNIX ? ret : ret + strlen("tcp://");
}

#define HTTPS "https://"

msd_err msd_option_read_http(struct msd_options *o, const struct msd_option *row,
			     const char *value, struct msd_diag *d)
{
	const bool is_tls = strncmp(value, HTTPS, strlen(HTTPS)) == 0;
	const char *rest = is_tls ? value + strlen(HTTPS) : value;

	(void)row;
	if (read_plain(rest, &o->http, d) != MSD_OK ||
	    (is_tls && o->http.kind != MSD_ADDRESS_TCP))
		return msd_option_expected(PLAIN_FORMS ", or " HTTPS "HOST:PORT", d);
	if (is_tls)
		o->http.kind = MSD_ADDRESS_TLS;
	o->has_http = true;
	return MSD_OK;
}

void msd_option_write_http(const struct msd_options *o, const struct msd_option *row,
			   struct msd_buf *ret)
{
	char text[MSD_ADDRESS_TEXT_MAX + sizeof(HTTPS)], address[MSD_ADDRESS_TEXT_MAX];
	struct msd_address plain = o->http;

	(void)row;
	if (!o->has_http)
		return;
	if (plain.kind == MSD_ADDRESS_TLS)
		plain.kind = MSD_ADDRESS_TCP;
	(void)snprintf(text, sizeof(text), "%s%s",
		       o->http.kind == MSD_ADDRESS_TLS ? HTTPS : "",
		       plain_text(&plain, address));
	msd_config_quote(text, ret);
}

msd_err msd_option_read_rpc(struct msd_options *o, const struct msd_option *row,
			    const char *value, struct msd_diag *d)
{
	const char *copy = msd_options_keep(o, value);

	(void)row;
	return copy != NULL ? msd_rpc_settings_read(copy, &o->rpc, d)
			    : msd_diag_no_memory(d);
}

msd_err msd_option_read_agents(struct msd_options *o, const struct msd_option *row,
			       const char *value, struct msd_diag *d)
{
	const char *equals = strchr(value, '=');
	const size_t n = equals != NULL ? (size_t)(equals - value) : 0;
	struct msd_agent a = {0};

	(void)row;
	if (o->n_agents == MSD_MAX_AGENTS) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "at most %u addresses",
				    MSD_MAX_AGENTS);
	}
	/* The path of a unix socket may contain `=`, too; then no name precedes the
	 * `=`. */
	if (msd_name_valid((struct msd_span){(const uint8_t *)value, n})) {
		memcpy(a.module, value, n);
		value += n + 1;
	}
	if (read_plain(value, &a.address, d) != MSD_OK ||
	    (a.address.kind != MSD_ADDRESS_UNIX && strchr(value, '=') != NULL))
		return msd_option_expected("[NAME=]" PLAIN_FORMS, d);
	o->agents[o->n_agents++] = a;
	return MSD_OK;
}

void msd_option_write_agents(const struct msd_options *o, const struct msd_option *row,
			     struct msd_buf *ret)
{
	(void)row;
	for (uint32_t i = 0; i < o->n_agents; i++) {
		const struct msd_agent *a = &o->agents[i];
		char address[MSD_ADDRESS_TEXT_MAX];
		char text[MSD_ADDRESS_TEXT_MAX + MSD_MAX_NAME_BYTES + sizeof("=")];

		(void)snprintf(text, sizeof(text), "%s%s%s", a->module,
			       a->module[0] != '\0' ? "=" : "",
			       plain_text(&a->address, address));
		msd_buf_printf(ret, i == 0 ? "{" : ", ");
		msd_config_quote(text, ret);
	}
	if (o->n_agents > 0)
		msd_buf_put(ret, "}", 1);
}
