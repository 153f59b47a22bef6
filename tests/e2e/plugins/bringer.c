/*
 * A plugin of functions, made from the installed headers alone: packed functions, a
 * module kind and a context symbol. BRINGER_<mistake> makes one mistake.
 */
#include <modserd_plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const modserd_host *host;

/* bringer.add(int or float...) */
static int add_all(void *self, const modserd_any *args, int32_t n, modserd_any *ret)
{
	double sum = 0;
	int all_ints = 1;

	(void)self;
	for (int32_t i = 0; i < n; i++) {
		if (args[i].type == MODSERD_FLOAT) {
			sum += args[i].as.f;
			all_ints = 0;
		} else if (args[i].type == MODSERD_INT) {
			sum += (double)args[i].as.i;
		} else {
			return host->raise("TypeError", "bringer.add takes numbers");
		}
	}
	if (all_ints) {
		ret->type = MODSERD_INT;
		ret->as.i = (int64_t)sum;
	} else {
		ret->type = MODSERD_FLOAT;
		ret->as.f = sum;
	}
	return 0;
}

/* bringer.twice(text) -> text */
static int twice(void *self, const modserd_any *args, int32_t n, modserd_any *ret)
{
	const char *p;
	size_t bytes;
	char *both;

	(void)self;
	if (n != 1)
		return host->raise("ValueError", "bringer.twice takes one text");
	p = host->text(&args[0], &bytes);
	both = p != NULL ? malloc(2 * bytes + 1) : NULL;
	if (both == NULL)
		return -1;
	memcpy(both, p, bytes);
	memcpy(both + bytes, p, bytes);
	const int rc = host->set_text(both, 2 * bytes, 0, ret);
	free(both);
	return rc;
}

/* bringer.double(float32 tensor) -> a new one */
static int double_tensor(void *self, const modserd_any *args, int32_t n,
			 modserd_any *ret)
{
	const modserd_tensor *x = n == 1 ? host->tensor(&args[0]) : NULL;
	modserd_tensor *y;
	int64_t count = 1;

	(void)self;
	if (n != 1)
		return host->raise("ValueError", "bringer.double takes one tensor");
	if (x == NULL)
		return -1;
	if (x->code != 2 || x->bits != 32 || x->lanes != 1)
		return host->raise("TypeError", "bringer.double takes float32");
	y = host->set_tensor(x, ret);
	if (y == NULL)
		return -1;
	for (int32_t i = 0; i < x->n_dims; i++)
		count *= x->shape[i];
	const float *from = (const float *)((const char *)x->data + x->byte_offset);
	for (int64_t i = 0; i < count; i++)
		((float *)y->data)[i] = 2 * from[i];
	return 0;
}

/* A counter that calls a kept function: bringer.counter(function) -> function */
struct counter {
	modserd_any function;
	int64_t n;
};

static int count(void *self, const modserd_any *args, int32_t n, modserd_any *ret)
{
	struct counter *c = self;
	modserd_any number = {0};

	(void)args, (void)n;
	number.type = MODSERD_INT;
	number.as.i = ++c->n;
	return host->call(&c->function, &number, 1, ret);
}

static void drop_counter(void *self)
{
	struct counter *c = self;

	host->release(&c->function);
	free(c);
}

static int counter(void *self, const modserd_any *args, int32_t n, modserd_any *ret)
{
	struct counter *c = calloc(1, sizeof(*c));
	int rc;

	(void)self;
	if (c == NULL)
		return host->raise("MemoryError", "no memory");
	rc = n == 1 ? host->keep(&args[0], &c->function)
		    : host->find("bringer.add", &c->function);
	if (rc == 0)
		rc = host->set_function(count, c, drop_counter, ret);
	if (rc != 0)
		drop_counter(c);
	return rc;
}

static int hidden(void *self, const modserd_any *args, int32_t n, modserd_any *ret)
{
	(void)self, (void)args, (void)n;
	ret->type = MODSERD_INT;
	ret->as.i = 41;
	return 0;
}

static const modserd_function functions[] = {
	{.size = sizeof(modserd_function),
	 .name = "bringer.add",
	 .call = add_all,
	 .for_clients = 1},
	{.size = sizeof(modserd_function),
	 .name = "bringer.twice",
	 .call = twice,
	 .for_clients = 1},
	{.size = sizeof(modserd_function),
	 .name = "bringer.double",
	 .call = double_tensor,
	 .for_clients = 1},
	{.size = sizeof(modserd_function),
	 .name = "bringer.counter",
	 .call = counter,
	 .for_clients = 1},
	{.size = sizeof(modserd_function), .name = "bringer.hidden", .call = hidden},
};
#define N_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

/* A module "x3" has one function, scale, that multiplies by 3. */
struct scaler {
	int64_t factor;
	char name[32];
	modserd_function function;
};

static int scale(void *self, const modserd_any *args, int32_t n, modserd_any *ret)
{
	const struct scaler *s = self;

	if (n != 1 || args[0].type != MODSERD_INT)
		return host->raise("TypeError", "scale takes an int");
	ret->type = MODSERD_INT;
	ret->as.i = s->factor * args[0].as.i;
	return 0;
}

static int64_t measure_scaler(const void *bytes, size_t n)
{
	return n >= 2 && *(const char *)bytes == 'x' ? 2 : -1;
}

static int load_scaler(const void *bytes, size_t n, void **ret_state, char *ret_why,
		       size_t why_bytes)
{
	struct scaler *s;
	const char *p = bytes;

	if (n != 2 || p[0] != 'x' || p[1] < '0' || p[1] > '9') {
		(void)snprintf(ret_why, why_bytes, "expected x and a digit");
		return -1;
	}
	s = calloc(1, sizeof(*s));
	if (s == NULL)
		return -1;
	s->factor = p[1] - '0';
	(void)snprintf(s->name, sizeof(s->name), "scale");
	s->function = (modserd_function){.size = sizeof(s->function),
					 .name = s->name,
					 .call = scale,
					 .self = s,
					 .for_clients = 1};
	*ret_state = s;
	return 0;
}

static const modserd_function *function_of(void *state, size_t i)
{
	return i == 0 ? &((struct scaler *)state)->function : NULL;
}

static const modserd_module_kind scaler_kind = {
	.size = sizeof(scaler_kind),
	.kind = "bringer_scaler",
	.load = load_scaler,
	.function = function_of,
	.unload = free,
	.measure = measure_scaler,
};

static int offset(int x)
{
	return x + 1000;
}

static int add(const modserd_host *given, char *ret_why, size_t why_bytes)
{
	int (*symbol)(int) = offset;
	void *address;

	(void)ret_why, (void)why_bytes;
	host = given;
	if (!MODSERD_HOST_HAS(host, release))
		return -1;
	for (size_t i = 0; i < N_FUNCTIONS; i++) {
		if (host->add_function(&functions[i]) != 0)
			return -1;
	}
#ifdef BRINGER_UNLISTED
	static const modserd_function more = {
		.size = sizeof(more), .name = "bringer.more", .call = hidden};
	if (host->add_function(&more) != 0)
		return -1;
#endif
#ifdef BRINGER_TWICE
	if (host->add_function(&functions[0]) != 0)
		return -1;
#endif
#ifdef BRINGER_TAKEN
	static const modserd_function own = {
		.size = sizeof(own), .name = "ffi.Shape", .call = hidden};
	if (host->add_function(&own) != 0)
		return -1;
#endif
#ifdef BRINGER_RUNS
	static const modserd_module_kind lib = {.size = sizeof(lib),
						.kind = "_lib",
						.load = load_scaler,
						.function = function_of};
	if (host->add_module_kind(&lib) != 0)
		return -1;
#endif
#ifdef BRINGER_HOLLOW
	static const modserd_module_kind none = {
		.size = sizeof(none), .kind = "none", .function = function_of};
	if (host->add_module_kind(&none) != 0)
		return -1;
#endif
	memcpy(&address, &symbol, sizeof(address));
#ifndef BRINGER_LACKING
	if (host->add_symbol("__TVMBringerOffset", address) != 0)
		return -1;
#endif
	return host->add_module_kind(&scaler_kind);
}

#ifndef BRINGER_NO_LIST
MODSERD_PLUGIN_BRINGS("function bringer.add\n"
		      "function bringer.twice\n"
		      "function bringer.double\n"
		      "function bringer.counter\n"
		      "function bringer.hidden\n"
		      "kind bringer_scaler\n"
		      "symbol __TVMBringerOffset\n"
#ifdef BRINGER_TAKEN
		      "function ffi.Shape\n"
#endif
#ifdef BRINGER_RUNS
		      "kind _lib\n"
#endif
#ifdef BRINGER_HOLLOW
		      "kind none\n"
#endif
#ifdef BRINGER_BAD_LINE
		      "functions a b\n"
#endif
);
#endif
MODSERD_PLUGIN_EXPORT const modserd_plugin modserd_plugin_entry = {
	MODSERD_PLUGIN_ABI, sizeof(modserd_plugin), "bringer", "1.0", add};
