/*
 * Happy path: the address is read, then each word behind a comma, then the words are
 * checked together. The key of a file is read when the daemon starts. Failures: all are
 * errors of the operator, which name the word and what was expected.
 */
#include "daemon/supervisor/rpc/rpc_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORM                                                                           \
	"HOST:PORT[,key=WORD|,key=@FILE][,tracker=HOST:PORT[,as=ADDRESS]]"             \
	"[,sessions=N]"

#define WORD_BYTES 320u /* limit of a word between commas */

static msd_err expected_form(struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_REQUEST, "expected " FORM);
}

/* A client's key ends at the first space. */
static bool is_key(const char *key)
{
	for (const char *c = key; *c != '\0'; c++) {
		if (*c <= ' ' || *c > '~')
			return false;
	}
	return *key != '\0';
}

static msd_err read_address(const char *text, size_t n, struct msd_address *ret,
			    struct msd_diag *d)
{
	char url[MSD_ADDRESS_TEXT_MAX];
	const int size = snprintf(url, sizeof(url), "tcp://%.*s", (int)n, text);

	if (n == 0 || size < 0 || (size_t)size >= sizeof(url) ||
	    memchr(text, '/', n) != NULL || msd_address_parse(url, ret, d) != MSD_OK) {
		return expected_form(d);
	}
	return MSD_OK;
}

static msd_err read_sessions(const char *value, uint32_t *ret, struct msd_diag *d)
{
	char *end;
	const unsigned long n = strtoul(value, &end, 10);

	if (value[0] < '0' || value[0] > '9' || *end != '\0' || n == 0 ||
	    n > MSD_RPC_MOST_SESSIONS) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "sessions=: expected a number from 1 to %u",
				    MSD_RPC_MOST_SESSIONS);
	}
	*ret = (uint32_t)n;
	return MSD_OK;
}

static msd_err read_key(const char *value, struct msd_rpc_settings *ret,
			struct msd_diag *d)
{
	if (strlen(value) > MSD_RPC_KEY_BYTES) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "key=: at most %u bytes",
				    MSD_RPC_KEY_BYTES);
	}
	if (value[0] != '@' && !is_key(value)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "key=: expected a word without spaces, or @FILE");
	}
	(void)snprintf(ret->key, sizeof(ret->key), "%s", value);
	return MSD_OK;
}

static msd_err read_tracker(const char *value, struct msd_rpc_settings *ret,
			    struct msd_diag *d)
{
	if (read_address(value, strlen(value), &ret->tracker, NULL) == MSD_OK &&
	    ret->tracker.port != 0)
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST, "tracker=: expected HOST:PORT");
}

static msd_err read_as(const char *value, struct msd_rpc_settings *ret,
		       struct msd_diag *d)
{
	if (!is_key(value) || strlen(value) >= sizeof(ret->as)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "as=: expected the name or address at which "
				    "clients reach this machine");
	}
	(void)snprintf(ret->as, sizeof(ret->as), "%s", value);
	return MSD_OK;
}

static msd_err read_word(const char *word, struct msd_rpc_settings *ret,
			 struct msd_diag *d)
{
	if (strncmp(word, "sessions=", 9) == 0)
		return read_sessions(word + 9, &ret->sessions, d);
	if (strncmp(word, "key=", 4) == 0)
		return read_key(word + 4, ret, d);
	if (strncmp(word, "tracker=", 8) == 0)
		return read_tracker(word + 8, ret, d);
	if (strncmp(word, "as=", 3) == 0)
		return read_as(word + 3, ret, d);
	return expected_form(d);
}

/* Check words that depend on each other. */
static msd_err check_all(struct msd_rpc_settings *s, struct msd_diag *d)
{
	const bool has_tracker = s->tracker.port != 0;

	if (has_tracker && s->key[0] == '\0') {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "tracker=: it needs key=WORD, by which clients ask "
				    "the tracker");
	}
	if (!has_tracker && s->as[0] != '\0')
		return msd_diag_set(d, MSD_BAD_REQUEST, "as=: it needs tracker=");
	if (s->sessions == 0) {
		s->sessions = has_tracker ? MSD_RPC_TRACKER_SESSIONS : MSD_RPC_SESSIONS;
	}
	return MSD_OK;
}

msd_err msd_rpc_settings_read(const char *text, struct msd_rpc_settings *ret,
			      struct msd_diag *d)
{
	const char *at = strchrnul(text, ',');
	char word[WORD_BYTES + 1];

	*ret = (struct msd_rpc_settings){0};
	msd_err err = read_address(text, (size_t)(at - text), &ret->address, d);
	while (err == MSD_OK && *at == ',') {
		const char *begin = at + 1;
		at = strchrnul(begin, ',');
		const size_t n = (size_t)(at - begin);
		if (n >= sizeof(word)) {
			return msd_diag_set(d, MSD_BAD_REQUEST,
					    "a word of %zu bytes; at most %u are "
					    "possible",
					    n, WORD_BYTES);
		}
		memcpy(word, begin, n);
		word[n] = '\0';
		err = read_word(word, ret, d);
	}
	if (err == MSD_OK)
		err = check_all(ret, d);
	if (err == MSD_OK)
		ret->text = text;
	return err;
}

msd_err msd_rpc_settings_read_key(struct msd_rpc_settings *s, struct msd_diag *d)
{
	char line[MSD_RPC_KEY_BYTES + 2];

	if (s->key[0] != '@')
		return MSD_OK;
	FILE *f = fopen(s->key + 1, "re");
	if (f == NULL) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "--tvm-rpc: key=%s: %s", s->key,
				    strerror(errno));
	}
	const bool is_read = fgets(line, sizeof(line), f) != NULL;
	(void)fclose(f);
	if (is_read)
		line[strcspn(line, "\r\n")] = '\0';
	if (!is_read || strlen(line) > MSD_RPC_KEY_BYTES || !is_key(line)) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"--tvm-rpc: key=%s: expected a line with a key of at "
			"most %u bytes, without spaces",
			s->key, MSD_RPC_KEY_BYTES);
	}
	(void)snprintf(s->key, sizeof(s->key), "%s", line);
	return MSD_OK;
}

bool msd_rpc_key_is(const char *key, struct msd_span given)
{
	const size_t n = strlen(key);
	unsigned differs = n != given.n;

	for (size_t i = 0; i < given.n; i++)
		differs |= (unsigned)given.p[i] ^ (uint8_t)key[n > 0 ? i % n : 0];
	return differs == 0;
}
