/*
 * unasked_client ADDRESS [TOKEN]: a program that calls by libmodser, one call after the
 * other, as its lines on standard input say: `N FUNCTION DEADLINE_MS [TEXT]`, up to N
 * calls with TEXT as argument, until one fails. To each it says how many were well, and
 * the code of the last: `1000 OK` (tests/e2e/test_unasked.py).
 */
#include <stdio.h>
#include <stdlib.h>

#include "client/modser.h"

#define WORD "%255s"
#define CODE_BYTES 64

/* False: it failed, and says as what. */
static bool call_once(modser_client *c, const char *function,
		      const modser_options *options, const modser_value *text,
		      char ret_code[CODE_BYTES])
{
	modser_result *r = NULL;
	const modser_err err =
		modser_call(c, function, text, text != NULL, options, &r);

	(void)snprintf(ret_code, CODE_BYTES, "%s", modser_result_error(r)->name);
	if (err != MODSER_OK)
		(void)fprintf(stderr, "%s\n", modser_result_error(r)->message);
	modser_result_free(r);
	return err == MODSER_OK;
}

static void call(modser_client *c, unsigned n, const char *function,
		 const modser_options *options, const modser_value *text)
{
	char code[CODE_BYTES];
	unsigned i = 0;

	while (i < n && call_once(c, function, options, text, code))
		i++;
	(void)printf("%u %s\n", i, i == n ? "OK" : code);
	(void)fflush(stdout);
}

static void show(modser_client *c, const char *token)
{
	const modser_value pair[] = {modser_str("token"), modser_str(token)};
	const modser_value map = {.kind = MODSER_MAP,
				  .as.tuple = {.item = pair, .n = 1}};
	modser_result *r = NULL;

	if (modser_request(c, "session.hello", &map, 1, NULL, &r) != MODSER_OK)
		exit(1);
	modser_result_free(r);
}

int main(int argc, char **argv)
{
	modser_client *c = NULL;
	char line[1024];

	if (argc < 2 || modser_open(argv[1], 0, &c, NULL) != MODSER_OK)
		return 1;
	if (argc > 2)
		show(c, argv[2]);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		char function[256], text[256];
		modser_options options = {0};
		unsigned n;
		const int words = sscanf(line, "%u " WORD " %u " WORD, &n, function,
					 &options.deadline_ms, text);
		const modser_value value = modser_str(text);

		if (words < 3)
			return 2;
		call(c, n, function, &options, words > 3 ? &value : NULL);
	}
	modser_close(c);
	return 0;
}
