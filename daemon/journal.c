/*
 * Happy path: the pairs of a line become the fields of one datagram to the journal.
 * Failures: the line has another form, the journal is not running, or its queue is
 * full. Then the caller writes the line unchanged.
 */
#include "daemon/journal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define ENTRY_BYTES 8192u
#define KEY_BYTES 40u
#define MOST_KEYS 24u

struct entry {
	char *p;
	size_t n, cap;
	struct {
		const char *p;
		size_t n;
	} keys[MOST_KEYS]; /* keys of this entry */
	unsigned n_keys;
	bool is_full;
};

bool msd_journal_is_there(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	struct stat is;
	char mine[64];

	if (stream == NULL || fstat(STDERR_FILENO, &is) != 0)
		return false;
	(void)snprintf(mine, sizeof(mine), "%llu:%llu", (unsigned long long)is.st_dev,
		       (unsigned long long)is.st_ino);
	return strcmp(stream, mine) == 0;
}

static void put(struct entry *e, const char *bytes, size_t n)
{
	if (n > e->cap - e->n) {
		e->is_full = true;
		return;
	}
	memcpy(e->p + e->n, bytes, n);
	e->n += n;
}

static void put_field(struct entry *e, const char *name, const char *value, size_t n)
{
	put(e, name, strlen(name));
	put(e, "=", 1);
	put(e, value, n);
	put(e, "\n", 1);
}

static bool is_new(struct entry *e, const char *key, size_t n)
{
	for (unsigned i = 0; i < e->n_keys; i++) {
		if (e->keys[i].n == n && memcmp(e->keys[i].p, key, n) == 0)
			return false;
	}
	if (e->n_keys == MOST_KEYS)
		return false;
	e->keys[e->n_keys].p = key;
	e->keys[e->n_keys++].n = n;
	return true;
}

static void put_key(struct entry *e, const char *key, size_t n, const char *value,
		    size_t n_value)
{
	char name[KEY_BYTES + 16] = "MODSERD_";
	size_t at = strlen(name);

	if (n > KEY_BYTES || !is_new(e, key, n))
		return;
	if (n == 4 && memcmp(key, "name", 4) == 0) {
		put_field(e, "MODSERD_MODULE", value, n_value);
		return;
	}
	for (size_t i = 0; i < n; i++)
		name[at++] = (char)toupper((unsigned char)key[i]);
	name[at] = '\0';
	put_field(e, name, value, n_value);
}

static bool is_of_key(char c)
{
	return islower((unsigned char)c) || isdigit((unsigned char)c) || c == '_';
}

/* End of the quoted value at @p: its closing quote, or @end. */
static const char *closing(const char *p, const char *end)
{
	while (p < end && *p != '"')
		p += *p == '\\' && end - p > 1 ? 2 : 1;
	return p;
}

/* End of the unquoted value at @p. */
static const char *space(const char *p, const char *end)
{
	const char *found = memchr(p, ' ', (size_t)(end - p));

	return found != NULL ? found : end;
}

/* Add the key and value at @p; returns the start of the next pair, or NULL. */
static const char *put_pair(struct entry *e, const char *p, const char *end)
{
	const char *key = p;

	while (p < end && is_of_key(*p))
		p++;
	const size_t n = (size_t)(p - key);
	if (n == 0 || p == end || *p++ != '=')
		return NULL;
	const bool is_last = n == 3 && memcmp(key, "why", 3) == 0;
	const bool is_quoted = p < end && *p == '"';
	const char *value = p + (is_quoted ? 1 : 0);
	if (is_last) { /* external text: quotes in it are not delimiters */
		p = is_quoted && end > value && end[-1] == '"' ? end - 1 : end;
	} else {
		p = is_quoted ? closing(value, end) : space(value, end);
	}
	put_key(e, key, n, value, (size_t)(p - value));
	if (is_last)
		return NULL;
	while (p < end && (*p == '"' || *p == ' '))
		p++;
	return p < end ? p : NULL;
}

size_t msd_journal_entry(const char *line, size_t n, char *ret, size_t cap)
{
	struct entry e = {.p = ret, .cap = cap};
	const char *end = line + n;

	if (n < 3 || line[0] != '<' || line[2] != '>')
		return 0;
	put_field(&e, "PRIORITY", line + 1, 1);
	put_field(&e, "SYSLOG_IDENTIFIER", "modserd", 7);
	put_field(&e, "MESSAGE", line + 3, n - 3);
	for (const char *p = line + 3; p != NULL && p < end;)
		p = put_pair(&e, p, end);
	return e.is_full ? 0 : e.n;
}

bool msd_journal_send(const char *line, size_t n)
{
	static const struct sockaddr_un journal = {
		.sun_family = AF_UNIX, .sun_path = "/run/systemd/journal/socket"};
	static int fd = -1;
	char entry[ENTRY_BYTES];
	const size_t bytes = msd_journal_entry(line, n, entry, sizeof(entry));

	if (bytes == 0)
		return false;
	if (fd < 0)
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return fd >= 0 &&
	       sendto(fd, entry, bytes, MSG_NOSIGNAL, (const struct sockaddr *)&journal,
		      sizeof(journal)) == (ssize_t)bytes;
}
