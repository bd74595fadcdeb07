"""The ONNX project's own checker accepts every model file, and infers the declared shapes."""

from zoo import models, skip

try:
    import onnx
    from onnx import checker, numpy_helper, shape_inference
except ImportError:
    skip("python3-onnx")

seen = 0
for name, stem, facts in models():
    model = onnx.load(stem + ".onnx")
    checker.check_model(model, full_check=True)
    assert model.ir_version == 7 and model.opset_import[0].version == 13, name
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch", name
    inferred = shape_inference.infer_shapes(model, strict_mode=True)
    for output in inferred.graph.output:
        dims = output.type.tensor_type.shape.dim
        assert dims[1].dim_value == facts["outputs"], (name, output.name)
    assert all(numpy_helper.to_array(t).size for t in model.graph.initializer), name
    seen += 1
print(f"{seen} models pass the checker")
assert seen >= 30, seen
