"""A network of PyTorch as net.onnx, which is kept beside this file."""

import onnx
import torch


class Net(torch.nn.Module):
    """A classifier of small images: a separable convolution around which a sum goes, and a mean."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(3, 16, 3, stride=2, padding=1)
        self.norm = torch.nn.BatchNorm2d(16)
        self.depthwise = torch.nn.Conv2d(16, 16, 3, padding=1, groups=16)
        self.pointwise = torch.nn.Conv2d(16, 16, 1)
        self.last = torch.nn.Linear(16, 10)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.norm(self.first(image)))
        y = self.pointwise(torch.relu(self.depthwise(x)))
        return self.last(torch.relu(x + y).mean((2, 3)))


torch.manual_seed(0)
net = Net().eval()  # here a network of yours would be trained
image = torch.zeros(1, 3, 32, 32)
torch.onnx.export(net, (image,), "net.onnx", dynamo=True, external_data=False)

model = onnx.load("net.onnx")  # without the exporter's notes on each node, of where the code lay
graph = model.graph
for noted in (model, graph, *graph.node, *graph.input, *graph.output, *graph.value_info):
    del noted.metadata_props[:]
onnx.save(model, "net.onnx")
