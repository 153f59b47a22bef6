#include "graph/serializer/onnx/row.h"

#include <stdlib.h>
#include <string.h>

const struct onnx_row *const onnx_rows[] = {
	onnx_rows_element,
	onnx_rows_move,
	onnx_rows_reduce,
	onnx_rows_window,
	onnx_rows_layer,
	onnx_rows_recurrent,
	NULL,
};

const struct onnx_row *onnx_row_find(const char *name, int64_t opset,
				     int64_t *ret_first)
{
	const struct onnx_row *found = NULL;

	*ret_first = 0;
	for (size_t i = 0; onnx_rows[i] != NULL; i++) {
		for (const struct onnx_row *r = onnx_rows[i]; r->name != NULL; r++) {
			if (strcmp(r->name, name) != 0)
				continue;
			if (r->since <= opset &&
			    (found == NULL || r->since > found->since))
				found = r;
			if (*ret_first == 0 || r->since < *ret_first)
				*ret_first = r->since;
		}
	}
	return found;
}

/* Up to the next of the characters that divide a word. */
static size_t part(const char *at, char *ret)
{
	size_t n = strcspn(at, " =:!");

	n = n < ONNX_WORD_BYTES ? n : ONNX_WORD_BYTES - 1;
	memcpy(ret, at, n);
	ret[n] = '\0';
	return n;
}

bool onnx_word_next(const char **at, struct onnx_word *ret)
{
	const char *p = *at;
	struct onnx_word w = {.attr = ""};

	p += strspn(p, " ");
	if (*p == '\0')
		return false;
	const bool says_nothing = *p == '-';
	p += says_nothing ? 1 : 0;
	p += part(p, w.attr);
	if (!says_nothing)
		memcpy(w.param, w.attr, sizeof(w.param));
	w.is_fixed = p[0] == ':' && p[1] == '=';
	if (w.is_fixed) {
		w.attr[0] = '\0';
		p++;
	} else if (*p == '=') {
		p += 1 + part(p + 1, w.param);
	}
	w.is_required = *p == '!';
	p += w.is_required ? 1 : 0;
	w.has_value = *p == ':' || w.is_fixed;
	if (w.has_value)
		w.value = strtod(p + 1, NULL);
	*at = p + strcspn(p, " ");
	*ret = w;
	return true;
}
