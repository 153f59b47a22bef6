/*
 * An engine on top of oneDNN's graph interface, against the installed headers alone: it
 * takes Convolution, ReLu and Add of float32, and gives groups of them to oneDNN, which
 * compiles and fuses them in partitions of its own.
 *
 *	c++ -std=c++17 -O2 -shared -fPIC onednn.cc -o onednn.so -ldnnl
 */
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <modserd_plugin.h>
#include <oneapi/dnnl/dnnl_graph.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace dg = dnnl::graph;
using dims = std::vector<int64_t>;
using lt = dg::logical_tensor;
using layout = lt::layout_type;

namespace
{

const dnnl::engine &cpu()
{
	static const dnnl::engine e(dnnl::engine::kind::cpu, 0);
	return e;
}

std::string op_of(const modser_sg_node *n)
{
	return modser_sg_op_name(modser_sg_node_op(n));
}

int64_t param(const modser_sg_node *n, const char *name)
{
	return modser_sg_op_int(modser_sg_node_op(n), name);
}

dims dims_of(const modser_sg_tensor *t)
{
	const int64_t *d = modser_sg_tensor_dims(t);
	return dims(d, d + modser_sg_tensor_ndim(t));
}

bool is_constant(const modser_sg_tensor *t)
{
	return modser_sg_tensor_type_of(t) == MODSER_TENSOR_CONST;
}

bool is_float(const modser_sg_tensor *t)
{
	return t != nullptr && std::strcmp(modser_sg_tensor_dtype(t), "float32") == 0;
}

/* What no shape changes: a pass asks before shapes are known. */
bool is_supported(const modser_sg_node *n)
{
	const std::string op = op_of(n);

	for (size_t i = 0; i < modser_sg_node_input_count(n); i++) {
		if (!is_float(modser_sg_node_input(n, i)))
			return false;
	}
	if (op == "Convolution")
		return param(n, "activation") == -1 && param(n, "pad_h0") >= 0;
	if (op == "ReLu")
		return modser_sg_op_float(modser_sg_node_op(n), "negative_slope") == 0;
	return op == "Add";
}

int validate(void *, const modser_sg_node *n, char *, size_t)
{
	const std::string op = op_of(n);

	if (op == "Convolution")
		return modser_sg_tensor_ndim(modser_sg_node_output(n, 0)) == 4;
	return op != "Add" || dims_of(modser_sg_node_input(n, 0)) ==
				      dims_of(modser_sg_node_input(n, 1));
}

/* A partition that oneDNN has compiled. Tensors have their index in the model. */
struct part {
	dg::compiled_partition compiled;
	std::vector<lt> in, out;
};

struct group {
	std::vector<part> parts; /* in the order of a run */
	std::map<size_t, void *> constants;
	std::map<size_t, std::vector<char>> own; /* tensors between partitions */
	std::vector<size_t> in, out;
	dnnl::stream stream{cpu()};
};

lt tensor_of(const modser_sg_tensor *t)
{
	return lt(modser_sg_tensor_index(t), lt::data_type::f32, dims_of(t),
		  layout::strided,
		  is_constant(t) ? lt::property_type::constant
				 : lt::property_type::variable);
}

dg::op make_op(const modser_sg_node *n, size_t id)
{
	using a = dg::op::attr;
	const std::string op = op_of(n);
	const char *name = modser_sg_node_name(n);

	if (op == "ReLu")
		return dg::op(id, dg::op::kind::ReLU, name);
	if (op == "Add")
		return dg::op(id, dg::op::kind::Add, name);
	dg::op conv(id, dg::op::kind::Convolution, name);
	conv.set_attr<dims>(a::strides, {param(n, "stride_h"), param(n, "stride_w")});
	conv.set_attr<dims>(a::dilations,
			    {param(n, "dilation_h"), param(n, "dilation_w")});
	conv.set_attr<dims>(a::pads_begin, {param(n, "pad_h0"), param(n, "pad_w0")});
	conv.set_attr<dims>(a::pads_end, {param(n, "pad_h1"), param(n, "pad_w1")});
	conv.set_attr<int64_t>(a::groups, param(n, "group"));
	conv.set_attr<std::string>(a::data_format, "NCX");
	conv.set_attr<std::string>(a::weights_format, "OIX");
	return conv;
}

/* The group as a graph of oneDNN's. An End keeps a tensor that is read outside. */
dg::graph make_graph(group &g, const modserd_group *told)
{
	dg::graph made(dnnl::engine::kind::cpu);

	for (size_t i = 0; i < told->n_nodes; i++) {
		const modser_sg_node *n = told->nodes[i];
		dg::op op = make_op(n, i);

		for (size_t k = 0; k < modser_sg_node_input_count(n); k++) {
			const modser_sg_tensor *t = modser_sg_node_input(n, k);
			uint64_t bytes;

			op.add_input(tensor_of(t));
			if (is_constant(t)) {
				g.constants[modser_sg_tensor_index(t)] =
					const_cast<void *>(
						modser_sg_tensor_data(t, &bytes));
			}
		}
		op.add_output(tensor_of(modser_sg_node_output(n, 0)));
		made.add_op(op);
	}
	for (size_t i = 0; i < told->n_outputs; i++) {
		dg::op end(told->n_nodes + i, dg::op::kind::End, "end");

		end.add_input(tensor_of(told->outputs[i]));
		made.add_op(end);
	}
	made.finalize();
	return made;
}

/* Let oneDNN choose the layouts of tensors between its partitions. */
void compile(group &g, const modserd_group *told)
{
	std::map<size_t, lt> known; /* tensors that are not within the group */

	for (size_t i = 0; i < told->n_inputs; i++) {
		g.in.push_back(modser_sg_tensor_index(told->inputs[i]));
		known[g.in.back()] = tensor_of(told->inputs[i]);
	}
	for (size_t i = 0; i < told->n_outputs; i++) {
		g.out.push_back(modser_sg_tensor_index(told->outputs[i]));
		known[g.out.back()] = tensor_of(told->outputs[i]);
	}
	for (const dg::partition &p : make_graph(g, told).get_partitions()) {
		std::vector<lt> in = p.get_input_ports(), out = p.get_output_ports();

		if (!p.is_supported() && out.empty()) /* an End */
			continue;
		if (!p.is_supported())
			throw std::runtime_error("oneDNN does not support a node");
		for (lt &t : in) {
			if (known.count(t.get_id()) != 0)
				t = known.at(t.get_id());
		}
		for (lt &t : out) {
			if (known.count(t.get_id()) == 0)
				t = lt(t.get_id(), t.get_data_type(), t.get_dims(),
				       layout::any);
		}
		g.parts.push_back({p.compile(in, out, cpu()), in, out});
		for (lt &t : g.parts.back().out) {
			const bool is_within = known.count(t.get_id()) == 0;

			t = g.parts.back().compiled.query_logical_tensor(t.get_id());
			known[t.get_id()] = t;
			if (is_within)
				g.own[t.get_id()].resize(t.get_mem_size());
		}
	}
}

int fail(const std::exception &e, char *ret_why, size_t why_bytes)
{
	(void)std::snprintf(ret_why, why_bytes, "%s", e.what());
	return -1;
}

int join(const modserd_group *told, void *const *, void **ret_state, char *ret_why,
	 size_t why_bytes)
{
	try {
		auto g = std::make_unique<group>();

		compile(*g, told);
		*ret_state = g.release();
		return 1;
	} catch (const std::exception &e) {
		return fail(e, ret_why, why_bytes);
	}
}

void execute(group &g, const void *const *in, void *const *out)
{
	std::map<size_t, void *> at = g.constants;

	for (auto &[id, bytes] : g.own)
		at[id] = bytes.data();
	for (size_t i = 0; i < g.in.size(); i++)
		at[g.in[i]] = const_cast<void *>(in[i]);
	for (size_t i = 0; i < g.out.size(); i++)
		at[g.out[i]] = out[i];
	for (part &p : g.parts) {
		std::vector<dg::tensor> from, to;

		for (const lt &t : p.in)
			from.emplace_back(t, cpu(), at.at(t.get_id()));
		for (const lt &t : p.out)
			to.emplace_back(t, cpu(), at.at(t.get_id()));
		p.compiled.execute(g.stream, from, to);
	}
	g.stream.wait();
}

int run_group(void *state, const void *const *in, void *const *out, char *ret_why,
	      size_t why_bytes)
{
	try {
		execute(*static_cast<group *>(state), in, out);
		return 0;
	} catch (const std::exception &e) {
		return fail(e, ret_why, why_bytes);
	}
}

/* A node that runs alone: a group of one, for the shapes of its last run. */
struct alone {
	std::unique_ptr<group> made;
	std::vector<dims> shapes;
};

int take(const modser_sg_node *n, void **ret_state, char *, size_t)
{
	if (!is_supported(n))
		return 0;
	*ret_state = new alone;
	return 1;
}

void leave(void *state)
{
	delete static_cast<alone *>(state);
}

int run(void *state, const modserd_kernel_call *call, char *ret_why, size_t why_bytes)
{
	alone *a = static_cast<alone *>(state);
	const modser_sg_tensor *y = modser_sg_node_output(call->node, 0);
	std::vector<const modser_sg_tensor *> in;
	std::vector<const void *> from;
	std::vector<dims> shapes;

	for (size_t i = 0; i < modser_sg_node_input_count(call->node); i++) {
		const modser_sg_tensor *t = modser_sg_node_input(call->node, i);

		shapes.push_back(dims_of(t));
		if (is_constant(t))
			continue;
		in.push_back(t);
		from.push_back(call->in[i]);
	}
	const modserd_group one = {sizeof(one), 1, &call->node, in.size(),
				   in.data(),   1, &y};
	try {
		if (a->made == nullptr || a->shapes != shapes) {
			a->made = std::make_unique<group>();
			a->shapes = shapes;
			compile(*a->made, &one);
		}
		execute(*a->made, from.data(), call->out);
		return 0;
	} catch (const std::exception &e) {
		a->made = nullptr;
		return fail(e, ret_why, why_bytes);
	}
}

void leave_group(void *state)
{
	delete static_cast<group *>(state);
}

modserd_engine engine;

int add(const modserd_host *host, char *, size_t)
{
	dg::set_constant_tensor_cache(1);
	engine.size = sizeof(engine);
	engine.name = "onednn";
	engine.take = take;
	engine.validate = validate;
	engine.run = run;
	engine.leave = leave;
	engine.join = join;
	engine.run_group = run_group;
	engine.leave_group = leave_group;
	return host->add_engine(&engine);
}

} // namespace

MODSERD_PLUGIN_BRINGS("engine onednn\n");
extern "C" MODSERD_PLUGIN_EXPORT const modserd_plugin modserd_plugin_entry = {
	MODSERD_PLUGIN_ABI, sizeof(modserd_plugin), "onednn", "1.0", add};
