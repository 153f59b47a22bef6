/* Parse and format addresses (unix:PATH, tcp://HOST:PORT, tls://HOST:PORT), and find
 * the default socket. */
#include "proto/address.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYSTEM_SOCKET MSD_ADDRESS_SYSTEM_DIR SOCKET_NAME
#define SOCKET_NAME "/modserd.sock"

static msd_err refuse_text(const char *text, const char *why, struct msd_diag *d)
{
	return msd_diag_set(
		d, MSD_BAD_REQUEST,
		"address \"%s\": %s; expected unix:PATH, tcp://HOST:PORT or "
		"tls://HOST:PORT",
		text, why);
}

/* Users may type forms of a browser or a shell, so name the form that is valid here. */
static msd_err refuse_form(const char *text, struct msd_diag *d)
{
	char why[2 * MSD_ADDRESS_HOST_MAX];

	if (strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0) {
		return refuse_text(text, "modser does not use HTTP; use curl there", d);
	}
	if (text[0] == '/' || strncmp(text, "./", 2) == 0) {
		(void)snprintf(why, sizeof(why), "perhaps unix:%.300s", text);
	} else if (strchr(text, ':') != NULL && strstr(text, "//") == NULL) {
		(void)snprintf(why, sizeof(why), "perhaps tcp://%.300s", text);
	} else {
		return refuse_text(text, "unknown form", d);
	}
	return refuse_text(text, why, d);
}

static bool parse_port(const char *text, uint16_t *ret)
{
	uint32_t port = 0;

	if (*text == '\0' || strlen(text) > 5)
		return false;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9')
			return false;
		port = port * 10 + (uint32_t)(*text - '0');
	}
	if (port > UINT16_MAX)
		return false;
	*ret = (uint16_t)port;
	return true;
}

static msd_err parse_unix(const char *text, const char *path, struct msd_address *ret,
			  struct msd_diag *d)
{
	size_t n = strlen(path);

	if (n == 0)
		return refuse_text(text, "the path is empty", d);
	if (n > MSD_ADDRESS_PATH_MAX)
		return refuse_text(text, "the path is over 107 bytes", d);
	ret->kind = MSD_ADDRESS_UNIX;
	memcpy(ret->path, path, n + 1);
	return MSD_OK;
}

static msd_err parse_net(const char *text, const char *rest, struct msd_address *ret,
			 struct msd_diag *d)
{
	bool bracketed = rest[0] == '[';
	const char *host = bracketed ? rest + 1 : rest;
	const char *end = bracketed ? strchr(host, ']') : strrchr(host, ':');
	const char *port = end != NULL && bracketed ? end + 1 : end;

	if (port == NULL || *port != ':')
		return refuse_text(text, "the port is missing", d);
	size_t n = (size_t)(end - host);
	if (n == 0 || n > MSD_ADDRESS_HOST_MAX)
		return refuse_text(text, "the host is empty or too long", d);
	if (!bracketed && memchr(host, ':', n) != NULL)
		return refuse_text(text, "write an IPv6 number in brackets", d);
	if (!parse_port(port + 1, &ret->port))
		return refuse_text(text, "the port is not a number up to 65535", d);
	memcpy(ret->host, host, n);
	return MSD_OK;
}

msd_err msd_address_parse(const char *text, struct msd_address *ret, struct msd_diag *d)
{
	struct msd_address a = {0};
	msd_err err;

	if (strncmp(text, "unix:", 5) == 0) {
		err = parse_unix(text, text + 5, &a, d);
	} else if (strncmp(text, "tcp://", 6) == 0) {
		a.kind = MSD_ADDRESS_TCP;
		err = parse_net(text, text + 6, &a, d);
	} else if (strncmp(text, "tls://", 6) == 0) {
		a.kind = MSD_ADDRESS_TLS;
		err = parse_net(text, text + 6, &a, d);
	} else {
		err = refuse_form(text, d);
	}
	if (err == MSD_OK)
		*ret = a;
	return err;
}

msd_err msd_address_check_dir(const struct msd_address *a, struct msd_diag *d)
{
	char dir[MSD_ADDRESS_PATH_MAX + 1];
	struct stat st;

	if (a->kind != MSD_ADDRESS_UNIX || a->own_dir_bytes == 0)
		return MSD_OK;
	memcpy(dir, a->path, a->own_dir_bytes);
	dir[a->own_dir_bytes] = '\0';
	if (lstat(dir, &st) != 0) {
		if (errno == ENOENT)
			return MSD_OK;
		return msd_diag_set(d, MSD_REFUSED, "%s: %s", dir, strerror(errno));
	}
	if (!S_ISDIR(st.st_mode))
		return msd_diag_set(d, MSD_REFUSED, "%s is not a directory", dir);
	if (st.st_uid != geteuid()) {
		return msd_diag_set(d, MSD_REFUSED,
				    "%s belongs to user %lu, expected %lu", dir,
				    (unsigned long)st.st_uid, (unsigned long)geteuid());
	}
	if ((st.st_mode & 077) != 0) {
		return msd_diag_set(d, MSD_REFUSED, "%s has mode %04o, expected 0700",
				    dir, (unsigned)(st.st_mode & 07777));
	}
	return MSD_OK;
}

/* A path in a folder that this user may not enter may exist. */
static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 || errno == EACCES;
}

/* "DIR/modserd" or "/tmp/modserd-UID", then the socket in it. */
static bool own_path(struct msd_address *a)
{
	const char *runtime_dir = getenv("XDG_RUNTIME_DIR");
	int n;

	if (runtime_dir != NULL && runtime_dir[0] == '/') {
		n = snprintf(a->path, sizeof(a->path), "%s/modserd" SOCKET_NAME,
			     runtime_dir);
	} else {
		n = snprintf(a->path, sizeof(a->path), "/tmp/modserd-%lu" SOCKET_NAME,
			     (unsigned long)geteuid());
	}
	if (n < 0 || (size_t)n >= sizeof(a->path))
		return false;
	a->own_dir_bytes = (uint32_t)((size_t)n - strlen(SOCKET_NAME));
	return true;
}

msd_err msd_address_default(bool for_client, struct msd_address *ret,
			    struct msd_diag *d)
{
	struct msd_address a = {.kind = MSD_ADDRESS_UNIX};
	struct msd_address system = {.kind = MSD_ADDRESS_UNIX, .path = SYSTEM_SOCKET};

	if (geteuid() == 0) {
		*ret = system;
		return MSD_OK;
	}
	if (!own_path(&a)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "XDG_RUNTIME_DIR is too long for a socket's path "
				    "of %u bytes",
				    MSD_ADDRESS_PATH_MAX);
	}
	msd_err err = msd_address_check_dir(&a, d);
	if (err != MSD_OK)
		return err;
	*ret = for_client && !exists(a.path) && exists(system.path) ? system : a;
	return MSD_OK;
}

const char *msd_address_format(const struct msd_address *a,
			       char buf[static MSD_ADDRESS_TEXT_MAX])
{
	const char *scheme = a->kind == MSD_ADDRESS_TLS ? "tls" : "tcp";

	if (a->kind == MSD_ADDRESS_UNIX) {
		(void)snprintf(buf, MSD_ADDRESS_TEXT_MAX, "unix:%s", a->path);
	} else if (strchr(a->host, ':') != NULL) {
		(void)snprintf(buf, MSD_ADDRESS_TEXT_MAX, "%s://[%s]:%u", scheme,
			       a->host, a->port);
	} else {
		(void)snprintf(buf, MSD_ADDRESS_TEXT_MAX, "%s://%s:%u", scheme, a->host,
			       a->port);
	}
	return buf;
}
