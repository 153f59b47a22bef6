#include "client/cli/values/parameters.h"

#include <stdlib.h>
#include <string.h>

/* Find its map in the answer of function.list. */
static const modser_value *find(const modser_value *list, const char *name)
{
	for (size_t i = 0;
	     list != NULL && list->kind == MODSER_TUPLE && i < list->as.tuple.n; i++) {
		const modser_value *map = &list->as.tuple.item[i];
		const char *text = msd_parameters_text(map, "name");

		if (text != NULL && strcmp(text, name) == 0)
			return map;
	}
	return NULL;
}

modser_err msd_parameters_ask(modser_client *client, const char *target,
			      uint32_t deadline_ms, struct msd_parameters *ret)
{
	const modser_options options = {.deadline_ms = deadline_ms};
	const char *colon = strchr(target, ':');
	modser_value name = modser_str(target);

	*ret = (struct msd_parameters){0};
	if (colon == NULL)
		return MODSER_OK;
	name.as.str.n = (size_t)(colon - target);
	modser_err err =
		modser_request(client, "function.list", &name, 1, &options, &ret->list);
	if (err != MODSER_OK)
		return err;
	(void)msd_parameters_find(ret, colon + 1);
	return MODSER_OK;
}

bool msd_parameters_find(struct msd_parameters *s, const char *name)
{
	s->function = find(modser_result_value(s->list), name);
	s->params = modser_find(s->function, "params");
	if (s->params != NULL && s->params->kind != MODSER_TUPLE)
		s->params = NULL;
	return s->function != NULL;
}

size_t msd_parameters_needed(const struct msd_parameters *s)
{
	size_t n = s->params != NULL ? s->params->as.tuple.n : 0;

	while (n > 0 && msd_parameters_optional(&s->params->as.tuple.item[n - 1]))
		n--;
	return n;
}

bool msd_parameters_optional(const modser_value *param)
{
	const modser_value *v = modser_find(param, "optional");

	return v != NULL && v->kind == MODSER_BOOL && v->as.b;
}

const char *msd_parameters_text(const modser_value *param, const char *key)
{
	const modser_value *v = modser_find(param, key);

	return v != NULL && v->kind == MODSER_STR ? v->as.str.p : NULL;
}

const modser_value *msd_parameters_param(const struct msd_parameters *s,
					 const char *name, size_t i)
{
	if (s->params == NULL)
		return NULL;
	if (name == NULL)
		return i < s->params->as.tuple.n ? &s->params->as.tuple.item[i] : NULL;
	for (i = 0; i < s->params->as.tuple.n; i++) {
		const modser_value *param = &s->params->as.tuple.item[i];
		const char *text = msd_parameters_text(param, "name");

		if (text != NULL && strcmp(text, name) == 0)
			return param;
	}
	return NULL;
}

bool msd_parameters_is(const modser_value *param, const char *kind)
{
	const char *text = msd_parameters_text(param, "kind");

	return text != NULL && strcmp(text, kind) == 0;
}

bool msd_parameters_dtype(const modser_value *param, struct msd_dtype *ret)
{
	const char *dtype = msd_parameters_text(param, "dtype");

	return msd_parameters_is(param, "tensor") && dtype != NULL &&
	       msd_dtype_parse(dtype, strlen(dtype), ret);
}

void msd_parameters_finish(struct msd_parameters *s)
{
	modser_result_free(s->list);
	*s = (struct msd_parameters){0};
}
