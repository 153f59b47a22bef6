#include "daemon/fetch/transfer/answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/bytes.h"

static const char *header(CURL *easy, const char *name)
{
	struct curl_header *h;

	return curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &h) == CURLHE_OK
		       ? h->value
		       : NULL;
}

/* Parse the number at *@at, and move *@at past @mark. */
static bool read_number(const char **at, char mark, uint64_t *ret)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*ret = strtoull(*at, &end, 10);
	if (errno != 0 || *end != mark)
		return false;
	*at = end + 1;
	return true;
}

/* "bytes 100-199/200" */
bool msd_range_read(const char *text, struct msd_range *ret)
{
	static const char unit[] = "bytes ";
	uint64_t from, last, total;

	if (strncmp(text, unit, sizeof(unit) - 1) != 0)
		return false;
	text += sizeof(unit) - 1;
	if (!read_number(&text, '-', &from) || !read_number(&text, '/', &last) ||
	    !read_number(&text, '\0', &total) || from > last || last >= total)
		return false;
	*ret = (struct msd_range){from, last + 1, total};
	return true;
}

struct msd_answer msd_answer_of(CURL *easy)
{
	struct msd_answer a = {0};
	const char *range = header(easy, "Content-Range");
	curl_off_t bytes = -1, wait = 0;

	(void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &a.status);
	(void)curl_easy_getinfo(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &bytes);
	(void)curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &wait);
	a.bytes = bytes > 0 ? (uint64_t)bytes : 0;
	a.retry_after_s = wait > 0 ? (uint64_t)wait : 0;
	if (range != NULL)
		(void)!msd_range_read(range, &a.range);
	a.etag = header(easy, "ETag");
	return a;
}

char *msd_answer_challenges(CURL *easy)
{
	struct msd_buf text = {0};
	struct curl_header *h;

	for (size_t i = 0; curl_easy_header(easy, "WWW-Authenticate", i, CURLH_HEADER,
					    -1, &h) == CURLHE_OK;
	     i++)
		msd_buf_printf(&text, "%s%s", i > 0 ? ", " : "", h->value);
	if (text.n > 0)
		msd_buf_put_u8(&text, 0);
	if (text.bad)
		msd_buf_finish(&text);
	return (char *)text.p;
}

bool msd_answer_may_be_better(CURLcode rc)
{
	static const CURLcode passing[] = {
		CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_PARTIAL_FILE,
		CURLE_RECV_ERROR,           CURLE_SEND_ERROR,      CURLE_GOT_NOTHING,
		CURLE_OPERATION_TIMEDOUT,   CURLE_HTTP2,           CURLE_HTTP2_STREAM,
		CURLE_SSL_CONNECT_ERROR};

	for (unsigned i = 0; i < sizeof(passing) / sizeof(passing[0]); i++) {
		if (rc == passing[i])
			return true;
	}
	return false;
}
