#include "tests/artifact/mlf_writer.h"

#include <stdio.h>
#include <string.h>

#include "tests/artifact/tar_writer.h"

const char mlf_graph[] =
	"{\"nodes\":[{\"op\":\"null\",\"name\":\"x\",\"inputs\":[]},"
	"{\"op\":\"null\",\"name\":\"w\",\"inputs\":[]},"
	"{\"op\":\"tvm_op\",\"name\":\"f\",\"attrs\":{\"func_name\":\"f\","
	"\"num_inputs\":\"2\",\"num_outputs\":\"1\",\"flatten_data\":\"0\"},"
	"\"inputs\":[[0,0,0],[1,0,0]]}],\"arg_nodes\":[0,1],\"heads\":[[2,0,0]],"
	"\"attrs\":{\"dltype\":[\"list_str\",[\"float32\",\"float32\",\"float32\"]],"
	"\"storage_id\":[\"list_int\",[0,1,2]],"
	"\"shape\":[\"list_shape\",[[2],[2],[2]]]},\"node_row_ptr\":[0,1,2,3]}";

void mlf_put_params(struct bw *w)
{
	static const char *const names[] = {"w", NULL};
	static const float data[] = {2, 2};

	bw_u64(w, 0xF7E58D4F05049CB7ull);
	bw_u64(w, 0);
	bw_strs(w, names);
	bw_u64(w, 1);
	bw_tensor(w, 2, 32, (const uint64_t[]){2}, 1, data, sizeof(data));
}

/* The keys that all versions have, and those that changed. */
static void put_metadata(struct bw *w, unsigned version, const char *style,
			 const char *executors)
{
	char model[512];
	char text[1024];

	(void)snprintf(model, sizeof(model),
		       "\"model_name\":\"m\",\"export_datetime\":"
		       "\"2022-01-01 00:00:00Z\",\"memory\":%s,\"target\":%s%s%s%s,"
		       "\"%s\":[%s]",
		       version == 1 ? "[]" : "{}",
		       version < 6 ? "{\"1\":\"llvm\"}" : "[\"llvm\"]",
		       version < 4 ? "" : ",\"style\":\"", version < 4 ? "" : style,
		       version < 4 ? "" : "\"", version < 5 ? "runtimes" : "executors",
		       executors);
	(void)snprintf(text, sizeof(text),
		       version == 7 && strcmp(style, "operator") != 0
			       ? "{\"version\":%u,\"modules\":{\"m\":{%s}}}"
			       : "{\"version\":%u,%s}",
		       version, model);
	tar_put_text(w, "./metadata.json", text);
}

struct bw mlf_full_model(unsigned version)
{
	struct bw params = {0};
	struct bw w = {0};

	mlf_put_params(&params);
	tar_put(&w, "./", '5', "", 0);
	tar_put(&w, "./codegen/", '5', "", 0);
	tar_put_text(&w, "./codegen/host/lib/m_lib0.o", "object");
	put_metadata(&w, version, "full-model", "\"graph\"");
	tar_put(&w, "./parameters/m.params", '0', params.p, params.n);
	tar_put_text(&w,
		     version < 5   ? "./runtime-config/graph/graph.json"
		     : version < 7 ? "./executor-config/graph/graph.json"
				   : "./executor-config/graph/m.graph",
		     mlf_graph);
	tar_end(&w);
	bw_free(&params);
	return w;
}

struct bw mlf_operator(unsigned version)
{
	struct bw w = {0};

	tar_put_text(&w, "./codegen/host/src/lib0.c", "int f(void);");
	put_metadata(&w, version, "operator", "");
	tar_put_text(&w, "./src/tir-1.txt", "tir");
	tar_end(&w);
	return w;
}

struct bw mlf_of_metadata(const char *metadata)
{
	struct bw w = {0};

	tar_put_text(&w, "metadata.json", metadata);
	tar_end(&w);
	return w;
}
