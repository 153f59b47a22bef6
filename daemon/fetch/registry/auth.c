#include "daemon/fetch/registry/auth.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/errno_text.h"
#include "proto/base/fd_read.h"

#define MAX_FILE_BYTES (1 << 20)
#define HTTPS_PORT ":443"

bool msd_auth_is_of(const char *key, const char *host)
{
	const char *name = strstr(key, "://");
	const size_t n_host = strlen(host), n_port = sizeof(HTTPS_PORT) - 1;

	name = name != NULL ? name + 3 : key;
	const size_t n = strcspn(name, "/");
	if (n == n_host && strncasecmp(name, host, n) == 0)
		return true;
	return n + n_port == n_host && strncasecmp(name, host, n) == 0 &&
	       strcmp(host + n, HTTPS_PORT) == 0;
}

/* The text goes into a header, so allow only base64 characters. */
static bool is_base64(const char *text)
{
	const size_t n = strlen(text);

	return n > 0 &&
	       strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
			    "0123456789+/=") == n;
}

static msd_err read_entry(const json_t *entry, char **ret, struct msd_diag *d)
{
	const char *text = json_string_value(json_object_get(entry, "auth"));

	if (text == NULL || !is_base64(text)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "its entry of this host has no \"auth\" of base64");
	}
	if (asprintf(ret, "Authorization: Basic %s", text) < 0) {
		*ret = NULL;
		return msd_diag_no_memory(d);
	}
	return MSD_OK;
}

static msd_err find(json_t *root, const char *host, char **ret, struct msd_diag *d)
{
	json_t *all = json_object_get(root, "auths"), *entry;
	const char *key;

	if (!json_is_object(all)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "expected JSON with \"auths\", as docker login and "
				    "skopeo login write it");
	}
	json_object_foreach(all, key, entry)
	{
		if (msd_auth_is_of(key, host))
			return read_entry(entry, ret, d);
	}
	return MSD_OK;
}

/* Accept regular files only: reading a pipe would block. */
static msd_err read_file(const char *path, struct msd_buf *ret, struct msd_diag *d)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char text[MSD_ERRNO_TEXT_BYTES];
	struct stat st;
	msd_err err = MSD_TOO_LARGE;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		err = msd_fd_read(fd, MAX_FILE_BYTES, ret);
	if (fd < 0 || err == MSD_IO)
		err = msd_diag_set(d, MSD_IO, "%s", msd_errno_text(errno, text));
	if (fd >= 0)
		(void)close(fd);
	if (err == MSD_NOMEM)
		return msd_diag_no_memory(d);
	return err != MSD_TOO_LARGE ? err
				    : msd_diag_set(d, MSD_BAD_REQUEST,
						   "expected a file of 1 MiB at most");
}

msd_err msd_auth_find(const char *path, const char *host, char **ret,
		      struct msd_diag *d)
{
	struct msd_buf text = {0};
	msd_err err = read_file(path, &text, d);

	*ret = NULL;
	if (err == MSD_OK) {
		json_t *root = json_loadb((const char *)text.p, text.n,
					  JSON_REJECT_DUPLICATES, NULL);

		err = find(root, host, ret, d);
		json_decref(root);
	}
	msd_buf_finish(&text);
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "auth: %s", path);
}
