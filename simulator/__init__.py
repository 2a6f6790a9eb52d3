"""Generated traces with planted gaps: a small simulation of training on an Ascend NPU, and a writer."""
