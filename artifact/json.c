#include "artifact/json.h"

#include <string.h>

#include "proto/base/json.h"
#include "proto/base/utf8.h"

json_t *msd_json_text(struct msd_span s)
{
	static const char replacement[] = "\xef\xbf\xbd";
	struct msd_buf text = {0};

	while (s.n > 0) {
		const size_t run = msd_utf8_prefix(s);

		msd_buf_put(&text, s.p, run);
		s.p += run;
		s.n -= run;
		if (s.n == 0)
			break;
		msd_buf_put(&text, replacement, sizeof(replacement) - 1);
		s.p++;
		s.n--;
	}
	json_t *json =
		text.bad ? NULL
			 : json_stringn_nocheck(text.n > 0 ? (const char *)text.p : "",
						text.n);
	msd_buf_finish(&text);
	return json;
}

json_t *msd_json_string(const char *text)
{
	if (text == NULL)
		return json_null();
	return msd_json_text(msd_span_of(text));
}

void msd_json_add(json_t **list, json_t *value)
{
	if (json_array_append_new(*list, value) == 0)
		return;
	json_decref(*list);
	*list = NULL;
}

void msd_json_set(json_t **map, const char *key, json_t *value)
{
	if (json_object_set_new(*map, key, value) == 0)
		return;
	json_decref(*map);
	*map = NULL;
}

json_t *msd_json_texts(char *const *texts, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		msd_json_add(&list, msd_json_string(texts[i]));
	return list;
}

static int put_chunk(const char *p, size_t n, void *ctx)
{
	struct msd_buf *text = ctx;

	msd_buf_put(text, p, n);
	return text->bad ? -1 : 0;
}

void msd_json_put(struct msd_buf *out, json_t *json, size_t flags)
{
	struct msd_buf text = {0};

	if (json == NULL || json_dump_callback(json, put_chunk, &text, flags) != 0)
		out->bad = true;
	json_decref(json);
	msd_json_put_shown(out, (struct msd_span){text.p, text.n});
	msd_buf_finish(&text);
}
