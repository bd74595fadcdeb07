"""OpenCV's DNN module gives our answers for what it supports (docs/models.md has the table)."""

from zoo import models, report, skip, worst

try:
    import cv2
    import numpy
except ImportError:
    skip("python3-opencv")

SUPPORTED = ("mlp", "mlp_softmax", "activations", "multi_label", "regression", "image_mlp", "cnn",
             "cnn_same", "cnn_flat_last")

results = {}
for name, stem, facts in models():
    if name.removesuffix("_channels").removesuffix("_features") not in SUPPORTED:
        continue
    net = cv2.dnn.readNetFromONNX(stem + ".onnx")
    outputs = facts["outputs"]
    got = []
    samples = numpy.array(facts["input"], numpy.float32).reshape(facts["shape"])
    # One sample at a time: OpenCV 4.6 fixes the batch of reshaping layers when it reads the file.
    for sample in samples:
        net.setInput(sample[None], "input")
        got += list(net.forward("probabilities" if facts["classification"] else "output").flat)
    assert len(got) == len(samples) * outputs, name
    results[name] = worst(got, facts["answers"])
report(results, 2 * len(SUPPORTED))
